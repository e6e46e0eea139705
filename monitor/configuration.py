"""Reading the configuration: one YAML file, every key of which the environment can override.

Precedence, highest first: environment (`HSS_MONITOR__SAMPLING__RATE=0.05`), the file, the
defaults of `monitor.settings`. An unknown key, in the file or in the environment, is an error.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit, urlunsplit

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError

from monitor.errors import ConfigurationError, choices
from monitor.settings import PREFIX, Section, Settings


def load(path: Path | None = None) -> Settings:
    """Read and validate the configuration.

    Raises `ConfigurationError` that lists every wrong key with its value and what to do.
    """
    values = _read(path) if path is not None else {}
    _refuse_unknown_environment()
    try:
        return Settings(**values)
    except ValidationError as error:
        problems = "\n".join(_explain(item) for item in error.errors())
        source = f"{path} and environment" if path is not None else "environment"
        raise ConfigurationError(f"configuration ({source}) is not valid:\n{problems}") from None
    except SettingsError as error:
        raise ConfigurationError(_no_json(str(error))) from None


def _no_json(message: str) -> str:
    """What to do about a variable whose value is no JSON, without the value: it may be a secret."""
    field = re.search(r'field "(\w+)"', message)
    start = PREFIX + (field.group(1).upper() if field else "")
    names = [name for name in sorted(os.environ) if name.upper().startswith(start)]
    return (
        f"environment: {' or '.join(names) or start} cannot be read; lists and whole sections are "
        'written as JSON there, such as ["a", "b"]'
    )


class _StandsTwice(yaml.constructor.ConstructorError):
    """A key of a mapping stands in it twice."""


class _OnceLoader(yaml.SafeLoader):
    """Refuses a key that stands twice: the earlier one would be lost without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in seen and name != "<<":
                raise _StandsTwice(None, None, f"key {name!r} stands twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def _read(path: Path) -> dict[str, Any]:
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=_OnceLoader)  # noqa: S506 -- safe
    except RecursionError:
        raise ConfigurationError(
            f"--config: {str(path)!r} is nested too deeply; write sections with keys below them"
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"--config: {str(path)!r} cannot be read ({error.strerror}); name a readable file"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where is not None else ""
        if isinstance(error, _StandsTwice):
            line += f" ({error.problem})"
        raise ConfigurationError(
            f"--config: {str(path)!r} is not valid YAML{line}; correct it there"
        ) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigurationError(
            f"--config: {str(path)!r} holds a {type(values).__name__}; "
            "write sections such as `http:` with their keys below"
        )
    return {str(key): value for key, value in values.items()}


_SECRET = frozenset(
    {"api_key", "url", "secret", "headers"}
    | {f"{role}_token" for role in ("ingest", "viewer", "investigator", "metrics")}
)
"""Keys whose values are, or may hold, a secret: a message does not repeat them."""


_WANTED = {
    "tuple_type": "write a list, such as [a, b]",
    "dict_type": "write keys with their values below it",
    "list_type": "write a list, such as [a, b]",
    "missing": "is missing; it has no default",
}
"""What a YAML file has to hold, where pydantic speaks of Python's types."""


_HIDDEN = "**********"
_QUERY_PASSWORD = re.compile(r"([?&](?:ssl)?password=)[^&]*")


def _explain(item: Mapping[str, Any]) -> str:
    key = ".".join(str(part) for part in item["loc"]) or "(top level)"
    if item["type"] == "extra_forbidden":
        parent = _section(item["loc"][:-1])
        known = f"; known keys here are {choices(parent)}" if parent else ""
        return f"  {key}: unknown key{known}"
    message = _WANTED.get(item["type"], str(item["msg"]).removeprefix("Value error, "))
    belonging = _section(item["loc"]) if item["type"] == "model_type" else []
    if belonging:
        message = f"below it belong the keys {choices(belonging)}"
    if _SECRET.intersection(map(str, item["loc"])) or isinstance(item["input"], dict):
        return f"  {key}: {message}"
    return f"  {key}: {item['input']!r} cannot be used: {message}"


def _section(location: tuple[Any, ...]) -> list[str]:
    """Keys of the section at a place."""
    model: Any = Settings
    for part in location:
        if isinstance(part, int):
            continue  # a place in a list; its sections are known from the list
        info = model.model_fields.get(part) if _is_section(model) else None
        model = info.annotation if info is not None else None
        # A list of sections, or one that may be null.
        model = next(filter(_is_section, get_args(model)), model)
    return sorted(model.model_fields) if _is_section(model) else []


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _refuse_unknown_environment() -> None:
    defaults = {name: default for name, default, _ in keys(Settings)}
    mappings = tuple(f"{name}." for name, default in defaults.items() if isinstance(default, dict))
    known = set(defaults) | {
        ".".join(name.split(".")[:n]) for name in defaults for n in range(1, name.count(".") + 1)
    }
    for variable in os.environ:
        if variable.upper().startswith(PREFIX):
            key = variable[len(PREFIX) :].lower().replace("__", ".")
            if key not in known and not key.startswith(mappings):
                raise ConfigurationError(
                    f"environment: {variable} sets no known key ({key!r}); "
                    "`hss-monitor config show` lists them all"
                )


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """(dotted name, default, description) of every leaf key, in order of declaration."""
    for name, info in model.model_fields.items():
        annotation = info.annotation
        if isinstance(annotation, type) and issubclass(annotation, Section):
            yield from keys(annotation, f"{prefix}{name}.")
        else:
            default = info.get_default(call_default_factory=True)
            yield f"{prefix}{name}", default, info.description or ""


def shown(settings: Settings) -> dict[str, Any]:
    """The effective configuration as plain values, with secrets hidden."""
    values = settings.model_dump(mode="json")
    url = values["database"]["url"]
    if "@" in url:
        scheme, _, rest = url.partition("://")
        user = rest.rsplit("@", 1)[0].split(":", 1)[0]
        url = f"{scheme}://{user}:**********@{rest.rsplit('@', 1)[1]}"
    values["database"]["url"] = _QUERY_PASSWORD.sub(r"\1**********", url)
    summarizer, outlets = values["summarizer"], values["outlets"]
    for kind in ("chat", "http", "replay"):
        summarizer[kind]["url"] = _without_secrets(summarizer[kind]["url"])
    outlets["events"]["url"] = _without_secrets(outlets["events"]["url"])
    # Chat services put the secret of a webhook into its path.
    outlets["webhook"]["url"] = _without_secrets(outlets["webhook"]["url"], path=True)
    return values


def _without_secrets(url: str | None, *, path: bool = False) -> str | None:
    """An address as far as it may be shown: its host and, unless that is secret, its path."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return _HIDDEN
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit(
        (
            parts.scheme,
            f"{_HIDDEN}@{host}" if user or at else host,
            f"/{_HIDDEN}" if path and parts.path.strip("/") else parts.path,
            re.sub(r"(?<==)[^&]*|(?:^|(?<=&))[^=&]+(?=&|$)", _HIDDEN, parts.query),
            "",
        )
    )


def sample() -> str:
    """A YAML file that sets every key to its default, each with its line of explanation."""
    lines = [
        "# Every key of hss-monitor with its default. Delete what you do not change.",
        "# The environment overrides a key: HSS_MONITOR__SAMPLING__RATE=0.05",
    ]
    _sample(Settings, 0, lines)
    return "\n".join(lines) + "\n"


def _sample(model: type[BaseModel], depth: int, lines: list[str]) -> None:
    indent = "  " * depth
    for name, info in model.model_fields.items():
        annotation = info.annotation
        if isinstance(annotation, type) and issubclass(annotation, Section):
            if depth == 0:
                lines.append("")
            lines.append(f"{indent}{name}:")
            _sample(annotation, depth + 1, lines)
        else:
            default = info.get_default(call_default_factory=True)
            lines += [f"{indent}# {line}" for line in textwrap.wrap(info.description or "", 88)]
            if depth == 0:
                lines.insert(len(lines) - 2, "")
            if isinstance(default, tuple) and default and isinstance(default[0], Section):
                lines.append(f"{indent}{name}:")
                for item in default:
                    _sample_item(item, indent, lines)
                continue
            default = list(default) if isinstance(default, tuple) else default
            default = str(default) if isinstance(default, Path) else default
            lines.append(f"{indent}{name}: {json.dumps(default, ensure_ascii=False)}")


def _sample_item(item: Section, indent: str, lines: list[str]) -> None:
    """One entry of a list, with the keys that differ from their own defaults."""
    values = item.model_dump(mode="json", exclude_defaults=True)
    bullets = ["-", *" " * (len(values) - 1)]
    for bullet, (key, value) in zip(bullets, values.items(), strict=True):
        lines.append(f"{indent}  {bullet} {key}: {json.dumps(value, ensure_ascii=False)}")
