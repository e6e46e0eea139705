"""Which summarizer the configuration asks for; part of the scorer's composition root.

Those that call a service load nothing, so that a configuration can be checked without torch.
"""

from __future__ import annotations

import ssl
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from monitor.access.policy import secret_of
from monitor.errors import ConfigurationError
from monitor.ports import Summarizer
from monitor.settings import Endpoint, Settings
from monitor.summarization.calls import TransportFactory
from monitor.summarization.chat import ChatSummarizer
from monitor.summarization.http import HttpSummarizer
from monitor.summarization.limits import CallLimits
from monitor.summarization.prompts import checked_template
from monitor.summarization.replay import ReplaySummarizer

if TYPE_CHECKING:
    from spacy.language import Language


NEEDS_OWN_MODEL = (
    "attribution.value: 'likelihood' needs a model that runs here; set summarizer.kind to seq2seq "
    "or causal, or attribution.value to similarity"
)


def check_summarizer(settings: Settings) -> None:
    """Raises `ConfigurationError` for what would stop a scorer before it has loaded a model."""
    remote_summarizer(settings)
    wanted = settings.summarizer
    if wanted.kind == "causal":
        checked_template(wanted.causal.prompt, field="summarizer.causal.prompt")
    if settings.attribution.value == "likelihood" and wanted.kind not in {"seq2seq", "causal"}:
        raise ConfigurationError(NEEDS_OWN_MODEL)


def summarizer_of(settings: Settings, language: Language) -> Summarizer:
    """The configured summarizer; `language` serves the kinds that parse.

    Raises `ConfigurationError` or `ModelUnavailable` naming the key, the value, the remedy.
    """
    return remote_summarizer(settings) or _local(settings, language)


def _local(settings: Settings, language: Language) -> Summarizer:
    """Each kind imports spaCy or torch, for which no check of a configuration should wait."""
    wanted = settings.summarizer
    if wanted.kind == "textrank":
        from monitor.summarization.textrank import TextRankSummarizer

        return TextRankSummarizer(
            nlp=language,
            sentences=wanted.textrank.sentences,
            time_limit=wanted.timeout_seconds,
        )
    if wanted.kind == "seq2seq":
        from monitor.summarization.seq2seq import Seq2SeqSummarizer

        return Seq2SeqSummarizer(
            model=wanted.seq2seq.model,
            num_beams=wanted.seq2seq.num_beams,
            max_new_tokens=wanted.seq2seq.max_new_tokens,
            batch_size=wanted.seq2seq.batch_size,
            too_long=wanted.seq2seq.too_long,
            time_limit=wanted.timeout_seconds,
            allow_download=settings.models.allow_download,
            device=settings.models.device,
        )
    from monitor.summarization.causal import CausalSummarizer

    return CausalSummarizer(
        model=wanted.causal.model,
        prompt=wanted.causal.prompt,
        num_beams=wanted.causal.num_beams,
        max_new_tokens=wanted.causal.max_new_tokens,
        batch_size=wanted.causal.batch_size,
        too_long=wanted.causal.too_long,
        time_limit=wanted.timeout_seconds,
        allow_download=settings.models.allow_download,
        device=settings.models.device,
    )


def remote_summarizer(settings: Settings) -> Summarizer | None:
    """The configured summarizer where it calls a service, `None` where it runs here.

    Calls nothing. Raises `ConfigurationError` naming the key, the value and the remedy.
    """
    wanted = settings.summarizer
    if wanted.kind not in {"chat", "http", "replay"}:
        return None
    endpoint: Endpoint = getattr(wanted, wanted.kind)
    api_key = secret_of(
        f"summarizer.{wanted.kind}.api_key", endpoint.api_key, endpoint.api_key_file
    )
    try:
        return _remote(settings, api_key, _transport(endpoint.ca_file))
    except ConfigurationError as error:
        raise ConfigurationError(f"summarizer.{wanted.kind}.{error}") from error


def _transport(ca_file: Path | None) -> TransportFactory | None:
    """Connections that trust these authorities only; `None` for the usual ones."""
    if ca_file is None:
        return None
    try:
        trusted = ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # an SSLError is one
        raise ConfigurationError(
            f"ca_file: {str(ca_file)!r} cannot be used ({type(error).__name__}); name a readable "
            "PEM file of certificates"
        ) from error
    return partial(httpx.AsyncHTTPTransport, verify=trusted, trust_env=False)


def _remote(
    settings: Settings, api_key: str | None, transport: TransportFactory | None
) -> Summarizer:
    wanted = settings.summarizer
    limits = CallLimits(
        timeout=wanted.timeout_seconds,
        time_limit=wanted.timeout_seconds * wanted.attempts,
        attempts=wanted.attempts,
        concurrency=wanted.limits.concurrency,
        requests_per_second=wanted.limits.requests_per_second,
        tokens_per_day=wanted.limits.tokens_per_day,
    )
    match wanted.kind:
        case "chat":
            return ChatSummarizer(
                url=wanted.chat.url or "",
                model=wanted.chat.model or "",
                api_key=api_key,
                prompt=wanted.chat.prompt,
                parameters={
                    "max_tokens": wanted.chat.max_tokens,
                    "temperature": wanted.chat.temperature,
                },
                limits=limits,
                transport=transport,
            )
        case "http":
            return HttpSummarizer(
                url=wanted.http.url or "",
                body=wanted.http.body,
                answer=wanted.http.answer,
                prompt_tokens=wanted.http.prompt_tokens,
                completion_tokens=wanted.http.completion_tokens,
                api_key=api_key,
                limits=limits,
                transport=transport,
            )
        case _:
            return ReplaySummarizer(
                url=wanted.replay.url or "",
                api_key=api_key,
                sampled=wanted.replay.sampled,
                limits=limits,
                transport=transport,
            )
