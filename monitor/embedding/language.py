"""Loading the spaCy pipeline that splits, tags and names entities."""

from __future__ import annotations

from pathlib import Path

import spacy
from spacy.language import Language

from monitor.embedding.embedded import EMBEDDED, LANGUAGE
from monitor.errors import ModelUnavailable

KEY = "perturbation.language_model"
_NEEDED = ("tagger", "attribute_ruler", "lemmatizer", "ner")


def load_language(model: str = EMBEDDED) -> Language:
    """A spaCy pipeline from the embedded package, an installed package or a folder.

    Raises `ModelUnavailable` where it is missing, or lacks a component that perturbation
    and fact checks need. Never downloads.
    """
    name: str | Path = LANGUAGE.package if model == EMBEDDED else model
    if model == EMBEDDED:
        LANGUAGE.folder(KEY)
    try:
        language = spacy.load(name)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"{KEY}: {model!r} is neither an installed spaCy package nor a model folder; "
            f"install it, or set {KEY} to {EMBEDDED!r}"
        ) from error
    missing = [pipe for pipe in _NEEDED if not language.has_pipe(pipe)]
    if missing:
        raise ModelUnavailable(
            f"{KEY}: {model!r} has no {', '.join(missing)}; "
            f"choose a full pipeline such as 'en_core_web_sm'"
        )
    return language
