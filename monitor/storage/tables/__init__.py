"""The tables of records and their results, once, for both databases.

    records ─┬─ scores          one row, once a scorer finished the record
             ├─ perturbations   its reworded documents, their summaries and distances
             ├─ null_runs       more summaries of the unchanged document
             └─ attributions    what its words are worth, by method

`shared_tables` and its siblings hold the rest; the same `metadata` describes all of them.

Child rows go with their record (`ON DELETE CASCADE`). Calibrations are named by scores
without a foreign key: a score must never be refused because the calibration it was made
with was not stored in this database.
"""

from monitor.storage.tables.attribution import attributions
from monitor.storage.tables.naming import metadata
from monitor.storage.tables.record import (
    ERASED,
    FINAL_STATES,
    IS_ERASABLE,
    IS_OPEN,
    IS_UNOBSERVED,
    records,
)
from monitor.storage.tables.run import null_runs, perturbations
from monitor.storage.tables.score import scores

__all__ = [
    "ERASED",
    "FINAL_STATES",
    "IS_ERASABLE",
    "IS_OPEN",
    "IS_UNOBSERVED",
    "attributions",
    "metadata",
    "null_runs",
    "perturbations",
    "records",
    "scores",
]
