"""Lay down records, scores, calibrations, sampling epochs and the on-call views."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

# The views are read by people and by Grafana's SQL panels. Times come twice: as the
# database writes them (UTC) and as whole seconds since 1970, because SQLite has no type
# for times. `weight` is 1/probability: every mean or share over records must use it, as in
# SUM(hss * weight) / SUM(CASE WHEN hss IS NOT NULL THEN weight END).
_ONCALL_RECORDS = """
CREATE VIEW oncall_records AS
SELECT
    id,
    received_at,
    {received_unix} AS received_unix,
    finished_at,
    service,
    model,
    category,
    release,
    state,
    reason,
    detail,
    trace_id,
    span_id,
    attempts,
    probability,
    1.0 / probability AS weight
FROM records
"""
_ONCALL_SCORES = """
CREATE VIEW oncall_scores AS
SELECT
    r.id AS record_id,
    r.received_at,
    {received_unix} AS received_unix,
    s.scored_at,
    {scored_unix} AS scored_unix,
    r.service,
    r.model,
    r.category,
    r.release,
    r.trace_id,
    s.hss,
    s.hss_low,
    s.hss_high,
    s.hss_reason,
    s.raw_distance,
    s.null_distance,
    s.excess,
    s.entity_support,
    s.number_support,
    s.observed_distance,
    s.mean_share,
    s.document_words,
    s.summary_words,
    s.baseline,
    s.calibration_id,
    s.fingerprint,
    s.core_seconds,
    1.0 / r.probability AS weight
