"""The application: its routes, the JSON API, and what is there while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

import metrichub
from metrichub.app import catalog, pages
from metrichub.app.guard import HEADERS, UPLOADS, Guard
from metrichub.app.jobs import ScoreRequest, score_request
from metrichub.app.problem import Problem
from metrichub.app.processes import Workers
from metrichub.app.runs import Runs
from metrichub.app.settings import ServerSettings
from metrichub.app.views import HOME, Json, file_size, page

router = APIRouter(prefix="/api", default_response_class=Json)
_THEME = ("metrichub.report.html", "static")


def application(settings: ServerSettings) -> FastAPI:
    """The app; its workers and runs live as long as its lifespan."""
    limits = settings.limits

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.workers = Workers(limits.workers, limits.waiting, limits.memory)
        with TemporaryDirectory(prefix="metrichub-", ignore_cleanup_errors=True) as folder:
            async with anyio.create_task_group() as tasks:
                app.state.runs = Runs(settings, settings.folder or Path(folder), tasks)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()

    app = FastAPI(
        title="metrichub",
        version=metrichub.__version__,
        summary="Scores generated text.",
        openapi_url="/api/openapi.json",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        routes=_routes(),
        middleware=[Middleware(Guard, settings=settings, answer=_problem)],
        exception_handlers={
            HTTPException: _failed,
            RequestValidationError: _invalid,
            Exception: _defect,
        },
        lifespan=lifespan,
    )
    app.include_router(router)
    app.state.settings = settings
    return app


def _routes() -> list[BaseRoute]:
    get, post = ["GET"], ["POST"]
    return [
        Route("/", pages.start_page, methods=get),
        Route("/", pages.post_start, methods=post),
        Route("/runs", pages.all_runs, methods=get),
        Route("/runs", pages.post_runs, methods=post),
        Route("/runs/{id}", pages.run_page, methods=get),
        Route("/runs/{id}/state", pages.state, methods=get),
        Route("/runs/{id}/stop", pages.stop, methods=post),
        Route("/runs/{id}/delete", pages.delete, methods=post),
        Route("/runs/{id}/{file}", pages.file, methods=get),
        Route("/metrics", pages.all_metrics, methods=get),
        Route("/metrics/{name:path}", pages.card, methods=get),
        Mount("/static", StaticFiles(directory=HOME / "static", packages=[_THEME])),
    ]


@router.get("/metrics")
async def find_metrics(request: Request, search: str = "", task: str = "") -> Any:
    """List the installed metrics: the best for a question first, or those of a task."""
    judging = request.app.state.settings.judging
    items = [item for item in catalog.matching(search) if not task or item.is_for(task)]
    return Json({"metrics": [catalog.facts(item, judging) for item in items]})


@router.get("/metrics/{name:path}")
async def describe_metric(request: Request, name: str) -> Any:
    """Describe one metric, with its card in Markdown and its citation in BibTeX."""
    item = catalog.item_of(name)
    facts = catalog.facts(item, request.app.state.settings.judging)
    return Json({**facts, "citation": item.card.bibtex, "card": item.card.body})


@router.post("/score")
async def score_samples(request: Request, body: ScoreRequest) -> Any:
    """Score samples with any number of metrics; `null` is a number that doesn't exist.

    The answer has `size`, `scores` by metric and output, `counts` of samples without a score by
    metric, `signatures`, `notes`, `without_score` with status and reason, and what else was asked
    for. Judge and embedder are the server's.
    """
    settings, workers = request.app.state.settings, request.app.state.workers
    seconds = settings.limits.seconds
    return Json(await workers.run(score_request, body, settings.judging, seconds=seconds))


async def _failed(request: Request, error: HTTPException) -> Response:
    """The answer to a request that can't be answered, wherever it was noticed."""
    if isinstance(error, Problem):
        return _problem(request, error)
    kinds = {404: "NotFound", 405: "NotAllowed"}
    messages = {404: "there is no such page", 405: "this address doesn't support this method"}
    status, limits = error.status_code, request.app.state.settings.limits
    if request.url.path == UPLOADS:
        allowed = f"up to {limits.systems} files, and {file_size(limits.body)} of pasted text"
        messages[400] = f"a form may have {allowed}; save longer text as a file, and choose that"
    kind, message = kinds.get(status, "BadRequest"), messages.get(status, error.detail)
    return _problem(request, Problem(status, kind, message))


async def _invalid(request: Request, error: RequestValidationError) -> Response:
    """The answer to a body of another form than the API's, or that isn't JSON."""
    first = error.errors()[0]
    broken = first["type"] == "json_invalid"
    where = "the body" if broken else ".".join(map(str, first["loc"][1:])) or "the body"
    is_json = request.headers.get("content-type", "").startswith("application/json")
    hint = "" if is_json else "; send it with the header Content-Type: application/json"
    return _problem(request, Problem(422, "InvalidBody", f"{where}: {first['msg']}{hint}"))


def _problem(request: Request, error: Problem) -> Response:
    refusal, status = error.refusal, error.status_code
    if request.url.path.startswith("/api/"):
        response: Response = Json({"error": refusal.error, "message": refusal.message}, status)
    else:
        response = page(request, "problem.html", {"refusal": refusal}, status)
    if refusal.error == "Busy":
        response.headers["Retry-After"] = "1"
    return response


async def _defect(request: Request, _: Exception) -> Response:
    """The answer to a request that met a defect, whose traceback is on the server's terminal."""
    message = "a defect in the program; see the server's terminal"
    response = _problem(request, Problem(500, "Defect", message))
    response.headers.update(HEADERS)
    return response
