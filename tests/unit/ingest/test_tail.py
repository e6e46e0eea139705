"""Each line once, whatever happens to the log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.ingest.log_file import Position
from monitor.ingest.position import PositionFile
from monitor.ingest.tail import Tail


class Log:
    """A log, its writer, and a reader whose time is told by the test."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "app.log"
        self.time = 0.0
        self._written = 0
        self.tail = self.opened(None)

    def opened(self, position: Position | None) -> Tail:
        if hasattr(self, "tail"):
            self.tail.close()
        self.tail = Tail(
            self.path, position, grace=5.0, most_bytes=1_000, monotonic=lambda: self.time
        )
        return self.tail

    def reopened(self) -> Tail:
        """As after a crash, with the position that was kept last."""
        return self.opened(self.tail.position)

    def write(self, text: str, name: str = "app.log") -> None:
        with (self.path.parent / name).open("ab") as file:
            file.write(text.encode())
        # Later writes get later times, however coarse the clock of the file system is.
        self._written += 1
        os.utime(self.path.parent / name, ns=(self._written * 10**9, self._written * 10**9))

    def rotate(self) -> None:
        """app.log.1 becomes app.log.2, app.log becomes app.log.1."""
        for number in range(8, 0, -1):
            old = self.path.with_name(f"app.log.{number}")
            if old.exists():
                old.rename(self.path.with_name(f"app.log.{number + 1}"))
        self.path.rename(self.path.with_name("app.log.1"))

    def read(self) -> list[str]:
        return [line.text.decode() for line in self.tail.read(100)]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    it = Log(tmp_path)
    yield it
    it.tail.close()


def test_lines_come_once_and_in_order(log: Log) -> None:
    """The plain case; blank lines are nothing."""
    assert log.read() == []
    log.write("one\n\ntwo\n")
    assert log.read() == ["one", "two"]
    log.write("three\n")
    assert log.read() == ["three"]
    assert log.read() == []


def test_no_more_are_read_than_asked_for(log: Log) -> None:
    """The position has to stand behind the last line that was handed out."""
    log.write("one\ntwo\nthree\n")
    assert [line.text for line in log.tail.read(2)] == [b"one", b"two"]
    assert log.tail.position is not None
    assert log.tail.position.offset == len("one\ntwo\n")
    assert log.read() == ["three"]


def test_a_partial_line_waits_for_its_end(log: Log) -> None:
    """Writers flush in the middle of lines."""
    log.write("one\ntw")
    assert log.read() == ["one"]
    log.write("o\n")
    assert log.read() == ["two"]


def test_a_partial_line_survives_a_restart(log: Log) -> None:
    """What was read of it is read again from its beginning."""
    log.write("one\ntw")
    log.read()
    log.reopened()
    log.write("o\n")
    assert log.read() == ["two"]


def test_the_rest_of_a_renamed_file_comes_before_the_new_one(log: Log) -> None:
    """The writer goes on into the old file until it opens the new one."""
    log.write("one\n")
    log.read()
    log.rotate()
    log.write("two\n", name="app.log.1")
    log.write("three\n")
    assert log.read() == ["two"]
    log.time = 4.9
    log.write("late\n", name="app.log.1")
    log.write("four\n")
    assert log.read() == ["late"]
    log.time = 9.8
    assert log.read() == []
    log.time = 10.0
    assert log.read() == ["three", "four"]


def test_a_last_line_without_an_end_is_handed_out_when_its_file_is_finished(log: Log) -> None:
    """A writer that died in the middle of it will not come back to it."""
    log.write("one\ntwo")
    log.read()
    log.rotate()
    log.write("three\n")
    assert log.read() == []
    log.time = 5.0
    assert log.read() == ["two", "three"]


def test_rotations_while_nobody_reads_are_caught_up_in_order(log: Log) -> None:
    """Files are found again by what they are, under whatever name they have now."""
    log.write("one\n")
    log.read()
    log.write("two\n")
    for number in ("three", "four", "five"):
        log.rotate()
        log.write(f"{number}\n")
    log.reopened()
    assert log.read() == ["two", "three", "four"]
    log.time = 5.0
    assert log.read() == ["five"]


def test_a_truncated_log_is_read_from_its_beginning(log: Log) -> None:
    """Copy-and-truncate; lines written in between are lost by its nature."""
    log.write("one\ntwo\n")
    log.read()
    log.path.write_bytes(b"")
    log.write("new\n")
    assert log.read() == ["new"]


def test_a_log_replaced_by_another_with_its_inode_is_read_from_its_beginning(log: Log) -> None:
    """Inodes are used again: the first line tells one file from the other."""
    log.write("one\ntwo\n")
    log.read()
    log.path.write_bytes(b"")
    log.write("another first line\nand more\n")
    log.reopened()
    assert log.read() == ["another first line", "and more"]


def test_a_file_that_was_deleted_does_not_stop_the_reading(log: Log) -> None:
    """What was in it is lost; all that comes after it is not."""
    log.write("one\n")
    log.read()
    log.path.unlink()
    log.reopened()
    assert log.read() == []
    log.write("two\n")
    assert log.read() == ["two"]


def test_compressed_and_foreign_files_are_no_part_of_the_log(log: Log) -> None:
    """`app.logger` is another program's, and lines of a gzip file are none."""
    for name in ("app.log.1.gz", "app.logger", "app.log2"):
        (log.path.parent / name).write_bytes(b"wrong\n")
    log.write("one\n")
    log.read()
    log.rotate()
    log.write("two\n")
    log.time = 5.0
    assert log.read() == ["two"]


def test_a_line_that_is_too_long_is_passed_over_whole(log: Log) -> None:
    """Half of it would be taken for a line of its own, also after a restart."""
    log.write("one\n" + "x" * 600_000)
    assert log.read() == ["one"]
    log.reopened()
    log.write("x" * 600_000 + "\ntwo\n")
    assert log.read() == ["two"]


def test_a_line_keeps_its_identity_when_it_is_read_again(log: Log) -> None:
    """Identical lines are told apart by their place; a line that is read twice is one."""
    log.write("same\nsame\n")
    position = log.tail.position
    first = [line.identity for line in log.tail.read(100)]
    log.rotate()
    log.opened(position)
    log.path = log.path.with_name("app.log.1")
    again = [line.identity for line in log.opened(None).read(100)]
    assert again == first
    assert len(set(first)) == 2


def test_the_position_is_kept_and_replaced_as_a_whole(tmp_path: Path) -> None:
    """A crash while it is written leaves the old one."""
    file = PositionFile(tmp_path / "position")
    assert file.load() is None
    position = Position(device=1, inode=2, start="a", offset=3)
    file.save(position)
    assert PositionFile(tmp_path / "position").load() == position
    assert [path.name for path in tmp_path.iterdir()] == ["position"]
