"""The real front."""

from __future__ import annotations

import runpy
from pathlib import Path

_shared = runpy.run_path(str(Path(__file__).with_name("sidecar.py")))
make_sidecar, sidecar = _shared["make_sidecar"], _shared["sidecar"]
