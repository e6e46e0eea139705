"""What a shell is told: 0 ok, 1 finding, 2 usage, 3 dependency, 70 internal error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import monitor


def test_the_version_is_printed(cli: Any) -> None:
    """The first thing that a bug report needs."""
    result = cli("--version")
    assert (result.code, result.out, result.err) == (0, f"{monitor.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nope"], "nope"),
        (["records", "list", "--nope"], "--nope"),
        (["records", "list", "--limit", "0"], "--limit"),
        (["records", "list", "--since", "yesterday"], "--since"),
        (["records", "list", "--state", "done"], "'queued'"),
        (["records", "list", "--reason", "bad"], "'too_long'"),
        (["records", "show", "unknown"], "records list"),
        (["records", "show"], "record"),
        (["ingest", "missing.jsonl"], "missing.jsonl"),
        (["score"], "--document"),
        (["score", "--document", "missing.txt"], "--document"),
        (["score", "--document", "-", "--summary", "-"], "--summary"),
        (
            ["thresholds", "preview", "hss_mean", "--limit", "nan"],
            "limit.value: nan cannot be used",
        ),
        (["score", "--batch", "missing.jsonl"], "--batch"),
        (["calibrations", "activate", "none"], "calibrations list"),
        (["calibrations", "compare", "none", "none"], "calibrations list"),
        (["calibrate"], "no scored record"),
        (["config", "check", "--config", "missing.yaml"], "missing.yaml"),
    ],
)
def test_wrong_arguments_are_2(cli: Any, arguments: list[str], word: str) -> None:
    """The message names what was wrong, and nothing is on standard output."""
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert word in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["breaches", "ack", "x"], "--name: is missing; see `hss-monitor breaches ack --help`"),
        (["export"], "--out: is missing; see `hss-monitor export --help`"),
        (["records", "show"], "RECORD: is missing; see `hss-monitor records show --help`"),
        (["records", "retry", "nosuch"], "nosuch: no such record; see `hss-monitor records list`"),
    ],
)
def test_what_is_missing_is_refused_as_everything_else(
    cli: Any, arguments: list[str], told: str
) -> None:
    """Key, problem and remedy in one line, whoever parses it; 2, as a wrong id is."""
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert "Usage:" not in result.err


@pytest.mark.parametrize(
    "group",
    [
        "", "records", "db", "config", "models", "calibrations", "drift", "thresholds",
        "breaches",
    ],
)  # fmt: skip
def test_a_group_without_a_command_shows_its_help(cli: Any, group: str) -> None:
    """As an error: a script that forgot the command must not think that it worked."""
    result = cli(*group.split())
    assert (result.code, result.out) == (2, "")
    assert "Commands:" in result.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("htp: {}", ["htp", "'http'"]),
        ("http: {prt: 1}", ["http.prt", "'port'"]),
        ("http: {port: 99999}", ["http.port", "99999"]),
        ("sampling: {rate: 2}", ["sampling.rate", "2"]),
        ("summarizer: {kind: chat}", ["summarizer", "chat.url"]),
        ("database: {url: 'mysql://h/x'}", ["database.url", "mysql", "postgresql"]),
        ("database: {url: 'sqlite:////no/such/folder/x.db'}", ["database.url", "/no/such/folder"]),
        (
            "{database: {url: 'sqlite:///hss.db'}, storage: {hash_key_file: /no/such/folder/key}}",
            ["storage.hash_key_file"],
        ),
        ("http: [", ["YAML", "line"]),
        ("- a list", ["list", "http"]),
    ],
)
def test_a_wrong_configuration_is_2(
    cli: Any, config_file: Path, text: str, words: list[str]
) -> None:
    """Key, value and remedy, from any command."""
    config_file.write_text(text)
    result = cli("records", "list")
    assert (result.code, result.out) == (2, "")
    for word in words:
        assert word in result.err


def test_an_unknown_key_in_the_environment_is_2(cli: Any, monkeypatch: Any) -> None:
    """A typo in a deployment must not silently leave the default in force."""
    monkeypatch.setenv("HSS_MONITOR__SAMPLING__RAET", "0.1")
    result = cli("config", "check")
    assert result.code == 2
    assert "HSS_MONITOR__SAMPLING__RAET" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["db", "check"],
        ["db", "prune"],
        ["records", "list"],
        ["records", "retry", "x"],
        ["breaches", "list"],
        ["drift", "show"],
        ["thresholds", "show"],
        ["thresholds", "preview", "hss_mean"],
        ["calibrations", "list"],
        ["calibrate"],
        ["audit", "list"],
        ["export", "--out", "-"],
        ["doctor"],
        ["scorer"],
        ["evaluator", "--front", "f"],
    ],
)
def test_who_only_looks_is_told_that_the_database_is_missing(
    cli: Any, config_file: Path, arguments: list[str]
) -> None:
    """Started in the wrong folder it would otherwise make an empty one, and answer from it; and a
    scorer that starts again would put an empty one where that of its front was deleted."""
    config_file.with_name("hss.db").unlink()
    result = cli(*arguments)
    assert (result.code, result.out) == (3, "")
    assert f"database.url: there is no file {config_file.with_name('hss.db')}" in result.err
    assert [file.name for file in config_file.parent.iterdir()] == [config_file.name]


@pytest.mark.parametrize(
    "arguments", [["records", "list"], ["db", "check"], ["db", "upgrade"], ["run"]]
)
def test_a_database_that_cannot_be_opened_is_3(
    cli: Any, config_file: Path, monkeypatch: Any, arguments: list[str]
) -> None:
    """The message names the database."""
    (config_file.parent / "folder.db").mkdir()
    monkeypatch.setenv("HSS_MONITOR__DATABASE__URL", f"sqlite:///{config_file.parent}/folder.db")
    monkeypatch.setenv("HSS_MONITOR__HTTP__PORT", "0")
    monkeypatch.setattr("signal.signal", lambda *_: None)
    result = cli(*arguments)
    assert (result.code, result.out) == (3, "")
    assert "folder.db" in result.err
    assert "Traceback" not in result.err


def test_a_server_that_does_not_answer_is_3_without_its_password(
    cli: Any, monkeypatch: Any
) -> None:
    """Messages are copied into tickets."""
    pytest.importorskip("psycopg")
    monkeypatch.setenv("HSS_MONITOR__DATABASE__URL", "postgresql://u:hunter2@127.0.0.1:1/x")
    result = cli("records", "list")
    assert result.code == 3
    assert "127.0.0.1" in result.err
    assert "hunter2" not in result.err


def _listing(config_file: Path, *more: str, stdout: Any = subprocess.PIPE) -> Any:
    """`records list` as a process of its own, on a terminal that knows ASCII only."""
    command = [sys.executable, "-m", "monitor", "records", "list", "--config", str(config_file)]
    return subprocess.run(
        [*command, *more],
        cwd=Path(monitor.__file__).parents[1],
        env={"LC_ALL": "C", "PYTHONUTF8": "0"},
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )


def test_a_terminal_without_unicode_is_no_crash(config_file: Path, add_records: Any) -> None:
    """Tables lose what it cannot show; JSON loses nothing."""
    add_records([{"document": "d", "summary": "s", "service": "näws😀", "model": "m"}])
    table, lines = _listing(config_file), _listing(config_file, "--json")
    assert (table.returncode, lines.returncode) == (0, 0)
    assert b"n?ws?" in table.stdout
    assert json.loads(lines.stdout)["service"] == "näws😀"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is full")
def test_a_full_disk_behind_standard_output_is_3(config_file: Path, add_records: Any) -> None:
    """`> file` on it is no defect of ours."""
    add_records([{"document": "d", "summary": "s", "service": "s", "model": "m"}])
    with Path("/dev/full").open("w") as full:
        ended = _listing(config_file, "--json", stdout=full)
    assert ended.returncode == 3
    assert b"No space left on device" in ended.stderr
    assert b"Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is full")
def test_a_full_disk_behind_standard_error_changes_no_exit_code() -> None:
    """Python's own would be 1, a finding, and somebody would be called for it."""
    command = [sys.executable, "-m", "monitor", "config", "check", "--config", "missing.yaml"]
    with Path("/dev/full").open("w") as full:
        assert subprocess.run(command, stderr=full, check=False).returncode == 2


