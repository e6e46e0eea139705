"""On the path of a sidecar under test: its scorers load no models, all else is as it is.

Python imports this by its name when it starts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

_FAKE = Path(__file__).with_name("fake_scorer.py")


class _InPlaceOfTheScorer:
    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_file_location(name, _FAKE) if name == "monitor.scorer" else None


sys.meta_path.insert(0, _InPlaceOfTheScorer)
