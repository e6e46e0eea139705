"""Walking JSON part by part gives what building it whole would."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import MalformedInput
from monitor.ingest import json_parts

_LEAVES = st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\[]{},:é\n', max_size=8)
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)


@pytest.fixture(autouse=True)
def _walk_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_parts, "SMALL", 0)


def _rebuilt(part: Any) -> Any:
    """The value, taken apart as far as objects and arrays go."""
    assert isinstance(part, json_parts.Part)
    opening = part.source[part.start : part.start + 1]
    if opening == b"{":
        return {name: _rebuilt(inner) for name, inner in json_parts.fields(part).items()}
    if opening == b"[":
        return [_rebuilt(inner) for inner in json_parts.elements(part)]
    return json_parts.value(part)


@given(_TREES, st.sampled_from([None, 1]), st.booleans())
def test_parts_add_up_to_the_whole(tree: Any, indent: int | None, ascii_only: bool) -> None:
    """Quotes, escapes and brackets inside of strings do not confuse the walk."""
    source = json.dumps(tree, indent=indent, ensure_ascii=ascii_only).encode()

    assert _rebuilt(json_parts.whole(source)) == tree
    assert json_parts.value(json_parts.whole(source)) == tree


@given(_TREES, st.data())
def test_a_cut_text_is_malformed(tree: Any, data: st.DataObject) -> None:
    """Never a crash, whatever is left; a number may end early and still be one."""
    source = json.dumps([tree]).encode()
    cut = source[: data.draw(st.integers(0, len(source) - 1))]

    with pytest.raises(MalformedInput):
        _rebuilt(json_parts.whole(cut))


@pytest.mark.parametrize(
    "source",
    [
        b"[1,]",
        b'{"a":1,}',
        b"{1:2}",
        b'{"a" 1}',
        b"[1 2]",
        b"[1}",
        b"1 2",
        b"[,]",
        b"nul",
        b"[nul]",
    ],
)
def test_broken_grammar_is_malformed(source: bytes) -> None:
    """The walk is as strict as a parser."""
    with pytest.raises(MalformedInput, match="body: no valid JSON"):
        _rebuilt(json_parts.whole(source))


def test_depth_and_number_of_values_are_limited() -> None:
    """Both would cost memory far beyond the size of the text."""
    with pytest.raises(MalformedInput, match="nested deeper"):
        json_parts.whole(b"[" * 300 + b"]" * 300)
    with pytest.raises(MalformedInput, match="holds more than"):
        json_parts.value(json_parts.whole(b"[" + b"0," * 500_000 + b"0]"))