def test_a_taken_port_is_3_and_names_the_key(config_file: Path) -> None:
    """A process of its own: `run` changes signal handlers and memory settings."""
    config_file.write_text(config_file.read_text().replace("port: 1", "port: 0"))
    command = [sys.executable, "-m", "monitor", "run", "--config", str(config_file)]
    environment = {"HSS_MONITOR__EXECUTION__BACKEND": "none"}
    root = Path(monitor.__file__).parents[1]
    first = subprocess.Popen(command, cwd=root, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert first.stderr is not None
        with first.stderr as log:
            port = next(line for line in log if "listening" in line).split('"port": ')[1]
            number = port.split(",")[0]
            second = subprocess.run(
                command,
                cwd=root,
                env={**environment, "HSS_MONITOR__HTTP__PORT": number},
                capture_output=True,
                text=True,
                check=False,
            )
    finally:
        first.kill()
        first.wait()
    assert (second.returncode, second.stdout) == (3, "")
    assert "http.port" in second.stderr
    assert number in second.stderr


def test_a_key_that_was_cut_off_is_2_and_named(cli: Any, config_file: Path) -> None:
    """A disk that was full when it was copied leaves such a file."""
    key = Path(yaml.safe_load(config_file.read_text())["storage"]["hash_key_file"])
    key.write_bytes(b"1234567")
    told = cli("records", "list")
    assert told.code == 2
    assert f"storage.hash_key_file: '{key}' holds 7 bytes" in told.err


def test_a_position_that_cannot_be_read_is_2(config_file: Path, tmp_path: Path) -> None:
    """It is read before the server starts, which would print a traceback and end with 3."""
    (tmp_path / "position").write_text("{")
    values = yaml.safe_load(config_file.read_text()) | {
        "http": {"port": 0},
        "ingest": {"tail": {"file": "log", "position_file": str(tmp_path / "position")}},
    }
    config_file.write_text(yaml.safe_dump(values))
    command = [sys.executable, "-m", "monitor", "run", "--config", str(config_file)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)
    assert "ingest.tail.position_file" in ended.stderr
    assert "delete it to read the log from its beginning" in ended.stderr


def test_a_folder_instead_of_a_log_is_2(cli: Any, config_file: Path, tmp_path: Path) -> None:
    """It would look like a log to which nothing is ever written."""
    values = yaml.safe_load(config_file.read_text()) | {
        "http": {"port": 0},
        "ingest": {"tail": {"file": str(tmp_path)}},
        "execution": {"backend": "none"},
    }
    config_file.write_text(yaml.safe_dump(values))
    told = cli("run")
    assert told.code == 2
    assert f"ingest.tail.file: '{tmp_path}' is a folder" in told.err


def test_a_defect_is_70(cli: Any, monkeypatch: Any) -> None:
    """Typer's own 1 would read as a finding."""

    def broken(path: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("monitor.configuration.load", broken)
    result = cli("config", "check")
    assert (result.code, result.out) == (70, "")
    assert "internal error" in result.err


def test_an_interrupted_command_is_130(cli: Any, monkeypatch: Any) -> None:
    """As the shell does it for all others."""

    def interrupted(path: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("monitor.configuration.load", interrupted)
    assert cli("config", "check").code == 130


def test_a_reader_that_has_enough_is_no_finding(config_file: Path) -> None:
    """`… | head` closes the pipe while we still write."""
    script = f"{sys.executable} -m monitor config sample | true; exit ${{PIPESTATUS[0]}}"
    root = Path(monitor.__file__).parents[1]
    told = subprocess.run(
        ["bash", "-c", script], cwd=root, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"]])
def test_a_finding_is_1(cli: Any, arguments: list[str]) -> None:
    """No sidecar answers here, and that is what was asked."""
    assert cli(*arguments).code == 1


CANNOT_SCORE: list[tuple[dict[str, Any], str]] = [
    (
        {"summarizer": {"kind": "chat", "chat": {"url": "ftp://llm.example", "model": "m"}}},
        "summarizer.chat.url",
    ),
    (
        {"summarizer": {"kind": "http", "http": {"url": "http://llm.example", "body": "{"}}},
        "summarizer.http.body",
    ),
    (
        {"summarizer": {"kind": "replay", "replay": {"url": "http://x", "api_key_file": "no"}}},
        "summarizer.replay.api_key_file",
    ),
    ({"summarizer": {"kind": "causal", "causal": {"prompt": "x"}}}, "summarizer.causal.prompt"),
    ({"attribution": {"value": "likelihood"}}, "attribution.value"),
    ({"storage": {"mode": "hash_only"}, "execution": {"backend": "none"}}, "storage.mode"),
]
"""What no scorer could work with, and the key that the message names."""


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"access": {"viewer_token": "a-token", "ingest_token": "a-token"}}, "same token"),
        ({"access": {"viewer_token_file": "not-there"}}, "access.viewer_token_file"),
        ({"outlets": {"webhook": {"url": "https://hook.example"}}}, "outlets.webhook.secret"),
        ({"outlets": {"events": {"url": "ftp://events.example"}}}, "outlets.events.url"),
        ({"outlets": {"events": {"url": "http://events..example"}}}, "outlets.events.url"),
        (
            {"outlets": {"events": {"url": "http://x", "headers": {"authorization": "Bearer →"}}}},
            "outlets.events.headers: 'authorization'",
        ),
        ({"categories": {"rules": [{"category": "a", "pattern": "("}]}}, "rules[0].pattern"),
        (
            {"ingest": {"extraction": {"rule": "regex", "pattern": "(?P<document>"}}},
            "ingest.extraction.pattern",
        ),
        *CANNOT_SCORE,
    ],
)
def test_what_run_would_refuse_the_check_refuses_too(
    cli: Any, tmp_path: Path, section: dict[str, Any], told: str
) -> None:
    """A deployment checks its configuration before it replaces what runs."""
    file = tmp_path / "other.yaml"
    file.write_text(yaml.safe_dump(section))
    result = cli("config", "check", "--config", str(file))
    assert (result.code, told in result.err) == (2, True)


