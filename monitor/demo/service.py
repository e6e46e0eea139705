"""The demo's summarization service: `python -m monitor.demo.service --port … --otlp …`.

    POST /v1/chat/completions   OpenAI-compatible, unstreamed
    POST /release               {"release": "bad"}: switch what it answers with, live
    GET  /healthz               the release that answers now

It knows nothing of the monitor beyond the address that its spans go to.
"""

from __future__ import annotations

import argparse
import json
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from monitor.demo.news import news_documents
from monitor.demo.releases import Release, Summarizing
from monitor.demo.sentences import sentences
from monitor.demo.spans import CallSpans, ExporterFactory, otlp
from monitor.errors import MalformedInput, choices

_CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English: a usage has to be told, and no tokenizer is loaded."""


def create_app(
    *, exporter: ExporterFactory, release: Release, stock: Sequence[str] | None = None
) -> FastAPI:
    """The service; `stock` (the sentences of the news by default) is what `bad` mixes in."""
    if stock is None:
        stock = [part for document in news_documents() for part in sentences(document)]
    summarizing = Summarizing(stock)
    spans = CallSpans(exporter)
    current = release

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        spans.close()

    app = FastAPI(title="demo summarizer", lifespan=lifespan)

    @app.exception_handler(MalformedInput)
    async def malformed(_: Request, error: MalformedInput) -> JSONResponse:
        body = {"error": {"message": str(error), "type": "invalid_request_error"}}
        return JSONResponse(body, status_code=400)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "release": current}

    @app.post("/release")
    async def switch(request: Request) -> dict[str, str]:
        nonlocal current
        wanted = (await _object(request)).get("release")
        if wanted not in list(Release):
            raise MalformedInput("release", f"{wanted!r} is unknown", f"use {choices(Release)}")
        current = Release(wanted)
        return {"release": current}

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> JSONResponse:
        started = time.time_ns()
        asked = checked_request(await _object(request))
        served_by = current
        text = summarizing.summary(document_of(asked["messages"]), served_by)
        answer = completion(asked, text)
        spans.record(
            release=served_by.value,
            headers=dict(request.headers),
            started=started,
            ended=time.time_ns(),
            request=asked,
            response=answer,
        )
        return JSONResponse(answer)

    return app


def checked_request(body: dict[str, Any]) -> dict[str, Any]:
    """The request itself, where it can be answered; raises `MalformedInput`."""
    if body.get("stream"):
        raise MalformedInput("stream", "true is not offered here", "send false")
    if not isinstance(body.get("model"), str):
        raise MalformedInput("model", "is missing or no text", "name a model")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise MalformedInput("messages", "is missing or empty", "send at least one")
    for message in messages:
        if not isinstance(message, dict) or not all(
            isinstance(message.get(key), str) for key in ("role", "content")
        ):
            raise MalformedInput("messages", "hold one without texts", "send role and content")
    number = body.get("n", 1)
    if type(number) is not int or not 1 <= number <= 8:
        raise MalformedInput("n", f"{number!r} is no number of choices", "send 1 to 8")
    return body


def document_of(messages: Sequence[dict[str, Any]]) -> str:
    """The last user message without its first paragraph, which is the instruction."""
    asked = [message["content"] for message in messages if message["role"] == "user"]
    last: str = asked[-1] if asked else ""
    _, border, document = last.partition("\n\n")
    return document if border else last


def completion(request: dict[str, Any], text: str) -> dict[str, Any]:
    """An OpenAI chat completion that answers with a text."""
    prompt = sum(len(message["content"]) for message in request["messages"])
    used = (prompt // _CHARACTERS_PER_TOKEN, len(text) // _CHARACTERS_PER_TOKEN)
    return {
        "id": f"chatcmpl-{secrets.token_hex(8)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request["model"],
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
            for index in range(request.get("n", 1))
        ],
        "usage": {
            "prompt_tokens": used[0],
            "completion_tokens": used[1],
            "total_tokens": sum(used),
        },
    }


async def _object(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise MalformedInput("body", "is no JSON object", "send one")
    return body


def main() -> None:
    """Serve until the process is told to end; waiting spans are sent before it does."""
    parser = argparse.ArgumentParser(prog="monitor.demo.service", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8319)
    parser.add_argument("--otlp", required=True, help="base URL that spans are sent to")
    parser.add_argument("--release", type=Release, choices=list(Release), default=Release.GOOD)
    given = parser.parse_args()
    uvicorn.run(
        create_app(exporter=otlp(given.otlp), release=given.release),
        host=given.host,
        port=given.port,
        log_level="warning",
        access_log=False,
    )


if __name__ == "__main__":
    main()
