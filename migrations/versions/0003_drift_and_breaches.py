"""Add references, drift, thresholds, breaches, the evaluator's lease and `oncall_breaches`."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

_DRIFT_STATES = "('insufficient', 'stable', 'suspect', 'drifted')"
_OPEN = "finished_at IS NULL"
_FINISHED = "finished_at IS NOT NULL"
# One row a breach, with times as in the other views. `rightly` and `wrongly` count the records
# that on-call people marked: rightly / (rightly + wrongly) is the precision of a threshold.
_ONCALL_BREACHES = """
CREATE VIEW oncall_breaches AS
SELECT
    b.id AS breach_id,
    b.threshold,
    b.service,
    b.model,
    b.category,
    b.number,
    b.signal,
    b.statistic,
    b.comparison,
    b.severity,
    b.state,
    b.exceeded_since,
    {exceeded_unix} AS exceeded_unix,
    b.opened_at,
    {opened_unix} AS opened_unix,
    b.resolved_at,
    {resolved_unix} AS resolved_unix,
    b.value,
    b.worst,
    b.limit_value,
    b.window_seconds,
    b.records,
    b.acknowledged_at,
    {acknowledged_unix} AS acknowledged_unix,
    b.acknowledged_by,
    b.note,
    (SELECT COUNT(*) FROM breach_contributors AS c WHERE c.breach_id = b.id) AS contributors,
    (
        SELECT COUNT(*) FROM breach_contributors AS c WHERE c.breach_id = b.id AND c.mark
    ) AS rightly,
    (
        SELECT COUNT(*) FROM breach_contributors AS c WHERE c.breach_id = b.id AND NOT c.mark
    ) AS wrongly
FROM breaches AS b
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


def _series() -> list[sa.Column[Any]]:
    return [sa.Column(name, _key(), nullable=False) for name in ("service", "model", "category")]


def upgrade() -> None:
    _create_drift()
    _create_breaches()
    op.create_table(
        "evaluator_lease",
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("token", sa.Integer(), nullable=False),
        sa.Column("until", _time(), nullable=False),
        sa.Column("evaluated_at", _time()),
        sa.Column("session", sa.Integer()),
        sa.PrimaryKeyConstraint("number", name="pk_evaluator_lease"),
        sa.CheckConstraint("number = 1", name=op.f("ck_evaluator_lease_one_row")),
    )
    op.create_index(
        "ix_records_open_series",
        "records",
        ["service", "model", "category", "received_at"],
        sqlite_where=sa.text(_OPEN),
        postgresql_where=sa.text(_OPEN),
    )
    op.create_index(
        "ix_records_finished",
        "records",
        ["service", "model", "finished_at", "category"],
        sqlite_where=sa.text(_FINISHED),
        postgresql_where=sa.text(_FINISHED),
    )
    op.execute(
        sa.text(
            _ONCALL_BREACHES.format(
                exceeded_unix=_unix("b.exceeded_since"),
                opened_unix=_unix("b.opened_at"),
                resolved_unix=_unix("b.resolved_at"),
                acknowledged_unix=_unix("b.acknowledged_at"),
            )
        )
    )


