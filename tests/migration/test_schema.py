"""The migrations lead to the tables that the code speaks of, and lose no data."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from monitor.errors import DependencyUnavailable, SchemaOutdated
from monitor.findings import Series
from monitor.storage import outlet_tables, schema
from monitor.storage.engine import Database, connect
from monitor.storage.series import list_series
from monitor.storage.shared_tables import meta

metadata = outlet_tables.metadata


@pytest.fixture
def empty(empty_database_url: str) -> Any:
    database = connect(empty_database_url)
    yield database
    database.close()


def checks_and_predicates(connection: sa.Connection) -> dict[str, Any]:
    """What Alembic's comparison does not look at: constraints and partial indexes."""
    inspector = sa.inspect(connection)
    found: dict[str, Any] = {}
    for table in inspector.get_table_names():
        if table == "alembic_version":
            continue
        found[table] = (
            sorted(
                (check["name"], check["sqltext"])
                for check in inspector.get_check_constraints(table)
            ),
            sorted(
                (
                    index["name"],
                    index["column_names"],
                    sorted(str(option) for option in index.get("dialect_options", {}).values()),
                )
                for index in inspector.get_indexes(table)
            ),
            [(key["name"], key["options"]) for key in inspector.get_foreign_keys(table)],
            sorted(
                (key["name"], key["column_names"])
                for key in inspector.get_unique_constraints(table)
            ),
            inspector.get_pk_constraint(table)["name"],
        )
    return found


def test_the_upgraded_schema_equals_the_models(empty: Database) -> None:
    """A column that is added to the models alone would fail in production only."""
    schema.upgrade(empty)
    with empty.read() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []


def test_constraints_and_partial_indexes_equal_the_models(empty: Database) -> None:
    """Alembic compares neither, so both schemas are read back and compared here."""
    schema.upgrade(empty)
    with empty.read() as connection:
        migrated = checks_and_predicates(connection)
    with empty.write() as connection:
        for view in ("oncall_scores", "oncall_breaches", "oncall_records"):
            connection.execute(sa.text(f"DROP VIEW {view}"))
        metadata.drop_all(connection)
        metadata.create_all(connection)
    with empty.read() as connection:
        assert migrated == checks_and_predicates(connection)


def test_data_survives_every_step(empty: Database) -> None:
    """Upgrading step by step and again at the head leaves what was stored."""
    revisions = [
        script.revision
        for script in ScriptDirectory.from_config(schema.alembic_config()).walk_revisions()
    ][::-1]
    with empty.write() as connection:
        command.upgrade(schema.alembic_config(connection), revisions[0])
    with empty.write() as connection:
        connection.execute(sa.insert(meta), {"key": "salt", "value": "kept"})
    schema.upgrade(empty)
    schema.upgrade(empty)
    assert schema.schema_is_current(empty)
    with empty.read() as connection:
        assert connection.execute(sa.select(meta.c.value)).scalar_one() == "kept"


def test_records_of_an_older_version_belong_to_a_series(empty: Database) -> None:
    """Indexes are made over what is there; the first evaluation begins with it."""
    with empty.write() as connection:
        command.upgrade(schema.alembic_config(connection), "0002")
        connection.execute(
            sa.text(
                "INSERT INTO records (id, state, detail, service, model, received_at, "
                "finished_at, content_mode, document_hash, summary_hash, content_bytes, "
                "stratum_service, stratum_model, stratum_category, probability, "
                "upstream_probability, epoch, front, attempts, not_before) VALUES ('r1', "
                "'scored', '', 's', 'm', :at, :at, 'full', '', '', 1, 's', 'm', '', 1, 1, 1, "
                "'f', 1, :at)"
            ),
            {"at": "2026-03-01 12:00:00.000000"},
        )
    schema.upgrade(empty)
    series = Series(service="s", model="m", category="")
    assert list_series(empty) == [(series, 1)]


def test_sqlite_is_upgraded_by_itself_and_postgresql_is_not(empty: Database) -> None:
    """A shared database is changed by an explicit act only."""
    if empty.is_sqlite:
        schema.prepare(empty)
        assert schema.schema_is_current(empty)
        return
    with pytest.raises(SchemaOutdated, match=r"revision none.*`hss-monitor db upgrade`"):
        schema.prepare(empty)
    assert schema.current_revision(empty) is None
    schema.upgrade(empty)
    schema.prepare(empty)


def test_a_schema_of_a_newer_version_is_refused(empty: Database) -> None:
    """An old sidecar must not write into tables that it does not know."""
    schema.upgrade(empty)
    with empty.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    for call in (schema.upgrade, schema.prepare):
        with pytest.raises(DependencyUnavailable, match=r"9999.*update hss-monitor"):
            call(empty)


def test_an_upgrade_that_fails_leaves_the_schema_as_it_was(
    empty: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole upgrade is one transaction, on SQLite too."""
    schema.upgrade(empty)
    folder = tmp_path / "migrations"
    shutil.copytree(schema.migrations_folder(), folder)
    (folder / "versions" / "0002_broken.py").write_text(
        "from alembic import op\n"
        "revision = 'broken'\n"
        f"down_revision = {schema.head_revision()!r}\n"
        "def upgrade():\n"
        "    op.drop_table('meta')\n"
        "    raise RuntimeError('in the middle')\n"
    )
    before = schema.current_revision(empty)
    monkeypatch.setattr(schema, "migrations_folder", lambda: folder)
    with pytest.raises(RuntimeError, match="in the middle"):
        schema.upgrade(empty)
    assert schema.current_revision(empty) == before
    with empty.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(meta)).scalar() == 0


def test_packaged_migrations_go_before_those_of_the_source_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed wheel has them inside the package, a checkout beside it."""
    package = tmp_path / "monitor"
    package.mkdir()
    monkeypatch.setattr(schema, "files", lambda name: tmp_path / name)
    source = tmp_path / "migrations"
    source.mkdir()
    (source / "env.py").touch()
    assert schema.migrations_folder() == source
    (package / "_migrations").mkdir()
    (package / "_migrations" / "env.py").touch()
    assert schema.migrations_folder() == package / "_migrations"
