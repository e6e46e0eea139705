"""Files that options name, refused in the words of the option where they are of no use."""

from __future__ import annotations

from pathlib import Path

from monitor.errors import UsageError


def read_lines(option: str, file: Path) -> list[str]:
    """The lines of a file in UTF-8. Raises `UsageError` where it cannot be read.

    Not `splitlines`: it also ends a line at characters that stand inside JSON strings.
    """
    try:
        return file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{option}: {str(file)!r} cannot be read as UTF-8 ({error}); name a file of JSON lines"
        ) from None


def write_text(option: str, file: Path, text: str) -> None:
    """Write a whole file as UTF-8. Raises `UsageError` where that is not allowed."""
    try:
        # What a stored text holds that UTF-8 cannot encode was replaced when it was stored.
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(option, file, error) from None


def unwritable(option: str, file: Path, error: OSError) -> UsageError:
    """The refusal of a file."""
    return UsageError(
        f"{option}: {str(file)!r} cannot be written ({error.strerror}); name a file in a folder "
        "that this user may write"
    )
