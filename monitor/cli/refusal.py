"""What the parser of the command line refuses, in the form of all other refusals."""

from __future__ import annotations

from typing import Any


def refusal(error: Any) -> str:
    """`KEY: problem; remedy` of a usage error of Typer or, in older versions, of click."""
    problem, parameter = str(error.format_message()).rstrip("."), getattr(error, "param", None)
    if parameter is not None:
        missing = type(error).__name__ == "MissingParameter"
        problem = f"{_key(parameter)}: {'is missing' if missing else error.message.rstrip('.')}"
    context = getattr(error, "ctx", None)
    command = "hss-monitor" if context is None else _command(context)
    return f"{problem}; see `{command} --help`"


def _key(parameter: Any) -> str:
    """`--name` of an option, `RECORD` of an argument."""
    options = [option for option in parameter.opts if option.startswith("--")]
    return str(options[0] if options else parameter.name.upper())


def _command(context: Any) -> str:
    """The words of a command; the first is how it was started, which may be a path."""
    words = []
    while context.parent is not None:
        words.append(str(context.info_name))
        context = context.parent
    return " ".join(["hss-monitor", *reversed(words)])
