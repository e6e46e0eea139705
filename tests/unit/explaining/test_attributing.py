"""The attribution stage: whom it explains, with what, and what it says where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from monitor.attributing import Attributing, Policy, attributing_of
from monitor.attribution.explainer import DocumentExplainer
from monitor.attribution.shap_text import ShapMethod
from monitor.errors import ConfigurationError, DatabaseUnavailable
from monitor.findings import Series
from monitor.records import (
    Explanation,
    IncomingRecord,
    Perturbation,
    PerturbationScore,
    Reason,
    RecordState,
    ScoredRecord,
    Severity,
    Strength,
    Summary,
    SummaryTask,
    Transport,
)
from monitor.settings import Attribution as AttributionSettings
from monitor.summarization.textrank import TextRankSummarizer
from monitor.value_functions import similarity, textrank

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NEWS = (
    "The central bank raised its rate on Tuesday. Inflation was too high in Sydney. "
    "Markets had expected the decision for weeks. Shares fell sharply in early trading. "
    "The dollar rose against the yen."
)


def record(document: str = NEWS, record_id: str = "r") -> IncomingRecord:
    return IncomingRecord(
        id=record_id, document=document, summary="s", service="s", model="m", received_at=NOW
    )


def scored(
    versions: Sequence[tuple[str, str | None]], *, baseline: str, hss: float | None = 0.5
) -> ScoredRecord:
    """A result whose versions have these documents and summaries."""
    one = np.ones((1, 1))
    measured = Transport(distance=0.1, plan=one, cost=one, source=("a",), target=("b",))
    return ScoredRecord(
        record_id="r",
        state=RecordState.SCORED,
        reason=None,
        detail="",
        category="",
        scored_at=NOW,
        fingerprint="f",
        severity=Severity(
            hss=hss, low=None, high=None, reason=None, interval_reason=None, normalizer=None
        ),
        baseline_summary=baseline,
        perturbations=tuple(
            PerturbationScore(
                perturbation=Perturbation(
                    strength=Strength.LOW,
                    share=0.05,
                    reached=True,
                    substitutions=(),
                    document=document,
                    min_cosine=0.9,
                ),
                summary=Summary(text=summary),
                transport=None if summary is None else measured,
            )
            for document, summary in versions
        ),
    )


class FirstSentence:
    """Repeats the first sentence; counts its calls."""

    name = "first"
    deterministic = True
    replays = True

    def __init__(self, answer: Any = None) -> None:
        self.asked: list[str] = []
        self._answer = answer or (lambda text: Summary(text=text.split(". ")[0] + "."))

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        self.asked += [task.document for task in tasks]
        return [self._answer(task.document) for task in tasks]


def explained_by(
    summarizer: Any,
    encoder: Any,
    document: str,
    *,
    versions: int = 2,
    budget: int = 64,
    per_record: int = 1000,
    baseline: str | None = None,
) -> Explanation:
    stage = Attributing(
        methods=("shap",),
        explainer=DocumentExplainer(
            [ShapMethod()], max_evaluations=budget, max_evaluations_per_record=per_record
        ),
        evaluators=similarity(summarizer, encoder),
        value="similarity",
        policy=Policy(share=1.0),
        perturbations=2,
        seed=0,
    )
    y = document.split(". ")[0] if baseline is None else baseline
    return stage(record(document), scored([(document, y)] * versions, baseline=y))


def test_the_share_is_kept_and_the_same_everywhere() -> None:
    """Two scorers must agree, whatever order records come in; 10 % ± 4 standard errors."""
    policy = Policy(share=0.1)
    chosen = [policy.selects(f"r{number}", None) for number in range(10_000)]
    assert sum(chosen) == pytest.approx(1000, abs=120)
    assert chosen == [Policy(share=0.1).selects(f"r{number}", 0.2) for number in range(10_000)]


def test_every_record_above_the_threshold_is_chosen() -> None:
    """The records that the engineer will ask about, with the probability that weights need."""
    policy = Policy(share=0.0, above_hss=0.7)
    assert policy.selects("r", 0.7)
    assert not policy.selects("r", 0.69)
    assert not policy.selects("r", None)
    assert (policy.probability(0.7), policy.probability(0.1)) == (1.0, 0.0)


def test_every_record_of_a_series_in_a_breach_is_chosen(encoder: Any) -> None:
    """The engineer who was paged asks why; the probability that is stored is 1, not the share."""
    open_ = {Series(service="s", model="m", category="")}
    stage = Attributing(
        methods=("shap",),
        explainer=DocumentExplainer([ShapMethod()], max_evaluations=16),
        evaluators=similarity(FirstSentence(), encoder),
        value="similarity",
        policy=Policy(share=0.0, in_breach=True),
        perturbations=1,
        seed=0,
        open_series=lambda: frozenset(open_),
    )
    result = scored([(NEWS, "Shares fell.")], baseline="Shares fell.")
    explained = stage(record(), result)
    open_.clear()
    afterwards = stage(record(), result)
    assert (explained.probability, afterwards.probability) == (1.0, None)


def test_without_the_database_the_share_decides(encoder: Any) -> None:
    """A record is scored and stored again later; what is lost is one explanation."""

    def gone() -> frozenset[Series]:
        raise DatabaseUnavailable

    stage = Attributing(
        methods=("shap",),
        explainer=DocumentExplainer([ShapMethod()], max_evaluations=16),
        evaluators=similarity(FirstSentence(), encoder),
        value="similarity",
        policy=Policy(share=0.0, in_breach=True),
        perturbations=1,
        seed=0,
        open_series=gone,
    )
    found = stage(record(), scored([(NEWS, "Shares fell.")], baseline="Shares fell."))
    assert [each.reason for each in found.methods] == [Reason.NOT_SELECTED]


def test_a_breach_asks_a_remote_model_only_where_that_was_wanted(encoder: Any) -> None:
    """Hundreds of calls a record, just when the service is in trouble, need a yes."""
    explained = []
    for wanted in (AttributionSettings(), AttributionSettings(in_breach=True)):
        stage = attributing_of(
            wanted,
            summarizer=FirstSentence(),
            encoder=encoder,
            seed=0,
            open_series=lambda: frozenset({Series(service="s", model="m", category="")}),
        )
        found = stage(record("Rain fell."), scored([], baseline="Rain fell."))
        explained.append(found.probability)
    assert explained == [None, 1.0]


def test_all_of_a_share_of_one_are_chosen() -> None:
    """`--attribution` relies on it."""
    assert all(Policy(share=1.0).selects(f"r{number}", None) for number in range(1000))


def test_by_default_textrank_is_explained_and_remote_services_are_left_alone(
    language: Any, encoder: Any
) -> None:
    """Nobody who installs a monitor expects hundreds of calls more for each record."""
    remote = FirstSentence()
    stages = [
        attributing_of(
            AttributionSettings(),
            summarizer=summarizer,
            encoder=encoder,
            seed=0,
        )
        for summarizer in (TextRankSummarizer(nlp=language, sentences=3, time_limit=60), remote)
    ]
    counts = []
    for stage in stages:
        found = [
            stage(record("Rain fell.", f"r{n}"), scored([], baseline="Rain fell."))
            for n in range(60)
        ]
        counts.append(sum(each.probability == 0.1 for each in found))
        others = [each for each in found if each.probability is None]
        assert {each.methods[0].reason for each in others} <= {Reason.NOT_SELECTED}
    assert 0 < counts[0] < 20
    assert (counts[1], remote.asked) == (0, [])


def test_versions_are_explained_for_their_own_summaries(encoder: Any) -> None:
    """What is compared is why the model says what it says, before and after."""
    other = NEWS.replace("central", "national")
    stage = Attributing(
        methods=("shap",),
        explainer=DocumentExplainer([ShapMethod()], max_evaluations=64),
        evaluators=similarity(FirstSentence(), encoder),
        value="similarity",
        policy=Policy(share=1.0),
        perturbations=2,
        seed=0,
    )
    versions = [(NEWS, None), (other, other.split(". ")[0] + "."), (NEWS, "Shares fell sharply.")]
    found = stage(record(), scored(versions, baseline=NEWS.split(". ")[0] + "."))
    assert found.versions == (1, 2)
    (shap,) = found.methods
    same, moved = shap.perturbed
    first = slice(0, 8)
    for made in (shap.original, same):
        assert made.values is not None
        assert np.abs(made.values[first]).sum() > 0.9 * np.abs(made.values).sum()
    # v(all) − v(none) = 1 for the summary that the model gives, less for one it does not.
    assert shap.original.values.sum() == pytest.approx(1.0, abs=1e-6)
    assert moved.values is not None
    assert moved.values.sum() < 0.9
    assert shap.instability is not None


def test_textrank_values_are_exact_at_both_ends(language: Any, encoder: Any) -> None:
    """The parser's own sentences are compared: v(all) = 1 and v(none) = 0, so φ sums to 1."""
    summarizer = TextRankSummarizer(nlp=language, sentences=2, time_limit=60)
    stage = attributing_of(
        AttributionSettings(share=1.0, methods=("shap", "lime", "smile", "attention")),
        summarizer=summarizer,
        encoder=encoder,
        seed=0,
    )
    y = summarizer.summarize([SummaryTask(document=NEWS, original_document=NEWS)])[0].text or ""
    found = stage(record(), scored([(NEWS, y)], baseline=y))
    assert found.value == "similarity"
    shap, lime, smile, attention = found.methods
    assert shap.original.values is not None
    assert shap.original.values.sum() == pytest.approx(1.0, abs=1e-6)
    assert [NEWS[start:end] for start, end in found.spans] == list(shap.words)
    # The same document and summary: nothing moved, whatever the method's noise.
    assert [each.instability for each in (shap, lime, smile)] == pytest.approx([0, 0, 0], abs=1e-6)
    assert lime.noise_floor is not None
    assert lime.noise_floor > 0
    assert attention.reason is Reason.UNAVAILABLE


