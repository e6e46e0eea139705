"""Real news articles: gensim's own test corpus, read without importing gensim."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from monitor.errors import DependencyUnavailable

_CORPUS = ("test", "test_data", "lee_background.cor")


def news_documents() -> tuple[str, ...]:
    """The 300 articles of the Lee background corpus (Lee, Pincombe & Welsh 2005), one a line.

    Raises `DependencyUnavailable` where gensim is not installed with its test data.
    """
    # Importing gensim loads scipy, which the demo's service has no use for.
    found = find_spec("gensim")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder, *_CORPUS)
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            return tuple(line.strip() for line in lines if line.strip())
    raise DependencyUnavailable(
        "news: gensim's test corpus lee_background.cor is not installed; "
        "install hss-monitor with the `embedded` extra"
    )
