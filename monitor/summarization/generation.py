"""Models of the transformers library that run in this process: loading and generating.

Safetensors only, code from a model folder never runs, and nothing is downloaded unless
that was allowed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, StoppingCriteria, StoppingCriteriaList

from monitor.errors import ConfigurationError, ModelUnavailable
from monitor.summarization.length import input_limit
from monitor.summarization.naming import folder_digest

_DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedModel:
    """A model with its tokenizer, ready to generate."""

    model: Any
    """In evaluation mode, on its device."""
    tokenizer: Any
    input_limit: int | None
    """Longest input in tokens; `None` where neither model nor tokenizer tells."""
    identity: dict[str, object]
    """Name and revision, without the place it was loaded from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generated:
    """One row of a batch."""

    text: str
    tokens: int
    finished: bool
    """It ended before the time limit."""


def load(
    source: str,
    *,
    key: str,
    auto: Any,
    allow_download: bool = False,
    device: str = "cpu",
    dtype: str = "float32",
) -> LoadedModel:
    """Load a folder or hub id through an `AutoModelFor…` class; `key` names it in messages.

    Raises `ModelUnavailable` where it is not there or has no safetensors, and
    `ConfigurationError` for half precision on a CPU, which is hundreds of times slower.
    """
    if dtype not in _DTYPES or (device == "cpu" and dtype != "float32"):
        raise ConfigurationError(f"dtype: {dtype!r} on device {device!r}; use float32 there")
    if device == "cuda" and not torch.cuda.is_available():
        raise ModelUnavailable(
            "models.device: 'cuda' is not to be had here (no GPU is visible, or this torch was "
            "built without CUDA); set models.device to 'cpu', or give the scorer a GPU"
        )
    options: dict[str, Any] = {
        "local_files_only": not allow_download,
        "trust_remote_code": False,
    }
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        model = auto.from_pretrained(source, use_safetensors=True, dtype=_DTYPES[dtype], **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise ModelUnavailable(
            f"{key}: {source!r} cannot be loaded as {auto.__name__} with safetensors "
            f"({type(error).__name__}); name a folder that holds model.safetensors and its "
            "tokenizer, or allow the download of a hub id"
        ) from error
    if not tokenizer.is_fast:
        raise ModelUnavailable(
            f"{key}: {source!r} has no fast tokenizer; save one as tokenizer.json beside it"
        )
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.to(device).eval()
    folder = Path(source)
    identity: dict[str, object] = (
        {"model": folder.resolve().name, "revision": folder_digest(folder)}
        if folder.is_dir()
        else {"model": source, "revision": getattr(model.config, "_commit_hash", None)}
    )
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        input_limit=input_limit(model.config, tokenizer),
        identity={**identity, "dtype": dtype},
    )


class Deadline(StoppingCriteria):
    """Ends a generation at the first token after `seconds`, and remembers that it did."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self.passed = False

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        self.passed = self.passed or time.monotonic() > self._ends
        return torch.full(
            (input_ids.shape[0],), self.passed, dtype=torch.bool, device=input_ids.device
        )


def generation_parameters(given: Mapping[str, object]) -> dict[str, object]:
    """The parameters of `generate`: no sampling unless asked for, so no sampling knobs either.

    A model folder's own generation configuration may ask for sampling; a monitor that
    samples would measure its own dice.
    """
    parameters = {"do_sample": False, **given}
    if not parameters["do_sample"]:
        parameters = {"temperature": None, "top_p": None, "top_k": None, **parameters}
    return parameters


def generate(
    loaded: LoadedModel,
    prompts: Sequence[str],
    *,
    parameters: Mapping[str, object],
    deadline: Deadline,
    special_tokens: bool,
    skip: int | None,
) -> list[Generated]:
    """One batched `generate` over all prompts.

    `skip` is how many leading ids of a row are not generated (1 for the decoder's start;
    `None` where the row begins with the prompt). Rows without an end token when the
    deadline passed are not finished. The encoder's pass itself cannot be interrupted.
    """
    model, tokenizer = loaded.model, loaded.tokenizer
    batch = tokenizer(
        list(prompts), return_tensors="pt", padding=True, add_special_tokens=special_tokens
    ).to(model.device)
    with torch.inference_mode():
        rows = model.generate(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            stopping_criteria=StoppingCriteriaList([deadline]),
            **parameters,
        )
    start = batch["input_ids"].shape[1] if skip is None else skip
    ends = _end_tokens(model, tokenizer)
    made = []
    for row in rows[:, start:].tolist():
        end = next((place for place, token in enumerate(row) if token in ends), None)
        # A beam that broke off is padded; without an end, the padding is no part of it.
        kept = row[: end + 1] if end is not None else _unpadded(row, tokenizer.pad_token_id)
        made.append(
            Generated(
                text=tokenizer.decode(kept, skip_special_tokens=True).strip(),
                tokens=len(kept),
                finished=end is not None or not deadline.passed,
            )
        )
    return made


def token_offsets(tokenizer: Any, document: str) -> list[tuple[int, int]]:
    """(start, end) code points of each token of a bare document."""
    encoded = tokenizer(
        document, add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )
    return list(encoded["offset_mapping"])


def _end_tokens(model: Any, tokenizer: Any) -> set[int]:
    told = model.generation_config.eos_token_id
    ends = set(told) if isinstance(told, list) else {told}
    return {end for end in {*ends, tokenizer.eos_token_id} if end is not None}


def _unpadded(row: list[int], pad: int | None) -> list[int]:
    while row and row[-1] == pad:
        row = row[:-1]
    return row
