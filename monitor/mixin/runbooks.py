"""The runbooks: written by hand, one for each alert, served by the sidecar itself.

Alerts link to them, and a tired person in a closed network has to reach them too.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import PlainTextResponse

from monitor.errors import MonitorError


def runbooks() -> dict[str, str]:
    """Text by the name of its alert."""
    return {
        path.stem: path.read_text(encoding="utf-8") for path in sorted(_folder().glob("Hss*.md"))
    }


def runbooks_router() -> APIRouter:
    """`GET /runbooks/HssDrift.md`, for whoever may read the pages."""
    router = APIRouter()
    texts = runbooks()

    @router.get("/runbooks/{name}.md", response_class=PlainTextResponse)
    async def runbook(name: str) -> str:
        """The runbook of an alert, in Markdown."""
        if name not in texts:
            raise HTTPException(status_code=404, detail=f"no alert is named {name!r}")
        return texts[name]

    return router


def _folder() -> Path:
    """Inside an installed wheel, else beside the source tree."""
    packaged = Path(str(files("monitor") / "_grafana")) / "runbooks"
    source = Path(str(files("monitor"))).parent / "grafana" / "runbooks"
    for folder in (packaged, source):
        if folder.is_dir():
            return folder
    raise MonitorError(f"runbooks: neither {packaged} nor {source} exists; install again")
