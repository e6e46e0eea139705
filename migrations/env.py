"""Alembic's entry point: migrates the connection that it is handed.

`monitor.storage.schema.upgrade` opens the transaction and takes the lock; the whole
upgrade is part of it, on SQLite too. To write a new revision:

    hss-monitor db upgrade
    python - <<'PY'
    from alembic import command
    from monitor.storage.engine import connect
    from monitor.storage.schema import alembic_config
    with connect("sqlite:///hss-monitor.db").write() as connection:
        config = alembic_config(connection)
        command.revision(config, "Say what it does", autogenerate=True)
    PY
"""

from __future__ import annotations

from alembic import context

from monitor.errors import UsageError
from monitor.storage import finding_tables, outlet_tables, shared_tables, tables

# Each of these modules adds its tables to the one metadata when it is imported.
TABLES = (tables, shared_tables, finding_tables, outlet_tables)

connection = context.config.attributes.get("connection")
if connection is None:
    raise UsageError("migrations: no connection was handed over; run `hss-monitor db upgrade`")

context.configure(
    connection=connection,
    target_metadata=tables.metadata,
    compare_type=True,
    # SQLite alters a table by copying it.
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    context.run_migrations()
