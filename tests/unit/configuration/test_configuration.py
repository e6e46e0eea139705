"""The configuration: precedence, errors that help, and a sample file that cannot go stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor import configuration
from monitor.errors import ConfigurationError
from monitor.settings import Settings

ROOT = Path(__file__).parents[3]


def _load(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "hss.yaml"
    file.write_text(text, encoding="utf-8")
    return configuration.load(file)


def test_defaults_apply_without_a_file() -> None:
    """A newcomer needs no configuration at all."""
    settings = configuration.load()
    assert (settings.http.port, settings.database.url) == (8318, "sqlite:///hss-monitor.db")
    assert (settings.perturbation.k, settings.perturbation.strengths.count) == (10, 8)


def test_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container sets single keys without a file of its own."""
    monkeypatch.setenv("HSS_MONITOR__SAMPLING__RATE", "0.05")
    assert _load(tmp_path, "sampling: {rate: 0.5, salt: x}").sampling.rate == 0.05


@pytest.mark.parametrize(
    "threshold",
    [
        "signal: entity_support, comparison: below, limit: {value: 0.9}, margin: 0.1",
        "signal: summac, limit: {value: 0.1}, margin: 0.2",
        "signal: excess, limit: {value: 0.1}, margin: 0.2",
        "signal: document_words, comparison: below, limit: {value: 100}, margin: 50",
        "signal: raw_distance, comparison: below, limit: {value: 0.9}, margin: 0.2",
    ],
)
def test_a_margin_within_the_values_of_a_signal_is_taken(tmp_path: Path, threshold: str) -> None:
    """A breach can end there, if only at the best value of all."""
    (taken,) = _load(tmp_path, f"thresholds: [{{name: a, {threshold}}}]").thresholds
    assert taken.margin > 0


def test_a_section_may_be_merged_from_several(tmp_path: Path) -> None:
    """Of YAML's keys only `<<` may stand in a mapping twice: nothing is lost by it."""
    text = """thresholds:
- &hss {name: a, signal: hss, limit: {value: 0.5}}
- &page {name: b, signal: factcc, limit: {value: 0.1}, severity: page}
- {<<: *page, <<: *hss, name: c}
"""
    *_, merged = _load(tmp_path, text).thresholds
    assert (merged.name, merged.severity) == ("c", "page")


