"""Sections about scoring one record: rewording, summarizing, distances, attributions, checks."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, model_validator

from monitor.settings.section import EMBEDDED, Count, Positive, Section, Share


class Strengths(Section):
    low: int = Field(3, ge=0, le=1000, description="Versions with [2, 10) % of the words replaced.")
    moderate: int = Field(3, ge=0, le=1000, description="Versions with [10, 20) % replaced.")
    high: int = Field(2, ge=0, le=1000, description="Versions with [20, 30] % replaced.")

    @property
    def count(self) -> int:
        """K."""
        return self.low + self.moderate + self.high


class Perturbation(Section):
    strengths: Strengths = Strengths()
    k: Count = Field(10, description="Nearest neighbours that are considered for a word.")
    tau: Share = Field(0.6, description="Least cosine of a word and its replacement.")
    gamma: Share = Field(0.85, description="Least SBERT cosine of a sentence and its rewording.")
    seed: int = Field(0, ge=0, description="Changes which perturbations are made.")
    language_model: str = Field(
        EMBEDDED, description="spaCy pipeline: `embedded`, a folder or an installed package."
    )
    vectors: str = Field(EMBEDDED, description="Word vectors: `embedded` or a KeyedVectors file.")

    @model_validator(mode="after")
    def _some(self) -> Perturbation:
        if self.strengths.count == 0:
            raise ValueError("strengths: at least one of low, moderate, high must be above 0")
        return self


class Embedding(Section):
    model: str = Field(EMBEDDED, description="Encoder: `embedded`, a folder or a hub id.")
    batch_size: Count = Field(32, description="Sentences in one forward pass.")
    cache_size: Count = Field(50_000, description="Sentence vectors kept in memory.")


class Limits(Section):
    concurrency: Count = Field(4, description="Calls under way at a time, of one scorer.")
    requests_per_second: Positive | None = Field(
        5.0, description="Calls started in a second, of one scorer; null: no limit."
    )
    tokens_per_day: Count | None = Field(
        2_000_000,
        description="Prompt and completion tokens in a UTC day, of one scorer; null: no limit.",
    )


class Generation(Section):
    model: str = Field(description="Folder or hub id.")
    num_beams: Count = Field(4, description="1 is greedy search.")
    max_new_tokens: Count = Field(142, description="Longest summary in tokens.")
    batch_size: Count = Field(16, description="Documents in one generate call.")
    too_long: Literal["truncate", "skip"] = Field(
        "truncate", description="What to do with a document longer than the model takes."
    )


class Seq2Seq(Generation):
    model: str = Field("facebook/bart-large-cnn", description="Folder or hub id.")


class Causal(Generation):
    model: str = Field("HuggingFaceTB/SmolLM2-360M-Instruct", description="Folder or hub id.")
    num_beams: Count = Field(1, description="1 is greedy search.")
    prompt: str = Field(
        "Summarize the following text in three sentences.\n\n{document}\n\nSummary:",
        description="The prompt; {document} stands for the text.",
    )


class Endpoint(Section):
    url: str | None = Field(None, description="Full URL that summaries are requested from.")
    api_key: SecretStr | None = Field(None, description="Sent as a bearer token.")
    api_key_file: Path | None = Field(None, description="File that holds the key instead.")
    ca_file: Path | None = Field(
        None,
        description="PEM file of the authorities that may sign the service's certificate, in "
        "place of the public ones; the environment is not asked.",
    )


class Chat(Endpoint):
    model: str | None = Field(None, description="Model name in the request.")
    prompt: str = Field(
        "Summarize the following text in three sentences.\n\n{document}",
        description="The user message; {document} stands for the text.",
    )
    max_tokens: Count = Field(300, description="Longest answer in tokens.")
    temperature: float = Field(0.0, ge=0, description="Sampling temperature.")


class HttpSummarizer(Endpoint):
    body: str = Field('{"text": {document}}', description="JSON body; {document} is a JSON string.")
    answer: str = Field("summary", description="JMESPath of the summary in the answer.")
    prompt_tokens: str | None = Field(
        None, description="JMESPath of the number of tokens read, where the answer tells it."
    )
    completion_tokens: str | None = Field(
        None, description="JMESPath of the number of tokens written, where the answer tells it."
    )


class Replay(Endpoint):
    sampled: bool = Field(
        False,
        description="Whether the service is to trace replays too (sampled flag of traceparent).",
    )


class TextRank(Section):
    sentences: Count = Field(3, description="Sentences in a summary.")


class Summarizer(Section):
    kind: Literal["textrank", "seq2seq", "causal", "chat", "http", "replay"] = Field(
        "textrank",
        description="textrank and seq2seq or causal models run here; chat, http and replay call "
        "a service, replay with the captured request itself.",
    )
    timeout_seconds: Positive = Field(60, description="Time limit of one call.")
    attempts: Count = Field(3, description="Tries of one call, with growing pauses.")
    limits: Limits = Limits()
    textrank: TextRank = TextRank()
    seq2seq: Seq2Seq = Seq2Seq()
    causal: Causal = Causal()
    chat: Chat = Chat()
    http: HttpSummarizer = HttpSummarizer()
    replay: Replay = Replay()

    @model_validator(mode="after")
    def _endpoint(self) -> Summarizer:
        if self.kind in {"chat", "http", "replay"}:
            endpoint: Endpoint = getattr(self, self.kind)
            if not endpoint.url:
                raise ValueError(f"kind {self.kind!r} needs `{self.kind}.url`")
        if self.kind == "chat" and not self.chat.model:
            raise ValueError("kind 'chat' needs `chat.model`")
        return self


class Models(Section):
    allow_download: bool = Field(
        False, description="Whether a hub id that is not on this machine may be downloaded."
    )
    threads: Count = Field(
        1,
        description="CPU threads of one scorer. Threads wait for each other by spinning, so more "
        "scorers use cores better than more threads; raise it for one large model.",
    )
    device: Literal["cpu", "cuda"] = Field(
        "cpu", description="Where seq2seq and causal models run; all else runs on the CPU."
    )


class Scoring(Section):
    null_runs: int = Field(
        2,
        ge=0,
        le=1000,
        description="Runs on the unchanged document; local deterministic models make 1.",
    )
    max_words: Count = Field(20_000, description="Longer documents are skipped as `too_long`.")


TEXTRANK_SHARE = 0.1
"""`attribution.share` where it is not set and an evaluation costs milliseconds."""


class Attribution(Section):
    methods: tuple[Literal["shap", "lime", "smile", "attention"], ...] = Field(
        ("shap",), description="Which attributions are computed; attention needs seq2seq."
    )
    value: Literal["auto", "likelihood", "similarity"] = Field(
        "auto",
        description="Value function: likelihood of the summary (seq2seq and causal models), or "
        "similarity of the masked document's summary (every kind; each evaluation is a summary, "
        "so with chat, http and replay a call). auto: likelihood where there is one.",
    )
    share: Share | None = Field(
        None,
        description="Share of the scored records that get attributions, chosen by a hash of "
        "their id. null: 0.1 with textrank (2 CPU seconds for an explained record of 300 words), 0 "
        "with all other kinds, where an evaluation costs a call or a model's forward pass.",
    )
    above_hss: Share | None = Field(
        None, description="Every record with at least this HSS gets attributions, too."
    )
    in_breach: bool | None = Field(
        None,
        description="Every record of a service, model and category with an open breach gets "
        "attributions, too. null: yes where share or above_hss explains any record at all, so that "
        "a remote model is not asked hundreds of times just when it is in trouble.",
    )
    perturbations: Count = Field(
        2, description="Reworded versions that are explained beside the document itself (K')."
    )
    max_evaluations: Count = Field(
        200, description="Masked documents that one explanation may take."
    )
    max_evaluations_per_record: Count = Field(
        1000,
        description="For all of a record: K' + 2 explanations by each method; where it is short, "
        "each gets the same smaller share.",
    )

    def share_where(self, *, extracts: bool) -> float:
        """`share`, or its default: `extracts` says that the summarizer is TextRank."""
        if self.share is not None:
            return self.share
        return TEXTRANK_SHARE if extracts else 0.0

    def in_breach_where(self, *, extracts: bool) -> bool:
        """`in_breach`, or its default: where share or above_hss explains any record at all."""
        if self.in_breach is not None:
            return self.in_breach
        return self.share_where(extracts=extracts) > 0 or self.above_hss is not None

    @model_validator(mode="after")
    def _enough(self) -> Attribution:
        if len(set(self.methods)) < len(self.methods):
            raise ValueError("methods: name each method once")
        return self


class Factuality(Section):
    summac_model: str | None = Field(
        None,
        description="Natural-language-inference model of SummaC, a folder or a hub id; null: "
        "`unavailable`.",
    )
    factcc_model: str | None = Field(
        None, description="Classifier of FactCC, a folder or a hub id; null: `unavailable`."
    )


class Calibration(Section):
    min_documents: Count = Field(
        20, description="Reference documents below which a category uses the pooled normalizer."
    )