def _create_drift() -> None:
    op.create_table(
        "drift_references",
        *_series(),
        sa.Column("signal", _key(), nullable=False),
        sa.Column("calibration_id", _key(), nullable=False),
        sa.Column("fitted", _json()),
        sa.Column("reason", sa.Text()),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("warning", sa.Text()),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("since", _time()),
        sa.Column("until", _time()),
        sa.PrimaryKeyConstraint(
            "service", "model", "category", "signal", "calibration_id", name="pk_drift_references"
        ),
    )
    op.create_table(
        "watch_states",
        *_series(),
        sa.Column("signal", _key(), nullable=False),
        sa.Column("reference_id", _key(), nullable=False),
        sa.Column("state", _json(), nullable=False),
        sa.Column("cursor_received_at", _time()),
        sa.Column("cursor_record_id", _key()),
        sa.PrimaryKeyConstraint("service", "model", "category", "signal", name="pk_watch_states"),
        sa.CheckConstraint(
            "(cursor_received_at IS NULL) = (cursor_record_id IS NULL)",
            name=op.f("ck_watch_states_whole_cursor"),
        ),
    )
    op.create_table(
        "drift_findings",
        *_series(),
        sa.Column("signal", _key(), nullable=False),
        sa.Column("calibration_id", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("direction", sa.Text()),
        sa.Column("since", _time()),
        sa.Column("raised_at", _time()),
        sa.Column("effect", sa.Double()),
        sa.Column("effect_low", sa.Double()),
        sa.Column("effect_high", sa.Double()),
        sa.Column("deviations", sa.Double()),
        sa.Column("reference_mean", sa.Double()),
        sa.Column("current_mean", sa.Double()),
        sa.Column("evidence", sa.Double()),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("tests", _json(), nullable=False),
        sa.Column("evaluated_at", _time(), nullable=False),
        sa.PrimaryKeyConstraint("service", "model", "category", "signal", name="pk_drift_findings"),
        sa.CheckConstraint(f"state IN {_DRIFT_STATES}", name=op.f("ck_drift_findings_state")),
    )
    op.create_table(
        "drift_changes",
        *_series(),
        sa.Column("at", _time(), nullable=False),
        sa.Column("signal", _key(), nullable=False),
        sa.Column("state_after", _key(), nullable=False),
        sa.Column("state_before", sa.Text(), nullable=False),
        sa.Column("since", _time()),
        sa.Column("direction", sa.Text()),
        sa.PrimaryKeyConstraint(
            "service", "model", "category", "at", "signal", "state_after", name="pk_drift_changes"
        ),
        sa.CheckConstraint(
            f"state_after IN {_DRIFT_STATES}", name=op.f("ck_drift_changes_state_after")
        ),
    )
    op.create_index("ix_drift_changes_at", "drift_changes", ["at"])


def _create_breaches() -> None:
    op.create_table(
        "threshold_states",
        *_series(),
        sa.Column("threshold", _key(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("value", sa.Double()),
        sa.Column("limit_value", sa.Double()),
        sa.Column("level", sa.Double()),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("evaluated_at", _time(), nullable=False),
        sa.Column("stored", _json(), nullable=False),
        sa.PrimaryKeyConstraint(
            "service", "model", "category", "threshold", name="pk_threshold_states"
        ),
        sa.CheckConstraint(
            "state IN ('ok', 'pending', 'open', 'resolved')",
            name=op.f("ck_threshold_states_state"),
        ),
        sa.CheckConstraint("number >= 0", name=op.f("ck_threshold_states_number")),
    )
    op.create_table(
        "breaches",
        sa.Column("id", _key(), nullable=False),
        sa.Column("threshold", _key(), nullable=False),
        *_series(),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("signal", sa.Text(), nullable=False),
        sa.Column("statistic", sa.Text(), nullable=False),
        sa.Column("comparison", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("exceeded_since", _time(), nullable=False),
        sa.Column("opened_at", _time(), nullable=False),
        sa.Column("resolved_at", _time()),
        sa.Column("value", sa.Double()),
        sa.Column("worst", sa.Double()),
        sa.Column("limit_value", sa.Double()),
        sa.Column("window_seconds", sa.Double(), nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("acknowledged_at", _time()),
        sa.Column("acknowledged_by", sa.Text()),
        sa.Column("note", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_breaches"),
        sa.UniqueConstraint(
            "threshold", "service", "model", "category", "number", name="uq_breaches_number"
        ),
        sa.CheckConstraint("state IN ('open', 'resolved')", name=op.f("ck_breaches_state")),
        sa.CheckConstraint(
            "(state = 'resolved') = (resolved_at IS NOT NULL)", name=op.f("ck_breaches_resolved")
        ),
    )
    op.create_index("ix_breaches_opened", "breaches", ["opened_at", "id"])
    op.create_index(
        "ix_breaches_series", "breaches", ["service", "model", "category", "opened_at", "id"]
    )
    op.create_index(
        "ix_breaches_open",
        "breaches",
        ["opened_at", "id"],
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "breach_contributors",
        sa.Column("breach_id", _key(), nullable=False),
        sa.Column("record_id", _key(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("release", sa.Text()),
        sa.Column("mark", sa.Boolean()),
        sa.Column("marked_by", sa.Text()),
        sa.Column("marked_at", _time()),
        sa.ForeignKeyConstraint(
            ["breach_id"],
            ["breaches.id"],
            ondelete="CASCADE",
            name="fk_breach_contributors_breach_id",
        ),
        sa.PrimaryKeyConstraint("breach_id", "record_id", name="pk_breach_contributors"),
        sa.CheckConstraint("weight > 0", name=op.f("ck_breach_contributors_weight")),
    )
    op.create_index("ix_breach_contributors_record", "breach_contributors", ["record_id"])