def test_every_mapping_takes_its_keys_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key is a variable there, which no list of known ones can hold."""
    paths = {"document": "text", "summary": "answer", "service": "'s'", "model": "model"}
    for name, path in paths.items():
        monkeypatch.setenv(f"HSS_MONITOR__INGEST__TAIL__FIELDS__{name.upper()}", path)
    monkeypatch.setenv("HSS_MONITOR__CATEGORIES__DESCRIPTIONS__LAW", "Courts and judges.")
    monkeypatch.setenv("HSS_MONITOR__OUTLETS__EVENTS__HEADERS__AUTHORIZATION", "Bearer x")
    settings = configuration.load()
    assert settings.ingest.tail.fields == paths
    assert settings.categories.descriptions == {"law": "Courts and judges."}
    assert settings.outlets.events.headers["authorization"].get_secret_value() == "Bearer x"


@pytest.mark.parametrize("value", ["sekret", '["sekret"', "{sekret: 1}"])
def test_a_list_in_the_environment_that_is_no_json_is_named(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """By its variable, and what to write; not by its value, which may be a secret."""
    monkeypatch.setenv("HSS_MONITOR__LABELS__SERVICES", value)
    with pytest.raises(ConfigurationError) as caught:
        configuration.load()
    assert "HSS_MONITOR__LABELS__SERVICES cannot be read" in str(caught.value)
    assert '["a", "b"]' in str(caught.value)
    assert "sekret" not in str(caught.value)


@pytest.mark.parametrize("text", ["a: " + "[" * 50_000, "{a: " * 3_000 + "1" + "}" * 3_000])
def test_a_file_without_a_bottom_is_refused(tmp_path: Path, text: str) -> None:
    """It is wrong, and no defect of ours."""
    with pytest.raises(ConfigurationError, match="nested too deeply"):
        _load(tmp_path, text)


def test_the_file_keeps_what_the_environment_does_not_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sections merge key by key, they do not replace each other."""
    monkeypatch.setenv("HSS_MONITOR__SAMPLING__RATE", "0.05")
    assert _load(tmp_path, "sampling: {rate: 0.5, salt: x}").sampling.salt == "x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("htp: {}", "htp: unknown key; known keys here are 'access'"),
        ("http: {prt: 1}", "http.prt: unknown key; known keys here are 'backlog_limit'"),
        ("http: {port: abc}", "http.port: 'abc' cannot be used"),
        ("sampling: {rate: 1.5}", "sampling.rate: 1.5 cannot be used"),
        ("sampling: {rate: 0}", "sampling.rate: 0 cannot be used"),
        ("sampling: {salt: ''}", "sampling.salt: '' cannot be used"),
        ("categories: {descriptions: {news: ' '}}", "news: describe such documents in a sentence"),
        ("summarizer: {kind: chat}", "summarizer: kind 'chat' needs `chat.url`"),
        ("summarizer: {kind: bert}", "summarizer.kind: 'bert' cannot be used"),
        (
            "ingest: {extraction: {rule: regex, pattern: 'x'}}",
            "ingest.extraction: rule 'regex' needs a `pattern` with a group",
        ),
        ("perturbation: {strengths: {low: 0, moderate: 0, high: 0}}", "at least one of low"),
        ("perturbation: {strengths: {low: 1000000000}}", "perturbation.strengths.low: 1000000000"),
        ("scoring: {null_runs: 1000000000}", "scoring.null_runs: 1000000000"),
        ("execution: {scorers: 100000}", "execution.scorers: 100000"),
        (
            "thresholds: [{name: a, signal: hss, statistic: share_above, limit: {value: 1}}]",
            "thresholds.0: statistic 'share_above' needs `level`",
        ),
        (
            "thresholds: [{name: a, signal: hss, quantile: 0.5, limit: {value: 1}}]",
            "thresholds.0: `quantile` goes with statistic 'quantile' only",
        ),
        (
            "thresholds: [{name: a, signal: minutes_unscored, limit: {reference_quantile: 0.5}}]",
            "thresholds.0: signal 'minutes_unscored' is one number a series",
        ),
        (
            "thresholds: [{name: a, signal: hss, limit: {value: 0.5}, margin: 0.6}]",
            "thresholds.0: margin 0.6 reaches from the limit 0.5 beyond 0, where no value of hss",
        ),
        (
            "thresholds: [{name: a, signal: factcc, comparison: below, limit: {value: 0.9}, "
            "margin: 0.2}]",
            "thresholds.0: margin 0.2 reaches from the limit 0.9 beyond 1, where no value of fact",
        ),
        ("windows: {seconds: 1.0e+300}", "windows.seconds: 1e+300 cannot be used"),
        (
            "storage: {keep_texts_days: 1000000.0}",
            "storage.keep_texts_days: 1000000.0 cannot be used",
        ),
        ("labels: {services: a}", "labels.services: 'a' cannot be used: write a list"),
        ("sampling: 0.1", "below it belong the keys 'budget', 'rate' or 'salt'"),
        ("thresholds: [{name: a}]", "thresholds.0.signal: is missing; it has no default"),
        (
            "thresholds: [{name: a, signal: hss, limit: 1}]",
            "thresholds.0.limit: 1 cannot be used: below it belong the keys 'at_least', "
            "'reference_quantile' or 'value'",
        ),
        ("- a\n- b", "holds a list; write sections"),
        ("http: {port: 1", "is not valid YAML"),
        ("http: {port: 1}\nhttp: {port: 2}", "at line 2 (key 'http' stands twice)"),
        ("redaction: {patterns: ['(']}", "redaction.patterns: ['('] cannot be used: '(': missing"),
        ("drift: {permutations: 10000000000}", "drift.permutations: 10000000000 cannot be used"),
        ("outlets: {public_url: 'javascript:x'}", "outlets.public_url: "),
    ],
)
def test_a_wrong_key_is_named_with_its_value_and_remedy(
    tmp_path: Path, text: str, expected: str
) -> None:
    """Whoever reads the message must know what to type next."""
    with pytest.raises(ConfigurationError) as caught:
        _load(tmp_path, text)
    assert expected in str(caught.value)