@pytest.mark.parametrize("command", [["run"], ["config", "check"]])
@pytest.mark.parametrize(
    ("variable", "value"), [("SSL_CERT_FILE", "/nowhere"), ("ALL_PROXY", "what://user:word@x")]
)
def test_an_environment_that_outlets_cannot_use_is_2(
    cli: Any, tmp_path: Path, monkeypatch: Any, command: list[str], variable: str, value: str
) -> None:
    """It is the machine's, not ours, and an address may hold a password."""
    monkeypatch.setenv(variable, value)
    file = tmp_path / "other.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "database": {"url": f"sqlite:///{tmp_path / 'other.db'}"},
                "storage": {"hash_key_file": str(tmp_path / "other.key")},
                "outlets": {"events": {"url": "http://x"}},
                "http": {"port": 0},
            }
        )
    )
    result = cli(*command, "--config", str(file))
    assert (result.code, variable in result.err, "word" in result.err) == (2, True, False)


@pytest.mark.parametrize(("section", "told"), CANNOT_SCORE)
def test_run_refuses_what_its_scorers_would_die_of(
    cli: Any, tmp_path: Path, section: dict[str, Any], told: str
) -> None:
    """Else a sidecar that looks healthy would queue what nobody ever scores."""
    file = tmp_path / "other.yaml"
    file.write_text(yaml.safe_dump(section))
    result = cli("run", "--config", str(file))
    assert (result.code, told in result.err) == (2, True)
