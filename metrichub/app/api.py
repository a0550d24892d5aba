"""The JSON API: metrics, one metric, and scores; FastAPI describes it at /api/openapi.json."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from metrichub.app import catalog
from metrichub.app.jobs import ScoreRequest, score_request
from metrichub.app.views import Json

router = APIRouter(prefix="/api", default_response_class=Json)


@router.get("/metrics")
async def metrics(request: Request, search: str = "", task: str = "") -> Any:
    """List the installed metrics: the best for a question first, or those of a task."""
    judging = request.app.state.settings.judging
    found = [item for item in catalog.matching(search) if not task or item.is_for(task)]
    return Json({"metrics": [catalog.facts(item, judging) for item in found]})


@router.get("/metrics/{name:path}")
async def metric(request: Request, name: str) -> Any:
    """Describe one metric, with its card in Markdown and its citation in BibTeX."""
    item = catalog.item_of(name)
    known = catalog.facts(item, request.app.state.settings.judging)
    return Json({**known, "citation": item.card.bibtex, "card": item.card.body})


@router.post("/score")
async def score(request: Request, body: ScoreRequest) -> Any:
    """Score samples with any number of metrics; `null` is a number that doesn't exist.

    The answer has `size`, `scores` by metric and output, `signatures`, `notes`, `unscored` with
    reasons, and what else was asked for. Judge and embedder are the server's.
    """
    settings, workers = request.app.state.settings, request.app.state.workers
    seconds = settings.limits.seconds
    return Json(await workers.run(score_request, body, settings.judging, seconds=seconds))
