"""Every stage of one scorer, with its models loaded; part of the scorer's composition root."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gensim.models import KeyedVectors
from spacy.language import Language

from monitor.attributing import OpenSeries, attributing_of
from monitor.embedding.language import load_language
from monitor.embedding.sbert import SbertEncoder, load_encoder
from monitor.embedding.sentences import SentenceSplitter
from monitor.embedding.vectors import load_vectors
from monitor.factuality.checks import FactualChecks
from monitor.factuality.comparator import Comparator
from monitor.factuality.configured import NamedModel, comparators
from monitor.factuality.overlap import OverlapCheck
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.perturber import SubstitutionPerturber
from monitor.pipeline import Pipeline, Stages
from monitor.ports import CalibrationStore, Summarizer
from monitor.records import Calibration, Severity, Strength
from monitor.sampling.category import NearestCategory
from monitor.scoring.fingerprint import fingerprint
from monitor.scoring.normalization import normalizer_for
from monitor.scoring.provisional import provisional
from monitor.scoring.severity import severity
from monitor.scoring.transport import transport
from monitor.settings import Settings, Strengths
from monitor.stores import now
from monitor.summarizers import summarizer_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Workbench:
    """The loaded stages of one scorer."""

    pipeline: Pipeline
    summarizer: Summarizer
    perturber: SubstitutionPerturber
    encoder: SbertEncoder
    language: Language
    vectors: KeyedVectors
    comparators: Sequence[Comparator]
    """Factual checks by models; those whose model is missing stand in for themselves."""
    fingerprint: str
    made_of: dict[str, Any]
    """What the fingerprint stands for."""


def build(
    settings: Settings,
    calibrations: CalibrationStore | None,
    *,
    open_series: OpenSeries | None = None,
) -> Workbench:
    """Load every model that the settings name and put the pipeline together.

    The calibration that ships with the package is stored beside the own ones; it applies to
    its own fingerprint only, and an own one goes first. Without a store HSS stays
    `uncalibrated`. Raises `ModelUnavailable` naming the key, the value and the remedy.
    """
    language = load_language(settings.perturbation.language_model)
    splitter = SentenceSplitter(language)
    encoder = _encoder_of(settings, splitter)
    vectors = load_vectors(settings.perturbation.vectors)
    perturber = perturber_of(
        settings,
        settings.perturbation.strengths,
        language=language,
        vectors=vectors,
        encoder=encoder,
    )
    summarizer = summarizer_of(settings, language)
    observed = summarizer.replays and settings.storage.mode != "redacted"
    made_of = _made_of(settings, encoder, perturber, summarizer, observed=observed)
    mark = fingerprint(made_of)
    overlap = OverlapCheck(language)
    checks = comparators(
        splitter.split,
        summac=NamedModel(key="factuality.summac_model", source=settings.factuality.summac_model),
        factcc=NamedModel(key="factuality.factcc_model", source=settings.factuality.factcc_model),
        allow_download=settings.models.allow_download,
    )
    pipeline = Pipeline(
        Stages(
            perturber=perturber,
            summarizer=summarizer,
            encoder=encoder,
            distance=transport,
            severity=_severity,
            support=overlap,
            category=NearestCategory(
                settings.categories.descriptions, encoder, default=settings.categories.default
            ),
            calibration=_active(calibrations, mark),
            attribute=attributing_of(
                settings.attribution,
                summarizer=summarizer,
                encoder=encoder,
                seed=settings.perturbation.seed,
                open_series=open_series,
            ),
            check=FactualChecks(overlap, checks).check,
        ),
        fingerprint=mark,
        observed_baseline=observed,
        null_runs=settings.scoring.null_runs,
        max_words=settings.scoring.max_words,
        seed=settings.perturbation.seed,
        clock=now,
    )
    return Workbench(
        pipeline=pipeline,
        summarizer=summarizer,
        perturber=perturber,
        encoder=encoder,
        language=language,
        vectors=vectors,
        comparators=checks,
        fingerprint=mark,
        made_of=made_of,
    )


def _encoder_of(settings: Settings, splitter: SentenceSplitter) -> SbertEncoder:
    return load_encoder(
        settings.embedding.model,
        splitter=splitter,
        batch_size=settings.embedding.batch_size,
        cache_size=settings.embedding.cache_size,
        allow_download=settings.models.allow_download,
        threads=settings.models.threads,
    )


def _made_of(
    settings: Settings,
    encoder: SbertEncoder,
    perturber: SubstitutionPerturber,
    summarizer: Summarizer,
    *,
    observed: bool,
) -> dict[str, Any]:
    """Everything that distances depend on: scores of another value are not comparable."""
    strengths = settings.perturbation.strengths
    return {
        "encoder": encoder.name,
        "perturber": perturber.name,
        "language_model": settings.perturbation.language_model,
        "vectors": settings.perturbation.vectors,
        "k": settings.perturbation.k,
        "tau": settings.perturbation.tau,
        "gamma": settings.perturbation.gamma,
        "strengths": strengths.model_dump(),
        "K": strengths.count,
        "summarizer": summarizer.name,
        "baseline": "observed" if observed else "own",
    }


def _active(calibrations: CalibrationStore | None, mark: str) -> Callable[[], Calibration | None]:
    """What looks up the active calibration of a fingerprint; the shipped one is stored first."""
    if calibrations is None:
        return lambda: None
    if (shipped := provisional()) is not None:
        calibrations.add(shipped, activate=True)
    return lambda: calibrations.active(mark)


def perturber_of(
    settings: Settings,
    strengths: Strengths,
    *,
    language: Language,
    vectors: KeyedVectors,
    encoder: SbertEncoder,
) -> SubstitutionPerturber:
    """The configured perturber for a mix of strengths."""
    return SubstitutionPerturber(
        language,
        Neighbours(vectors, k=settings.perturbation.k, tau=settings.perturbation.tau),
        encoder,
        strengths={
            Strength.LOW: strengths.low,
            Strength.MODERATE: strengths.moderate,
            Strength.HIGH: strengths.high,
        },
        gamma=settings.perturbation.gamma,
    )


def _severity(
    runs: Sequence[tuple[Strength, float]], calibration: Calibration | None, category: str
) -> Severity:
    normalizer = None if calibration is None else normalizer_for(calibration, category)
    return severity(runs, normalizer)