def test_the_whole_document_is_worth_one_whatever_its_layout(language: Any, encoder: Any) -> None:
    """The encoder splits the summary of a list otherwise than the parser its document."""
    summarizer = TextRankSummarizer(nlp=language, sentences=2, time_limit=60)
    document = "- The bank raised its rate.\n- Shares fell in Sydney.\n- The dollar rose."
    task = SummaryTask(document=document, original_document=document)
    y = summarizer.summarize([task])[0].text or ""
    assert y.startswith("- ")
    (evaluator,) = textrank(summarizer, encoder)(record(document), [(document, y)])
    words = len(evaluator.segmentation.words)
    (whole,) = evaluator.evaluate(np.ones((1, words), dtype=bool))
    assert whole.value == 1.0


def test_likelihood_without_a_model_is_refused(encoder: Any) -> None:
    """Before the first record, with the key and the remedy."""
    with pytest.raises(ConfigurationError, match=r"attribution\.value.*seq2seq"):
        attributing_of(
            AttributionSettings(value="likelihood"),
            summarizer=FirstSentence(),
            encoder=encoder,
            seed=0,
        )


def test_a_defect_costs_the_record_its_attributions_only(encoder: Any) -> None:
    """HSS is known by then, and must be stored."""

    def broken(_: str) -> Summary:
        raise RuntimeError("a secret document")

    found = explained_by(FirstSentence(broken), encoder, NEWS)
    assert [each.reason for each in found.methods] == [Reason.INTERNAL_ERROR]


