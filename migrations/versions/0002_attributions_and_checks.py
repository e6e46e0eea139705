"""Add attributions of words, their instability, and the factual comparators."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"

_METHODS = ("shap", "lime", "smile", "attention")
# As in revision 0001, with the new signals at the end. `attribution_weight` is the weight of a
# record in a mean over *explained* records: the policy may prefer those with a high HSS.
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
    1.0 / r.probability AS weight,
    s.content_word_precision,
    s.summac,
    s.factcc,
    s.shap_instability,
    s.shap_noise_floor,
    s.lime_instability,
    s.lime_noise_floor,
    s.smile_instability,
    s.smile_noise_floor,
    s.attention_instability,
    1.0 / (r.probability * s.attribution_probability) AS attribution_weight
FROM scores AS s
JOIN records AS r ON r.id = s.record_id
WHERE r.state = 'scored'
"""


def _key() -> sa.types.TypeEngine[str]:
    """Ordered by code point in both databases."""
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def _json() -> sa.types.TypeEngine[str]:
    return sa.Text().with_variant(postgresql.JSON(), "postgresql")


def _unix(column: str) -> str:
    """SQL for whole seconds since 1970."""
    if op.get_bind().dialect.name == "postgresql":
        return f"CAST(FLOOR(EXTRACT(EPOCH FROM {column})) AS BIGINT)"
    return f"CAST(strftime('%s', {column}) AS INTEGER)"


def upgrade() -> None:
    columns: list[tuple[str, sa.types.TypeEngine[object]]] = [
        ("checks", _json()),
        ("content_word_precision", sa.Double()),
        ("summac", sa.Double()),
        ("factcc", sa.Double()),
        ("attribution_probability", sa.Double()),
        ("attribution_value", sa.Text()),
        ("attribution_spans", _json()),
    ]
    for method in _METHODS:
        columns += [
            (f"{method}_instability", sa.Double()),
            (f"{method}_noise_floor", sa.Double()),
            (f"{method}_reason", sa.Text()),
        ]
    for name, kind in columns:
        # Not by copying the table, as a batch would do: both databases just note the column.
        op.add_column("scores", sa.Column(name, kind))
    op.create_table(
        "attributions",
        sa.Column("record_id", _key(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("instability", sa.Double()),
        sa.Column("absolute", sa.Double()),
        sa.Column("one_minus_spearman", sa.Double()),
        sa.Column("one_minus_cosine", sa.Double()),
        sa.Column("noise_floor", sa.Double()),
        sa.Column("compared", sa.Integer(), nullable=False),
        sa.Column("evaluations", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("explanations", _json(), nullable=False),
        sa.Column("weights", sa.LargeBinary()),
        sa.ForeignKeyConstraint(
            ["record_id"], ["records.id"], ondelete="CASCADE", name="fk_attributions_record_id"
        ),
        sa.PrimaryKeyConstraint("record_id", "method", name="pk_attributions"),
    )
    op.execute(sa.text("DROP VIEW oncall_scores"))
    op.execute(
        sa.text(
            _ONCALL_SCORES.format(
                received_unix=_unix("r.received_at"), scored_unix=_unix("s.scored_at")
            )
        )
    )
