"""The names of summarizers: what of a summarizer changes its output, in one line.

A name goes into the calibration fingerprint, so it must be equal wherever the output is:
it holds no endpoint, no key, no path and no limit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

_SAMPLES = 16
"""Blocks of a file of weights that are hashed."""
_SAMPLE_BYTES = 65_536
"""Of each block."""


def summarizer_name(kind: str, parts: Mapping[str, object]) -> str:
    """`kind(key=value, …)`: keys sorted, values as compact JSON.

    >>> summarizer_name("chat", {"model": "m", "temperature": 0.0})
    'chat(model="m", temperature=0.0)'
    """
    told = ", ".join(
        f"{key}={json.dumps(parts[key], sort_keys=True, default=str)}" for key in sorted(parts)
    )
    return f"{kind}({told})"


def text_hash(*texts: str) -> str:
    """12 hex digits of the SHA-256 over the texts and their borders.

    >>> text_hash("ab", "c") == text_hash("a", "bc")
    False
    """
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]


def folder_digest(folder: Path) -> str:
    """12 hex digits that tell two model folders apart, wherever they lie.

    Hashes `config.json` whole and, of each safetensors file, its size and 16 evenly spaced
    blocks of 64 KiB: a fine-tuned model differs from its parent nearly everywhere, and
    reading gigabytes at every start would be felt.
    """
    digest = hashlib.sha256()
    for block in _sampled(folder):
        digest.update(block)
    return digest.hexdigest()[:12]


def _sampled(folder: Path) -> Iterator[bytes]:
    config = folder / "config.json"
    if config.is_file():
        yield config.read_bytes()
    for path in sorted(folder.glob("*.safetensors")):
        size = path.stat().st_size
        yield f"{path.name}:{size}".encode()
        with path.open("rb") as file:
            for sample in range(_SAMPLES):
                file.seek(size * sample // _SAMPLES)
                yield file.read(_SAMPLE_BYTES)