ODD = {
    "one word": "Rain.",
    "repeated words": "rose rose rose rose rose. " * 12,
    "no word": "… — !",
    "Chinese": "股价上涨了。银行没有说明原因。市场预计会有这个决定。" * 3,
    "Hindi": "हिन्दी भाषा में लिखा गया एक वाक्य। दूसरा वाक्य यहाँ है। ",
    "Arabic": "ارتفعت الأسعار يوم الثلاثاء. لم يشرح البنك السبب. ",
    "lone surrogate": "Half \ud83d of a sign stood here. The rest of it was lost. ",
}


@pytest.mark.parametrize("document", ODD.values(), ids=ODD.keys())
def test_odd_documents_give_a_value_or_a_reason_within_the_budget(
    encoder: Any, document: str
) -> None:
    """Through the service of the user: no crash, and not a call more than was allowed."""
    summarizer = FirstSentence()
    found = explained_by(summarizer, encoder, document, budget=40, per_record=120)
    (shap,) = found.methods
    assert (shap.instability is None) != (shap.reason is None)
    assert shap.reason is not Reason.INTERNAL_ERROR
    assert len(summarizer.asked) <= shap.evaluations <= 120


@pytest.mark.parametrize("document", ODD.values(), ids=ODD.keys())
def test_odd_documents_by_textrank(language: Any, encoder: Any, document: str) -> None:
    """The embedded default meets them, too."""
    summarizer = TextRankSummarizer(nlp=language, sentences=3, time_limit=60)
    stage = attributing_of(
        AttributionSettings(share=1.0, methods=("shap", "lime", "smile"), max_evaluations=40),
        summarizer=summarizer,
        encoder=encoder,
        seed=0,
    )
    task = SummaryTask(document=document, original_document=document)
    y = summarizer.summarize([task])[0].text or ""
    found = stage(record(document), scored([(document, y or None)], baseline=y))
    for each in found.methods:
        assert (each.instability is None) != (each.reason is None)
        assert each.reason is not Reason.INTERNAL_ERROR
        assert each.evaluations <= 120


