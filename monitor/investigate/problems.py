"""What a reader is told when something cannot be shown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from monitor.errors import DatabaseUnavailable, MonitorError, UsageError

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Page = Callable[[Request, int, str, str], Response]
"""From request, status, title and problem."""
FORM_BYTES: Final = 64 * 1024


class NotStored(MonitorError):
    """What was asked for is not stored, or not any more."""

    exit_code = 2


class JsonRoute(APIRoute):
    """A route that tells problems as `{"detail": …}`."""

    def get_route_handler(self) -> Handler:
        return _telling(super().get_route_handler(), _json)


def page_route(page: Page) -> type[APIRoute]:
    """The class of routes that tell problems as a page."""

    class PageRoute(APIRoute):
        def get_route_handler(self) -> Handler:
            return _telling(super().get_route_handler(), page)

    return PageRoute


def _json(request: Request, status: int, title: str, problem: str) -> Response:
    del request, title
    return JSONResponse({"detail": problem}, status)


def _telling(handler: Handler, tell: Page) -> Handler:
    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except NotStored as error:
            return tell(request, 404, "Not found", str(error))
        except UsageError as error:
            return tell(request, 400, "That cannot be asked for", str(error))
        except RequestValidationError as error:
            problem = "; ".join(map(_problem, error.errors()))
            return tell(request, 400, "That cannot be asked for", problem)
        except DatabaseUnavailable as error:
            return tell(request, 503, "The database does not answer", str(error))

    return handle


def _problem(error: Mapping[str, Any]) -> str:
    """Field, value and what it should be."""
    given = textwrap.shorten(str(error["input"]), 80, placeholder=" …")
    return f"{error['loc'][-1]}: {given!r}; {error['msg']}"


async def read_body(request: Request) -> bytes:
    """The body of a form; raises `UsageError` where it is larger than any of ours."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_BYTES:
            raise UsageError(f"form: it is larger than {FORM_BYTES} bytes; shorten the note")
    return bytes(body)
