"""Databases for every test that needs one: SQLite files and a private PostgreSQL cluster."""

from __future__ import annotations

import logging
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import structlog

from monitor.storage.engine import Database, connect
from monitor.storage.schema import upgrade

_TEMPLATE = "hss_template"


class Cluster:
    """A PostgreSQL server of our own, reached by a unix socket; nothing listens on a port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made = 0

    def url(self, name: str) -> str:
        return f"postgresql://hss@/{name}?host={self.folder}"

    def create(self, template: str) -> str:
        """The URL of a new database that is a copy of a template."""
        self._made += 1
        name = f"test_{self._made}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def drop(self, url: str) -> None:
        self._execute(f"DROP DATABASE {url.split('?')[0].rsplit('/', 1)[1]} WITH (FORCE)")

    def rename(self, url: str, name: str) -> None:
        self._execute(f"ALTER DATABASE {url.split('?')[0].rsplit('/', 1)[1]} RENAME TO {name}")

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


def _binaries() -> Path:
    """The folder of `initdb`; skips where PostgreSQL's server is not installed."""
    tool = shutil.which("pg_config")
    if tool is None:
        pytest.skip("PostgreSQL is not installed: pg_config is not on the path")
    folder = Path(subprocess.check_output([tool, "--bindir"], text=True).strip())
    if not (folder / "initdb").exists():
        pytest.skip(f"PostgreSQL's server is not installed: no initdb in {folder}")
    return folder


def _server_user() -> str | None:
    """PostgreSQL refuses to run as root: then it runs as somebody else."""
    if os.getuid() != 0:
        return None
    users = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in users else "nobody"


@pytest.fixture(autouse=True)
def logs_end_with_their_test() -> Iterator[None]:
    """A command sends logs to the standard error of its test, which is closed afterwards."""
    yield
    if structlog.is_configured():
        structlog.reset_defaults()
        logging.getLogger().handlers.clear()


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[Cluster]:
    binaries, user = _binaries(), _server_user()
    # Not pytest's folder: a socket's path may have 107 bytes, and root's folders are closed.
    folder = Path(tempfile.mkdtemp(prefix="hss-pg-", dir="/tmp"))
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"

    def run(*command: str | Path) -> None:
        subprocess.run(
            command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120
        )

    try:
        run(binaries / "initdb", "-D", data, "-U", "hss", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=60"
        control = binaries / "pg_ctl"
        run(control, "-D", data, "-l", folder / "log", "-o", options, "-w", "start")
        try:
            yield Cluster(folder)
        finally:
            run(control, "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_template(postgres_cluster: Cluster) -> str:
    """The name of a database with the current schema; copying it is faster than migrating."""
    url = postgres_cluster.create("template1")
    database = connect(url)
    upgrade(database)
    database.close()
    postgres_cluster.rename(url, _TEMPLATE)
    return _TEMPLATE


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables, of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'test.db'}"
        return
    cluster: Cluster = request.getfixturevalue("postgres_cluster")
    url = cluster.create("template1")
    yield url
    cluster.drop(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database with the current schema, of each kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'test.db'}"
        database = connect(url)
        upgrade(database)
        database.close()
        yield url
        return
    cluster: Cluster = request.getfixturevalue("postgres_cluster")
    url = cluster.create(request.getfixturevalue("postgres_template"))
    yield url
    cluster.drop(url)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The same, open; after the test no connection may be left in use."""
    database = connect(database_url)
    yield database
    leaked = database.engine.pool.checkedout()  # type: ignore[attr-defined]  # QueuePool's
    database.close()
    assert leaked == 0
