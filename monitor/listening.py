"""The front's one socket."""

from __future__ import annotations

import socket

from monitor.errors import DependencyUnavailable
from monitor.settings import Settings


def listening(settings: Settings) -> socket.socket:
    """The listening socket, made before anything else starts: a taken port is found at once."""
    family = socket.AF_INET6 if ":" in settings.http.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.http.host, settings.http.port))
        # Bound alone, a second front that starts now could still bind the same port.
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise DependencyUnavailable(
            f"http.port: {settings.http.host}:{settings.http.port} cannot be listened on "
            f"({error.strerror}); stop what uses it, or set another http.port or http.host"
        ) from None
    return listener
