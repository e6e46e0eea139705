"""One record in the terminal: why, by which words, and which facts it does not hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml

from monitor.cli.marked import LEGEND
from monitor.cli.shown import _diff
from monitor.investigate.record_parts import Version
from monitor.records import (
    Attribution,
    Explanation,
    MethodResult,
    Normalizer,
    NullRun,
    Perturbation,
    PerturbationScore,
    Reason,
    Severity,
    Strength,
    Substitution,
    Summary,
    Support,
    Transport,
    UnsupportedFact,
)
from monitor.stores import now

DOCUMENT = "Rain fell in Oslo."
SPANS = ((0, 4), (5, 9), (10, 12), (13, 17))
ESCAPES = "\x1b[2J\u202e\u009b31m\x07"


def _explanation() -> Explanation:
    """Two words swap their weight under rewording."""
    shap = MethodResult(
        method="shap",
        words=("Rain", "fell", "in", "Oslo"),
        original=Attribution(values=np.array([1.0, 0.0, 0.0, 0.5]), evaluations=16),
        perturbed=(Attribution(values=np.array([0.0, 0.0, 1.0, 0.5]), evaluations=16),),
        instability=0.6,
        absolute=0.5,
        one_minus_spearman=0.4,
        one_minus_cosine=0.3,
        noise_floor=0.1,
        compared=1,
        evaluations=48,
        reason=None,
    )
    return Explanation(
        methods=(shap,), probability=1.0, value="similarity", versions=(0,), spans=SPANS
    )


def _version(document: str, summary: str) -> PerturbationScore:
    return PerturbationScore(
        perturbation=Perturbation(
            strength=Strength.LOW,
            share=0.05,
            reached=True,
            substitutions=(
                Substitution(
                    index=0, original="Rain", replacement="Snow", similarity=0.75, start=0
                ),
            ),
            document=document,
            min_cosine=0.95,
        ),
        summary=Summary(text=summary, seconds=1.0),
        transport=Transport(
            distance=0.4,
            plan=np.array([[0.5, 0.5]]),
            cost=np.array([[0.2, 0.6]]),
            source=("Rain in Oslo.",),
            target=("Snow in Oslo.", "It was Bergen."),
        ),
    )


@pytest.fixture
def put(stores: Any, made: Any) -> Any:
    """Stores one record with all its parts; words of its texts may be given."""

    def put(record: str = "a", *, evil: str = "", **fields: Any) -> None:
        incoming = made.waiting(
            record, now(), document=DOCUMENT + evil, summary="Rain in Oslo." + evil
        )
        stores.queue.accept([incoming])
        [leased] = stores.queue.lease("test", count=1, seconds=60)
        version = _version("Snow fell in Oslo." + evil, "Snow in Oslo. It was Bergen." + evil)
        parts = {"explanation": _explanation(), "perturbations": (version,)} | fields
        result = made.scored(
            record,
            0.5,
            severity=Severity(
                hss=0.5,
                low=0.4,
                high=0.6,
                reason=None,
                interval_reason=None,
                normalizer=Normalizer(
                    category=None, value=0.8, low=0.7, high=0.9, documents=40, distances=320
                ),
            ),
            baseline="observed",
            baseline_summary="Rain in Oslo." + evil,
            support=Support(
                entity_support=0.5,
                entity_reason=None,
                number_support=None,
                number_reason=Reason.NO_NUMBERS,
                unsupported=(UnsupportedFact(kind="entity", text="Bergen" + evil, start=0),),
                entities=2,
                numbers=0,
            ),
            null_runs=(
                NullRun(
                    summary=Summary(text="Oslo rain." + evil, seconds=0.5),
                    distance=0.05,
                    source="run",
                ),
            ),
            **parts,
        )
        stores.queue.finish(leased.lease, result)

    return put


def test_a_record_is_shown_from_its_number_to_its_words(cli: Any, put: Any) -> None:
    """HSS with interval, unstable words, replacements, the diff, transport, null control."""
    put()
    shown = cli("records", "show", "a").out
    for part in (
        "0.500 [0.400, 0.600]",
        "0.800 (pooled)",
        "no_numbers",
        "Bergen (entity)",
        "Rain fell in Oslo.",
        "unstable: Rain, in",
        "replaced: Rain→Snow",
        "[-Rain-] {+Snow+} in Oslo. {+It was Bergen.+}",
        "of M 0.500",
        "It was Bergen.",
        "serving noise",
        "Oslo rain.",
    ):
        assert part in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["0.500", "0.600", "Rain", "in", "Oslo.", "It", "was", "Bergen."] in rows
    assert "Snow fell in Oslo." not in shown
    assert "Snow fell in Oslo." in cli("records", "show", "a", "--full").out


def test_at_the_noise_floor_no_word_is_called_unstable(cli: Any, put: Any) -> None:
    """Explaining the unchanged document once more changes as much: the page says so, too."""
    explained = _explanation()
    put(explanation=replace(explained, methods=(replace(explained.methods[0], noise_floor=0.6),)))
    shown = cli("records", "show", "a").out
    assert "shap: not above its noise floor" in shown
    assert "unstable:" not in shown


def test_colours_are_explained_where_there_are_some(cli: Any, put: Any) -> None:
    """In a file nothing is green or underlined."""
    put()
    assert LEGEND not in cli("records", "show", "a").out


def test_a_version_outside_its_band_says_so(cli: Any, put: Any) -> None:
    """Its share is not what its strength stands for."""
    made = _version("Snow fell in Oslo.", "Snow in Oslo.")
    short = replace(made, perturbation=replace(made.perturbation, reached=False))
    put(perturbations=(made, short))
    heads = [line for line in cli("records", "show", "a").out.splitlines() if " · share " in line]
    assert [", band not reached ·" in head for head in heads] == [False, True]


def test_texts_are_harmless_and_whole(cli: Any, put: Any) -> None:
    """Escape sequences, changes of direction and the bell never leave this program as such."""
    put(evil=f"{ESCAPES} [bold]x[/bold] עברית 👨‍👩‍👧 {'y' * 300}")
    for arguments in (("show", "a"), ("show", "a", "--full"), ("show", "a", "--json")):
        printed = cli("records", *arguments)
        assert printed.code == 0
        assert not set(ESCAPES) - set("[2J31m") & set(printed.out)
        for part in ("[bold]x[/bold]", "עברית", "👨‍👩‍👧", "y" * 300):
            assert part in printed.out
    [row] = cli("records", "show", "a", "--json").objects
    assert ESCAPES in row["document"], "JSON keeps the text itself"


def test_a_long_document_is_shown_in_time(cli: Any, stores: Any, made: Any) -> None:
    """50,000 characters, one of its words 5,000 long."""
    document = "x" * 5_000 + " word" * 9_000
    stores.queue.accept([made.waiting("long", now(), document=document)])
    printed = cli("records", "show", "long").out
    assert "".join(document.split()) in "".join(printed.split())


def test_what_is_not_kept_is_said_with_its_reason(
    cli: Any, put: Any, config_file: Any, made: Any
) -> None:
    """`hash_only`: positions instead of words, and no byte of a text."""
    values = yaml.safe_load(config_file.read_text())
    values["storage"]["mode"] = "hash_only"
    config_file.write_text(yaml.safe_dump(values))
    from monitor import configuration
    from monitor.stores import open_stores

    with open_stores(configuration.load(config_file)) as sealed:
        sealed.queue.accept([made.waiting("h", now(), document=DOCUMENT, summary="Rain in Oslo.")])
        [leased] = sealed.queue.lease("test", count=1, seconds=60)
        sealed.queue.finish(
            leased.lease,
            made.scored(
                "h",
                0.5,
                baseline_summary="Rain in Oslo.",
                explanation=_explanation(),
                perturbations=(_version("Snow fell in Oslo.", "Snow in Oslo. It was Bergen."),),
            ),
        )
    result = cli("records", "show", "h")
    assert result.code == 0
    for part in (
        "storage.mode: hash_only",
        "not kept",
        "at 0 (cosine 0.75)",
        "10–12",
        "sentence 1",
        "sentence 2",
    ):
        assert part in result.out
    for word in ("Rain", "Snow", "Oslo", "Bergen"):
        assert word not in result.out


def test_erased_texts_are_said_to_be(cli: Any, put: Any, monkeypatch: Any) -> None:
    """With the key that decided it."""
    put()
    monkeypatch.setenv("HSS_MONITOR__STORAGE__KEEP_TEXTS_DAYS", "1e-9")
    cli("db", "prune")
    shown = cli("records", "show", "a").out
    assert "storage.keep_texts_days" in shown
    assert "Bergen" not in shown
    assert "sentence 2" in shown


def test_breaches_of_a_record_lead_back(cli: Any, put: Any, stores: Any, made: Any) -> None:
    """From the record to the page that it woke somebody with."""
    put()
    detail = made.breach("a")
    made.save_breaches(stores, [made.threshold_state("hss_mean", "open")], [detail])
    assert detail.breach.id in cli("records", "show", "a").out
    [row] = cli("records", "show", "a", "--json").objects
    assert [each["id"] for each in row["breaches"]] == [detail.breach.id]
    assert row["missing"] == [
        {"what": "the request", "why": "the record came without it; nothing was replayed",
         "usual": True}
    ]  # fmt: skip


def test_a_diff_reads_without_colour() -> None:
    """As `wdiff` writes it; blanks stay outside of the marks."""
    version = Version(
        number=1,
        strength="low",
        share=0.1,
        reached=True,
        min_cosine=0.9,
        distance=None,
        normalized=None,
        reason=None,
        detail="",
        document=None,
        summary="the blue hat",
        swaps=(),
        sentences=(),
        moves=(),
        seconds=0.0,
        attempts=1,
        truncated=False,
    )
    assert _diff("the red hat", version).plain == "the [-red-] {+blue+} hat"
