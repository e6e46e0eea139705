"""Services whose certificate a company signs itself (`summarizer.*.ca_file`)."""

from __future__ import annotations

import ipaddress
import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from monitor.errors import ConfigurationError
from monitor.records import Reason, Summary, SummaryTask
from monitor.settings import Settings
from monitor.summarizers import remote_summarizer


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody but itself has signed, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = tmp_path / "service.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


class _Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"summary": "The council agreed."}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    """An HTTPS service with that certificate."""
    server = HTTPServer(("127.0.0.1", 0), _Answering)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


def _summary(url: str, ca_file: Path | None) -> Summary:
    summarizer = remote_summarizer(
        Settings.model_validate(
            {
                "summarizer": {
                    "kind": "http",
                    "attempts": 1,
                    "http": {"url": url, "ca_file": ca_file},
                }
            }
        )
    )
    assert summarizer is not None
    text = "The council met on Monday and agreed."
    return summarizer.summarize([SummaryTask(document=text, original_document=text)])[0]


def test_a_named_authority_is_trusted(url: str, certificate: Path) -> None:
    """Inside a company hardly any service has a certificate of a public authority."""
    assert _summary(url, certificate).text == "The council agreed."


def test_an_authority_that_is_not_named_is_not_trusted(
    url: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the environment names it: texts go where the configuration says."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert _summary(url, None).reason is Reason.SUMMARIZER_ERROR


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_that_holds_no_certificate_is_named(tmp_path: Path, content: str | None) -> None:
    """Before the sidecar starts, not at the first call."""
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError, match=r"^summarizer\.http\.ca_file: .*ca\.pem.*PEM"):
        _summary("https://127.0.0.1:1/", file)
