"""The pages of runs: the list, a run's page, its state, and what can be downloaded or deleted."""

from __future__ import annotations

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from metrichub.app.middleware import client_of
from metrichub.app.problem import problem
from metrichub.app.result_files import REPORT
from metrichub.app.service import service
from metrichub.app.views import Json, Page, page

# The report brings its own policy. The sandbox gives it an origin of its own, so that what it holds
# can't send requests as a page of this server.
_REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"
_TYPES = {
    "scores.json": "application/json",
    "scores.csv": "text/csv; charset=utf-8",
    "samples.jsonl": "application/jsonl",
    "samples.csv": "text/csv; charset=utf-8",
    REPORT: "text/html; charset=utf-8",
}
_HEADLINES = 6
_MOMENT = 0.7


async def all_runs(request: Request) -> Page:
    """The runs that were begun from the caller's address, the newest first."""
    runs = service(request).runs
    records = await to_thread.run_sync(runs.of, client_of(request.scope))
    sizes = {record.id: runs.archive.size(record.id) for record in records}
    shown = {"runs": records, "sizes": sizes, "most": _HEADLINES}
    return page(request, "runs.html", shown)


async def delete_all(request: Request) -> Response:
    """Delete the caller's runs, and show that none is left."""
    await to_thread.run_sync(service(request).runs.delete_ended, client_of(request.scope))
    return RedirectResponse("/runs", 303)


async def delete(request: Request) -> Response:
    """Delete a run."""
    runs = service(request).runs
    await runs.delete(runs.find(request.path_params["id"]))
    return RedirectResponse("/runs", 303)


async def run_page(request: Request) -> Page:
    """A run's page: how far it is, or what came out of it."""
    run = service(request).runs.find(request.path_params["id"])
    shown = {"run": run, "record": run.record, "progress": run.progress()}
    return page(request, "run.html", shown)


async def state(request: Request) -> Json:
    """How far a run is, told at its end or after a moment."""
    run = service(request).runs.find(request.path_params["id"])
    with anyio.move_on_after(_MOMENT):
        await run.over.wait()
    return Json(run.progress())


async def choose_columns(request: Request) -> Response:
    """Score a run's files once more, with the columns that were chosen."""
    server = service(request)
    run = server.runs.find(request.path_params["id"])
    form = await request.form(max_files=0, max_fields=200)
    refusal = run.record.refusal
    needs = refusal.needs if refusal else ()
    chosen = {name: str(form[name]) for name in needs if form.get(name)}
    if not needs:
        chosen = dict(run.job.mapping)
    server.runs.rerun(run, chosen)
    return RedirectResponse(f"/runs/{run.record.id}", 303)


async def stop(request: Request) -> Response:
    """End a run."""
    server = service(request)
    run = server.runs.find(request.path_params["id"])
    run.scope.cancel()
    return RedirectResponse(f"/runs/{run.record.id}", 303)


async def download(request: Request) -> Response:
    """One of a run's files."""
    run = service(request).runs.find(request.path_params["id"])
    name = request.path_params["file"]
    summary = run.record.summary
    if summary is None or name not in summary.files or name not in _TYPES:
        raise problem(404, "NotFound", "there is no such file")
    path = run.job.folder / name
    if not path.is_file():
        raise problem(404, "NotFound", "the run was deleted")
    if name == REPORT:
        return FileResponse(
            path,
            media_type=_TYPES[name],
            headers={"Content-Security-Policy": _REPORT_POLICY},
        )
    return FileResponse(path, media_type=_TYPES[name], filename=name)
