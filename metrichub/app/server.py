"""The application: its routes, and what is there while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from metrichub.app import api, pages, upload_pages
from metrichub.app.archive import Archive
from metrichub.app.middleware import HEADERS, Bounded, Drained, Guard
from metrichub.app.pool import Pool
from metrichub.app.problem import Problem, Refusal
from metrichub.app.runs import Runs
from metrichub.app.service import Service
from metrichub.app.settings import MEBIBYTE, ServerSettings
from metrichub.app.views import STATIC, Json, page

_DROPPED_BYTES, _DROPPED_SECONDS = 1024 * MEBIBYTE, 60.0


def application(settings: ServerSettings) -> Starlette:
    """The app; its workers and runs live as long as its lifespan."""
    pool = Pool(settings.limits.workers, settings.limits.waiting, settings.limits.memory)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with TemporaryDirectory(prefix="metrichub-", ignore_cleanup_errors=True) as folder:
            async with anyio.create_task_group() as tasks:
                archive = Archive(settings.folder or Path(folder))
                runs = Runs(settings, archive, tasks)
                app.state.service = Service(settings, pool, runs)
                try:
                    yield
                finally:
                    tasks.cancel_scope.cancel()
                    runs.close()
                    pool.close()
            archive.close()

    return Starlette(
        routes=_routes(settings),
        middleware=[
            Middleware(Drained, most=_DROPPED_BYTES, seconds=_DROPPED_SECONDS),
            Middleware(Guard, settings=settings, answer=_problem),
        ],
        exception_handlers={HTTPException: _failed, Exception: _defect},
        lifespan=lifespan,
    )


def _routes(settings: ServerSettings) -> list[BaseRoute]:
    small = [Middleware(Bounded, limit=settings.limits.body)]
    # A form holds a little more than its file.
    large = [Middleware(Bounded, limit=settings.limits.upload + MEBIBYTE // 16)]
    get, post = ["GET"], ["POST"]
    return [
        Route("/", pages.gallery, methods=get),
        Route("/metrics/{name:path}", pages.metric_page, methods=get),
        Route("/metrics/{name:path}", pages.post_metric, methods=post, middleware=small),
        Route("/text/{name:path}", pages.text, methods=get),
        Route("/prompts", pages.prompt, methods=get),
        Route("/score", upload_pages.upload, methods=get),
        Route("/score", upload_pages.post_upload, methods=post, middleware=large),
        Route("/score/columns", upload_pages.check_columns, methods=post, middleware=large),
        Route("/runs", upload_pages.all_runs, methods=get),
        Route("/runs/delete", upload_pages.delete_all, methods=post, middleware=small),
        Route("/runs/{id}", upload_pages.run_page, methods=get),
        Route("/runs/{id}/state", upload_pages.state, methods=get),
        Route("/runs/{id}/columns", upload_pages.choose_columns, methods=post, middleware=small),
        Route("/runs/{id}/stop", upload_pages.stop, methods=post, middleware=small),
        Route("/runs/{id}/delete", upload_pages.delete, methods=post, middleware=small),
        Route("/runs/{id}/{file}", upload_pages.download, methods=get),
        Route("/api", pages.api, methods=get),
        Route("/api/openapi.json", api.openapi, methods=get),
        Route("/api/metrics", api.metrics, methods=get),
        Route("/api/metrics/{name:path}", api.describe_metric, methods=get),
        Route("/api/score", api.post_score, methods=post, middleware=small),
        Route("/api/runs", api.list_runs, methods=get),
        Route("/api/runs", api.delete_runs, methods=["DELETE"]),
        Route("/api/runs/{id}", api.run_details, methods=get),
        Route("/api/runs/{id}", api.delete_run, methods=["DELETE"]),
        Mount("/static", _Kept(directory=STATIC, packages=[("metrichub.report.html", "static")])),
    ]


class _Kept(StaticFiles):
    """Files that browsers keep; their addresses change with their content."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def cached(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (200, 304):
                headers = MutableHeaders(scope=message)
                headers.append("Cache-Control", "public, max-age=31536000, immutable")
            await send(message)

        await super().__call__(scope, receive, cached)


def _failed(request: Request, error: Exception) -> Response:
    """The answer to a request that can't be answered, wherever it was noticed."""
    if isinstance(error, Problem):
        return _problem(request, error)
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else ""
    messages = {404: "there is no such page", 405: "this address doesn't support this method"}
    name = {404: "NotFound", 405: "NotAllowed", 400: "BadForm"}.get(status, "Problem")
    return _problem(request, Problem(status, Refusal(name, messages.get(status, detail))))


def _problem(request: Request, error: Problem) -> Response:
    refusal, status = error.refusal, error.status_code
    if request.url.path.startswith("/api/"):
        response: Response = Json({"error": refusal.error, "message": refusal.message}, status)
    else:
        response = page(request, "problem.html", {"refusal": refusal, "status": status}, status)
    if refusal.error == "Busy":
        response.headers["Retry-After"] = "1"
    return response


def _defect(request: Request, _: Exception) -> Response:
    """The answer where the program is wrong; what exactly stands on the server's terminal."""
    refusal = Refusal("Defect", "a defect in the program; see the server's terminal")
    response = _problem(request, Problem(500, refusal))
    response.headers.update(HEADERS)
    return response
