"""Keep the tables of a database as this version needs them.

SQLite belongs to one installation and is brought up to date by whoever opens it first.
PostgreSQL is shared: it is changed by an explicit `hss-monitor db upgrade` only, and
everything else refuses to run on a schema that is not the one it knows.

The whole upgrade is one transaction behind one lock, so any number of processes may call
it at once: the first upgrades, the others wait and find nothing left to do; one that is
killed halfway leaves the old schema.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from monitor.errors import DependencyUnavailable, MonitorError, SchemaOutdated
from monitor.storage.engine import Database

# Any fixed number will do; it must only be the same in all processes.
_UPGRADE_LOCK = 0x68_73_73_01


def migrations_folder() -> Path:
    """Where the migrations are: inside an installed wheel, else beside the source tree."""
    packaged = Path(str(files("monitor") / "_migrations"))
    source = Path(str(files("monitor"))).parent / "migrations"
    for folder in (packaged, source):
        if (folder / "env.py").is_file():
            return folder
    raise MonitorError(f"migrations: neither {packaged} nor {source} exists; install again")


def head_revision() -> str:
    """The revision that this version needs."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    if head is None:
        raise MonitorError("migrations: the folder holds no revision; install again")
    return head


def current_revision(database: Database) -> str | None:
    """The revision that the database has; None for one without our tables."""
    with database.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def schema_is_current(database: Database) -> bool:
    return current_revision(database) == head_revision()


def upgrade(database: Database) -> None:
    """Bring the schema up to date; does nothing where it is.

    Raises:
        DependencyUnavailable: the schema was made by a newer version.
    """
    if schema_is_current(database):
        return
    with database.write() as connection:
        if not database.is_sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_UPGRADE_LOCK)))
        _refuse_newer(MigrationContext.configure(connection).get_current_revision(), database)
        command.upgrade(alembic_config(connection), "head")


def prepare(database: Database) -> None:
    """Before work: SQLite is brought up to date, PostgreSQL must be up to date.

    Raises:
        SchemaOutdated: PostgreSQL has no schema or an old one.
        DependencyUnavailable: the schema was made by a newer version.
    """
    if database.is_sqlite:
        upgrade(database)
        return
    current, head = current_revision(database), head_revision()
    if current == head:
        return
    _refuse_newer(current, database)
    raise SchemaOutdated(
        f"database {database.url}: the schema is at revision {current or 'none'}, this version "
        f"needs {head}; run `hss-monitor db upgrade`"
    )


def _refuse_newer(current: str | None, database: Database) -> None:
    known = {
        script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()
    }
    if current is not None and current not in known:
        raise DependencyUnavailable(
            f"database {database.url}: the schema is at revision {current}, which this version "
            "does not know; update hss-monitor, or name another database in database.url"
        )


def alembic_config(connection: sa.Connection | None = None) -> Config:
    """Alembic's configuration, which needs no file; `connection` is what it migrates."""
    config = Config()
    # A percent sign would be read as interpolation.
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    # Said outright: Alembic warns where it has to guess how paths are separated.
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