FROM scores AS s
JOIN records AS r ON r.id = s.record_id
WHERE r.state = 'scored'
"""


def _key() -> sa.types.TypeEngine[str]:
    """Ordered by code point in both databases."""
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def _time() -> sa.types.TypeEngine[Any]:
    return sa.DateTime().with_variant(postgresql.TIMESTAMP(timezone=True), "postgresql")


def _json() -> sa.types.TypeEngine[Any]:
    return sa.Text().with_variant(postgresql.JSON(), "postgresql")


def _unix(column: str) -> str:
    """SQL for whole seconds since 1970."""
    if op.get_bind().dialect.name == "postgresql":
        return f"CAST(FLOOR(EXTRACT(EPOCH FROM {column})) AS BIGINT)"
    return f"CAST(strftime('%s', {column}) AS INTEGER)"


def upgrade() -> None:
    _create_calibrations()
    _create_epochs()
    _create_records()
    _create_results()
    op.create_table(
        "meta",
        sa.Column("key", _key(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_meta"),
    )
    op.execute(sa.text(_ONCALL_RECORDS.format(received_unix=_unix("received_at"))))
    op.execute(
        sa.text(
            _ONCALL_SCORES.format(
                received_unix=_unix("r.received_at"), scored_unix=_unix("s.scored_at")
            )
        )
    )


def _create_calibrations() -> None:
    op.create_table(
        "calibrations",
        sa.Column("id", _key(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("settings", _json(), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("reference_window", sa.Text(), nullable=False),
        sa.Column("since", _time()),
        sa.Column("until", _time()),
        sa.Column("provisional", sa.Boolean(), nullable=False),
        sa.Column("warnings", _json(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_calibrations"),
    )
    op.create_index(
        "ux_calibrations_active",
        "calibrations",
        ["fingerprint", "provisional"],
        unique=True,
        sqlite_where=sa.text("active"),
        postgresql_where=sa.text("active"),
    )
    op.create_table(
        "normalizers",
        sa.Column("calibration_id", _key(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("category", sa.Text()),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("low", sa.Double()),
        sa.Column("high", sa.Double()),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("distances", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["calibration_id"],
            ["calibrations.id"],
            ondelete="CASCADE",
            name="fk_normalizers_calibration_id",
        ),
        sa.PrimaryKeyConstraint("calibration_id", "number", name="pk_normalizers"),
        sa.CheckConstraint("value > 0", name=op.f("ck_normalizers_value")),
    )


def _create_epochs() -> None:
    op.create_table(
        "epochs",
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("starts_at", _time(), nullable=False),
        sa.Column("ends_at", _time(), nullable=False),
        sa.Column("rates", _json(), nullable=False),
        sa.Column("default_rate", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_epochs"),
    )
    op.create_table(
        "arrivals",
        sa.Column("epoch", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("front", _key(), nullable=False),
        sa.Column("service", _key(), nullable=False),
        sa.Column("model", _key(), nullable=False),
        sa.Column("category", _key(), nullable=False),
        sa.Column("received", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "epoch", "front", "service", "model", "category", name="pk_arrivals"
        ),
    )


def _create_records() -> None:
    op.create_table(
        "records",
        sa.Column("id", _key(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("category", sa.Text()),
        sa.Column("release", sa.Text()),
        sa.Column("trace_id", sa.Text()),
        sa.Column("span_id", sa.Text()),
        sa.Column("received_at", _time(), nullable=False),
        sa.Column("started_at", _time()),
        sa.Column("finished_at", _time()),
        sa.Column("content_mode", sa.Text(), nullable=False),
        sa.Column("document", sa.Text()),
        sa.Column("summary", sa.Text()),
        sa.Column("request", _json()),
        sa.Column("alternatives", _json()),
        sa.Column("sealed", sa.LargeBinary()),
        sa.Column("document_hash", sa.Text(), nullable=False),
        sa.Column("summary_hash", sa.Text(), nullable=False),
        sa.Column("content_bytes", sa.BigInteger(), nullable=False),
        sa.Column("erased_at", _time()),
        sa.Column("stratum_service", sa.Text(), nullable=False),
        sa.Column("stratum_model", sa.Text(), nullable=False),
        sa.Column("stratum_category", sa.Text(), nullable=False),
        sa.Column("probability", sa.Double(), nullable=False),
        sa.Column("upstream_probability", sa.Double(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("front", sa.Text(), nullable=False),
        sa.Column("observed_at", _time()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_token", sa.Text()),
        sa.Column("lease_worker", sa.Text()),
        sa.Column("lease_until", _time()),
        sa.Column("not_before", _time(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_records"),
        sa.CheckConstraint(
            "probability > 0 AND probability <= 1", name=op.f("ck_records_probability")
        ),
        sa.CheckConstraint(
            "state IN ('queued', 'leased', 'scored', 'skipped', 'failed')",
            name=op.f("ck_records_state"),
        ),
    )
    op.create_index(
        "ix_records_erasable",
        "records",
        ["received_at", "id"],
        sqlite_where=sa.text("erased_at IS NULL AND finished_at IS NOT NULL"),
        postgresql_where=sa.text("erased_at IS NULL AND finished_at IS NOT NULL"),
    )
    op.create_index(
        "ix_records_open",
        "records",
        ["received_at", "id"],
        sqlite_where=sa.text("finished_at IS NULL"),
        postgresql_where=sa.text("finished_at IS NULL"),
    )
    op.create_index("ix_records_received", "records", ["received_at", "id"])
    op.create_index(
        "ix_records_series", "records", ["service", "model", "category", "received_at", "id"]
    )
    op.create_index("ix_records_span", "records", ["trace_id", "span_id"])
    op.create_index("ix_records_state", "records", ["state", "received_at", "id"])
    op.create_index(
        "ix_records_unobserved",
        "records",
        ["front", "finished_at"],
        sqlite_where=sa.text("observed_at IS NULL AND finished_at IS NOT NULL"),
        postgresql_where=sa.text("observed_at IS NULL AND finished_at IS NOT NULL"),
    )


def _create_results() -> None:
    op.create_table(
        "scores",
        sa.Column("record_id", _key(), nullable=False),
        sa.Column("scored_at", _time(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("calibration_id", sa.Text()),
        sa.Column("normalizer", sa.Double()),
        sa.Column("normalizer_category", sa.Text()),
        sa.Column("hss", sa.Double()),
        sa.Column("hss_low", sa.Double()),
        sa.Column("hss_high", sa.Double()),
        sa.Column("hss_reason", sa.Text()),
        sa.Column("interval_reason", sa.Text()),
        sa.Column("raw_distance", sa.Double()),
        sa.Column("null_distance", sa.Double()),
        sa.Column("excess", sa.Double()),
        sa.Column("mean_share", sa.Double()),
        sa.Column("distances", sa.Integer(), nullable=False),
        sa.Column("baseline", sa.Text()),
        sa.Column("baseline_summary", sa.Text()),
        sa.Column("baseline_hash", sa.Text()),
        sa.Column("baseline_sentences", _json()),
        sa.Column("observed_distance", sa.Double()),
        sa.Column("entity_support", sa.Double()),
        sa.Column("entity_reason", sa.Text()),
        sa.Column("number_support", sa.Double()),
        sa.Column("number_reason", sa.Text()),
        sa.Column("entities", sa.Integer()),
        sa.Column("numbers", sa.Integer()),
        sa.Column("unsupported", _json()),
        sa.Column("document_words", sa.Integer()),
        sa.Column("summary_words", sa.Integer()),
        sa.Column("stage_seconds", _json(), nullable=False),
        sa.Column("core_seconds", sa.Double()),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("completion_tokens", sa.Integer()),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["record_id"], ["records.id"], ondelete="CASCADE", name="fk_scores_record_id"
        ),
        sa.PrimaryKeyConstraint("record_id", name="pk_scores"),
        sa.CheckConstraint("hss >= 0 AND hss <= 1", name=op.f("ck_scores_hss")),
    )
    op.create_index("ix_scores_scored", "scores", ["scored_at"])
    op.create_table(
        "perturbations",
        sa.Column("record_id", _key(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("distance", sa.Double()),
        sa.Column("reason", sa.Text()),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text()),
        sa.Column("summary_hash", sa.Text()),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("completion_tokens", sa.Integer()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("strength", sa.Text(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("reached", sa.Boolean(), nullable=False),
        sa.Column("substitutions", _json(), nullable=False),
        sa.Column("min_cosine", sa.Double(), nullable=False),
        sa.Column("document", sa.Text()),
        sa.Column("document_hash", sa.Text(), nullable=False),
        sa.Column("plan", sa.LargeBinary()),
        sa.Column("cost", sa.LargeBinary()),
        sa.Column("sentences", _json()),
        sa.ForeignKeyConstraint(
            ["record_id"], ["records.id"], ondelete="CASCADE", name="fk_perturbations_record_id"
        ),
        sa.PrimaryKeyConstraint("record_id", "number", name="pk_perturbations"),
    )
    op.create_table(
        "null_runs",
        sa.Column("record_id", _key(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("distance", sa.Double()),
        sa.Column("reason", sa.Text()),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text()),
        sa.Column("summary_hash", sa.Text()),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer()),
        sa.Column("completion_tokens", sa.Integer()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["record_id"], ["records.id"], ondelete="CASCADE", name="fk_null_runs_record_id"
        ),
        sa.PrimaryKeyConstraint("record_id", "number", name="pk_null_runs"),
    )
