"""Word by word differences: complete, minimal, bounded."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from monitor.investigate.diff import Piece, word_diff

texts = st.lists(st.sampled_from(["a", "b", "c", " ", "  ", "\n", "ab"]), max_size=14).map(" ".join)


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in word_diff(before, after)]


def test_a_changed_word_stands_between_what_stayed() -> None:
    """What is gone is read before what is new."""
    assert pieces("The council approved it.", "The board approved it.") == [
        ("same", "The"),
        ("gone", " council"),
        ("new", " board"),
        ("same", " approved it."),
    ]


def test_words_at_the_beginning_do_not_run_together() -> None:
    """The first word of a text has no white space of its own."""
    assert pieces("c a", "a b") == [("gone", "c "), ("same", "a"), ("new", " b")]


def test_equal_and_empty_texts() -> None:
    """Nothing in common with nothing."""
    assert pieces("a b", "a b") == [("same", "a b")]
    assert pieces("", "") == []
    assert pieces("", "a") == [("new", "a")]
    assert pieces("a", "") == [("gone", "a")]


@given(before=texts, after=texts)
def test_both_texts_can_be_read_out_of_the_pieces(before: str, after: str) -> None:
    """Nothing is lost or made up."""
    found = word_diff(before, after)
    assert "".join(piece.text for piece in found if piece.kind != "gone") == after
    old = " ".join(piece.text for piece in found if piece.kind != "new")
    assert old.split() == before.split()


@given(before=texts, after=texts)
def test_no_shorter_script_exists(before: str, after: str) -> None:
    """Against the longest common subsequence by dynamic programming."""
    old, new = before.split(), after.split()
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, a in enumerate(old):
        for j, b in enumerate(new):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    edits = sum(
        len(piece.text.split()) for piece in word_diff(before, after) if piece.kind != "same"
    )
    assert edits == len(old) + len(new) - 2 * table[-1][-1]


def test_texts_with_nothing_in_common_are_replaced_as_a_whole_and_quickly() -> None:
    """A summary may be 50,000 characters long."""
    before = " ".join(f"a{index}" for index in range(8_000))
    after = " ".join(f"b{index}" for index in range(8_000))
    start = time.process_time()
    assert word_diff(before, after) == (
        Piece(kind="gone", text=f"{before} "),
        Piece(kind="new", text=after),
    )
    assert time.process_time() - start < 1
