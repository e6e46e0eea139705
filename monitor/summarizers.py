"""Which summarizer the configuration asks for; part of the scorer's composition root."""

from __future__ import annotations

from spacy.language import Language

from monitor.errors import ConfigurationError
from monitor.ports import Summarizer
from monitor.settings import Endpoint, Settings
from monitor.summarization.causal import CausalSummarizer
from monitor.summarization.chat import ChatSummarizer
from monitor.summarization.http import HttpSummarizer
from monitor.summarization.limits import CallLimits
from monitor.summarization.replay import ReplaySummarizer
from monitor.summarization.seq2seq import Seq2SeqSummarizer
from monitor.summarization.textrank import TextRankSummarizer


def summarizer_of(settings: Settings, language: Language) -> Summarizer:
    """The configured summarizer; `language` serves the kinds that parse.

    Raises `ConfigurationError` or `ModelUnavailable` naming the key, the value, the remedy.
    """
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
        case "textrank":
            return TextRankSummarizer(
                nlp=language,
                sentences=wanted.textrank.sentences,
                time_limit=wanted.timeout_seconds,
            )
        case "seq2seq":
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
        case "causal":
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
        case "chat":
            return ChatSummarizer(
                url=wanted.chat.url or "",
                model=wanted.chat.model or "",
                api_key=_key(wanted.chat, "chat"),
                prompt=wanted.chat.prompt,
                parameters={
                    "max_tokens": wanted.chat.max_tokens,
                    "temperature": wanted.chat.temperature,
                },
                limits=limits,
            )
        case "http":
            return HttpSummarizer(
                url=wanted.http.url or "",
                body=wanted.http.body,
                answer=wanted.http.answer,
                api_key=_key(wanted.http, "http"),
                limits=limits,
            )
        case "replay":
            return ReplaySummarizer(
                url=wanted.replay.url or "",
                api_key=_key(wanted.replay, "replay"),
                sampled=wanted.replay.sampled,
                limits=limits,
            )


def _key(endpoint: Endpoint, kind: str) -> str | None:
    if endpoint.api_key is not None:
        return endpoint.api_key.get_secret_value()
    if endpoint.api_key_file is None:
        return None
    try:
        return endpoint.api_key_file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigurationError(
            f"summarizer.{kind}.api_key_file: {str(endpoint.api_key_file)!r} cannot be read "
            f"({error.strerror}); name a readable file that holds the key"
        ) from None
