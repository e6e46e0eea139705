"""Every configuration key with its default, its bounds and one line of explanation.

`monitor.configuration` reads them from a file and the environment. Everything downstream
accepts only the validated, frozen `Settings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

PREFIX = "HSS_MONITOR__"
EMBEDDED = "embedded"
"""As a model's name: the one that `pip install 'hss-monitor[embedded]'` brings."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class Http(Section):
    host: str = Field("127.0.0.1", description="Address that the sidecar listens on.")
    port: int = Field(8318, ge=0, le=65535, description="Its one port; 0 takes a free one.")
    max_body: int = Field(
        16 * 2**20, ge=1024, description="Greatest body in bytes, counted after decompression."
    )
    backlog_limit: Count = Field(
        100_000, description="Queued records above which ingest answers 503 with Retry-After."
    )


class Database(Section):
    url: str = Field(
        "sqlite:///hss-monitor.db",
        description="SQLAlchemy URL: SQLite, or postgresql+psycopg://user:password@host/name.",
    )


class Logging(Section):
    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least level that is written to standard error."
    )
    format: Literal["console", "json"] = Field(
        "json", description="One JSON object a line, or text."
    )


class Labels(Section):
    services: tuple[str, ...] = Field(
        (), description="Service names that may become metric labels; others become `other`."
    )
    models: tuple[str, ...] = Field(
        (), description="Model names that may become metric labels; others become `other`."
    )


class Extraction(Section):
    rule: Literal["last_user_message", "regex", "delimiters"] = Field(
        "last_user_message",
        description="Where the document stands in a prompt: the last user message without its "
        "instruction paragraph, the group `document` of a pattern, or between two delimiters.",
    )
    pattern: str | None = Field(
        None, description="For `regex`: a pattern with a group named `document`."
    )
    begin: str | None = Field(None, description="For `delimiters`: text before the document.")
    end: str | None = Field(None, description="For `delimiters`: text after the document.")

    @model_validator(mode="after")
    def _complete(self) -> Extraction:
        if self.rule == "regex" and "(?P<document>" not in (self.pattern or ""):
            raise ValueError("rule 'regex' needs a `pattern` with a group (?P<document>...)")
        if self.rule == "delimiters" and not (self.begin and self.end):
            raise ValueError("rule 'delimiters' needs both `begin` and `end`")
        return self


class Ingest(Section):
    extraction: Extraction = Extraction()
    join_seconds: Positive = Field(
        30.0, description="How long a span waits for content that comes in /v1/logs, and back."
    )
    join_records: Count = Field(2_000, description="Most spans and events waiting at a time.")
    join_bytes: Count = Field(16 * 2**20, description="Most bytes of content waiting at a time.")


class Redaction(Section):
    patterns: tuple[str, ...] = Field(
        (), description="More regular expressions whose matches are redacted."
    )


class Storage(Section):
    mode: Literal["full", "redacted", "hash_only"] = Field(
        "full", description="What is kept of texts: all, redacted, or keyed hashes only."
    )
    hash_key_file: Path = Field(
        Path("hss-monitor.key"),
        description="Key of the text hashes; made on the first start. Share it in a fleet.",
    )
    keep_texts_days: Positive = Field(14, description="Days after which texts are erased.")
    keep_records_days: Positive = Field(90, description="Days after which records are deleted.")
    max_database_bytes: int | None = Field(
        None, ge=2**20, description="Oldest texts are erased above this size; null: no limit."
    )


class Budget(Section):
    records_per_hour: Positive | None = Field(
        None, description="Records to score in an hour over all replicas; null: no budget."
    )
    epoch_seconds: Positive = Field(300, description="How long sampling rates stay the same.")


class Sampling(Section):
    rate: Share = Field(1.0, description="Greatest share of the traffic that is scored.")
    salt: str = Field(
        "hss-monitor", description="Makes our choice independent of other samplers' choices."
    )
    budget: Budget = Budget()


class CategoryRule(Section):
    category: str = Field(description="Category of the records that match all that follows.")
    service: str | None = Field(None, description="Shell pattern of the service name.")
    model: str | None = Field(None, description="Shell pattern of the model name.")
    pattern: str | None = Field(
        None, description="Regular expression searched in the document's first 2,000 characters."
    )


class Categories(Section):
    default: str = Field("general", description="Category where nothing else decides.")
    rules: tuple[CategoryRule, ...] = Field(
        (), description="The first rule that matches decides; see CategoryRule."
    )
    descriptions: dict[str, str] = Field(
        default_factory=dict,
        description="Category: a sentence that describes it; the nearest one decides last.",
    )


class Strengths(Section):
    low: int = Field(3, ge=0, description="Versions with [2, 10) % of the words replaced.")
    moderate: int = Field(3, ge=0, description="Versions with [10, 20) % replaced.")
    high: int = Field(2, ge=0, description="Versions with [20, 30] % replaced.")

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


class Scoring(Section):
    null_runs: int = Field(
        2, ge=0, description="Runs on the unchanged document; local deterministic models make 1."
    )
    max_words: Count = Field(20_000, description="Longer documents are skipped as `too_long`.")


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


class Execution(Section):
    backend: Literal["local", "none"] = Field(
        "local", description="Scorers as processes of this sidecar, or none (they run elsewhere)."
    )
    scorers: Count = Field(1, description="Scorer processes.")
    lease_seconds: Positive = Field(120, description="A lease not renewed for so long is lost.")
    max_attempts: Count = Field(3, description="Leases after which a record fails.")
    poll_seconds: Positive = Field(0.5, description="Pause of a scorer that found no work.")


class Scheduler(Section):
    supervise_seconds: Positive = Field(2, description="How often scorers are checked.")
    gauges_seconds: Positive = Field(10, description="How often gauges are refreshed.")
    retention_seconds: Positive = Field(3600, description="How often old rows are erased.")


class Windows(Section):
    seconds: Positive = Field(3600, description="Window of hss_window_mean and its companions.")


class Settings(BaseSettings):
    """Every key with its default; see `deploy/hss-monitor.yaml`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    http: Http = Http()
    database: Database = Database()
    logging: Logging = Logging()
    labels: Labels = Labels()
    ingest: Ingest = Ingest()
    redaction: Redaction = Redaction()
    storage: Storage = Storage()
    sampling: Sampling = Sampling()
    categories: Categories = Categories()
    perturbation: Perturbation = Perturbation()
    embedding: Embedding = Embedding()
    summarizer: Summarizer = Summarizer()
    models: Models = Models()
    scoring: Scoring = Scoring()
    attribution: Attribution = Attribution()
    factuality: Factuality = Factuality()
    calibration: Calibration = Calibration()
    execution: Execution = Execution()
    scheduler: Scheduler = Scheduler()
    windows: Windows = Windows()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # The file arrives as init arguments; the environment has to win over it.
        return env_settings, init_settings