def test_all_wrong_keys_are_named_at_once(tmp_path: Path) -> None:
    """Correcting one key a run is a torture."""
    with pytest.raises(ConfigurationError) as caught:
        _load(tmp_path, "a: 1\nb: 2")
    assert str(caught.value).count("unknown key") == 2


def test_an_unknown_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error in a manifest must not silently leave a default in force."""
    monkeypatch.setenv("HSS_MONITOR__SAMPLING__RAT", "0.05")
    with pytest.raises(ConfigurationError, match="HSS_MONITOR__SAMPLING__RAT sets no known key"):
        configuration.load()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Not a traceback, but the path and what to do."""
    with pytest.raises(ConfigurationError, match=r"none\.yaml' cannot be read"):
        configuration.load(tmp_path / "none.yaml")


def test_addresses_are_shown_without_what_opens_them(tmp_path: Path) -> None:
    """Keys stand in queries, passwords before the host, and a webhook's secret in its path."""
    settings = _load(
        tmp_path,
        "summarizer: {kind: chat, chat: {model: m, url: 'https://llm.example/v1/chat?v=1&key=sekret'}}\n"
        "outlets:\n"
        "  webhook: {url: 'https://u:sekret@hook.example/services/sekret', secret: sekret}\n"
        "  events: {url: 'https://otlp.example:4318/v1/logs?sekret&v=1&sekret'}\n",
    )
    shown = configuration.shown(settings)
    assert "sekret" not in str(shown)
    hidden = "**********"
    assert (
        shown["summarizer"]["chat"]["url"] == f"https://llm.example/v1/chat?v={hidden}&key={hidden}"
    )
    assert shown["outlets"]["webhook"]["url"] == f"https://{hidden}@hook.example/{hidden}"
    assert (
        shown["outlets"]["events"]["url"]
        == f"https://otlp.example:4318/v1/logs?{hidden}&v={hidden}&{hidden}"
    )


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    """`config show` ends up in tickets."""
    settings = _load(
        tmp_path,
        "database: {url: 'postgresql+psycopg://u:hunter2@h/d'}\n"
        "summarizer: {kind: chat, chat: {url: 'http://x', model: m, api_key: hunter3}}",
    )
    text = str(configuration.shown(settings))
    assert "hunter" not in text
    assert "postgresql+psycopg://u:**********@h/d" in text


def test_a_secret_of_a_wrong_kind_is_not_repeated_in_the_message(tmp_path: Path) -> None:
    """Error messages end up in logs."""
    with pytest.raises(ConfigurationError) as caught:
        _load(tmp_path, "summarizer: {chat: {api_key: [hunter4]}}")
    assert "hunter4" not in str(caught.value)


def test_the_sample_file_equals_the_code() -> None:
    """`hss-monitor config sample > deploy/hss-monitor.yaml` renews it."""
    assert (ROOT / "deploy" / "hss-monitor.yaml").read_text() == configuration.sample()


def test_the_sample_file_sets_every_key_to_its_default() -> None:
    """A user may start from it without changing anything."""
    assert configuration.load(ROOT / "deploy" / "hss-monitor.yaml") == configuration.load()


def test_every_key_is_explained() -> None:
    """The sample file is the reference of the configuration."""
    assert [name for name, _, text in configuration.keys(Settings) if not text] == []