def test_five_thousand_words_keep_both_budgets(encoder: Any) -> None:
    """417 sentences for 60 calls: coarse, and said to be."""
    document = " ".join(
        f"In district {n} the council of ward {n} met again on Monday." for n in range(417)
    )
    summarizer = FirstSentence()
    found = explained_by(summarizer, encoder, document, budget=60, per_record=180)
    (shap,) = found.methods
    assert len(shap.words) > 5000
    assert shap.original.distinct_values < 60
    assert len(summarizer.asked) <= shap.evaluations <= 180


def test_nothing_for_a_masked_text_is_a_value_and_a_failure_is_a_reason(encoder: Any) -> None:
    """An empty summary keeps nothing of y, so v = 0; a time-out says nothing about words."""

    def only_whole(reason: Reason) -> FirstSentence:
        return FirstSentence(
            lambda text: (
                Summary(text=text.split(". ")[0])
                if "…" not in text
                else Summary(text=None, reason=reason)
            )
        )

    (shap,) = explained_by(only_whole(Reason.EMPTY_SUMMARY), encoder, NEWS).methods
    assert shap.instability == pytest.approx(0.0, abs=1e-9)
    (shap,) = explained_by(only_whole(Reason.SUMMARIZER_TIMEOUT), encoder, NEWS).methods
    assert (shap.instability, shap.reason) == (None, Reason.SUMMARIZER_TIMEOUT)
    assert shap.evaluations > 0


def test_a_budget_that_explains_nothing_makes_no_call(encoder: Any) -> None:
    """`over_budget`, and the service is left in peace."""
    summarizer = FirstSentence()
    (shap,) = explained_by(summarizer, encoder, NEWS, per_record=20).methods
    assert (shap.reason, summarizer.asked) == (Reason.OVER_BUDGET, [])


def test_without_a_version_the_words_still_have_values(encoder: Any) -> None:
    """`too_few_runs`, but the page of the record can show them."""
    (shap,) = explained_by(FirstSentence(), encoder, NEWS, versions=0).methods
    assert (shap.instability, shap.reason) == (None, Reason.TOO_FEW_RUNS)
    assert shap.original.values is not None
