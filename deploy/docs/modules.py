"""Draws the picture in architecture.md from the code's own modules.

    python deploy/docs/modules.py            # write it
    python deploy/docs/modules.py --check    # exit 1 where it is not what the code says

The layers are those of the import contract in pyproject.toml, which continuous integration holds
the imports to; the words beside each module are the first line of its docstring.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "deploy" / "docs" / "architecture.md"
BEGIN, END = "<!-- modules: begin -->", "<!-- modules: end -->"


def layers() -> list[list[str]]:
    """Modules of `monitor` by layer, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(
        each
        for each in contracts["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers" and each["containers"] == ["monitor"]
    )
    named = [[name.strip(" ()") for name in line.split("|")] for line in contract["layers"]]
    return [[name for name in line if _file(name).exists()] for line in named]


def picture(found: list[list[str]]) -> str:
    """A Mermaid flowchart: one box a layer, the modules in it, imports point down."""
    lines = ["```mermaid", "flowchart TB"]
    shown = [[name for name in names if not name.startswith("_")] for names in found]
    shown = [names for names in shown if names]
    for number, names in enumerate(shown):
        lines.append(f'  subgraph layer{number}[" "]')
        lines += [f'    {name}["{name}"]' for name in names]
        lines.append("  end")
    lines += [f"  layer{above} --> layer{below}" for above, below in pairwise(range(len(shown)))]
    return "\n".join([*lines, "```"])


def table(found: list[list[str]]) -> str:
    """Every module with what it says of itself."""
    rows = ["| module | what it is |", "|---|---|"]
    rows += [f"| `{name}` | {_says(name)} |" for names in found for name in names]
    return "\n".join(rows)


def drawn(page: str) -> str:
    """The page with its part between the marks drawn anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    found = layers()
    return f"{before}{BEGIN}\n{picture(found)}\n\n{table(found)}\n{END}{after}"


def _file(name: str) -> Path:
    package = ROOT / "monitor" / name / "__init__.py"
    return package if package.exists() else ROOT / "monitor" / f"{name}.py"


def _says(name: str) -> str:
    text = ast.get_docstring(ast.parse(_file(name).read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", r"\|")


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    fresh = drawn(page)
    if "--check" in sys.argv[1:]:
        return int(fresh != page)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
