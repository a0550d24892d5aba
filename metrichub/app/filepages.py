"""The pages of uploaded files: the form, a run's page, its state, and what can be downloaded."""

from __future__ import annotations

from typing import BinaryIO

import anyio
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from metrichub.app import catalog
from metrichub.app.guard import client_of
from metrichub.app.outcome import REPORT
from metrichub.app.pages import REDUCTIONS
from metrichub.app.policy import Wanted, unavailable
from metrichub.app.problem import Problem, problem
from metrichub.app.refusal import Refusal
from metrichub.app.runs import Run, accepted
from metrichub.app.service import service
from metrichub.app.views import Json, Page, page

_TYPES = {
    "scores.json": "application/json",
    "scores.csv": "text/csv; charset=utf-8",
    "samples.jsonl": "application/jsonl",
    "samples.csv": "text/csv; charset=utf-8",
    REPORT: "text/html; charset=utf-8",
}
_MOMENT = 0.7
_COLUMN = "column."
# The report brings its own policy. In a sandbox it is nobody's page: what it holds can't act here.
_REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"


async def upload(request: Request) -> Page:
    """The form to upload a file."""
    return _form(request)


async def post_upload(request: Request) -> Response:
    """Begin to score an uploaded file, or to compare several."""
    client = client_of(request.scope)
    with service(request).runs.place(client):
        form = await request.form(
            max_files=service(request).settings.limits.systems, max_fields=500
        )
        try:
            run = await _begun(request, client, form)
        except Problem as error:
            return _form(request, form, error.refusal, error.status_code)
        finally:
            await form.close()
    return RedirectResponse(f"/runs/{run.id}", 303)


async def _begun(request: Request, client: str, form: FormData) -> Run:
    here = service(request)
    files, wanted = _files(form), _wanted(form)
    if not files:
        raise problem(422, "InputError", "choose a file")
    if not wanted:
        raise problem(422, "SpecError", "choose a metric")
    if len(wanted) > here.settings.limits.metrics:
        raise problem(413, "TooLarge", f"at most {here.settings.limits.metrics} metrics")
    reduce = str(form.get("reduce", "")) or None
    mapping = {
        name.removeprefix(_COLUMN): str(value)
        for name, value in form.items()
        if name.startswith(_COLUMN) and value
    }
    return await here.runs.begin(client, files, wanted, mapping, reduce)


def _files(form: FormData) -> list[tuple[str, BinaryIO]]:
    """The files with their names, the baseline first."""
    files = [
        (one.filename, one.file)
        for one in form.getlist("file")
        if isinstance(one, UploadFile) and one.filename
    ]
    baseline = str(form.get("baseline", ""))
    if baseline.isascii() and baseline.isdecimal() and int(baseline[:4]) < len(files):
        files.insert(0, files.pop(int(baseline[:4])))
    return files


def _wanted(form: FormData) -> list[Wanted]:
    names = [str(value) for value in form.getlist("metric")]
    specs = [line.strip() for line in str(form.get("specs", "")).splitlines()]
    return [Wanted(one) for one in dict.fromkeys((*names, *specs)) if one]


def _form(
    request: Request,
    form: FormData | None = None,
    refusal: Refusal | None = None,
    status: int = 200,
) -> Page:
    judging = service(request).settings.judging
    return page(
        request,
        "upload.html",
        {
            "families": [
                (family, [(item, unavailable(item.entry, judging)) for item in found])
                for family, found in catalog.by_family(catalog.items())
            ],
            "accepted": ",".join(accepted()),
            "checked": set(form.getlist("metric")) if form else set(),
            "specs": str(form.get("specs", "")) if form else "",
            "reduce": str(form.get("reduce", "")) if form else "",
            "reductions": REDUCTIONS,
            "refusal": refusal,
        },
        status,
    )


async def run_page(request: Request) -> Page:
    """A run's page: how far it is, or what came out of it."""
    found = service(request).runs.find(request.path_params["id"])
    return page(request, "run.html", {"run": found, "progress": found.progress()})


async def state(request: Request) -> Json:
    """How far a run is, told at its end or after a moment."""
    found = service(request).runs.find(request.path_params["id"])
    with anyio.move_on_after(_MOMENT):
        await found.over.wait()
    return Json(found.progress())


async def choose_columns(request: Request) -> Response:
    """Score a run's file once more with the columns that were chosen."""
    here = service(request)
    found = here.runs.find(request.path_params["id"])
    form = await request.form(max_files=0, max_fields=200)
    needs = found.refusal.needs if found.refusal else ()
    chosen = {name: str(form[name]) for name in needs if form.get(name)}
    here.runs.again(found, chosen)
    return RedirectResponse(f"/runs/{found.id}", 303)


async def stop(request: Request) -> Response:
    """End a run."""
    here = service(request)
    found = here.runs.find(request.path_params["id"])
    here.runs.stop(found)
    return RedirectResponse(f"/runs/{found.id}", 303)


async def download(request: Request) -> Response:
    """One of a run's files."""
    found = service(request).runs.find(request.path_params["id"])
    name = request.path_params["file"]
    if found.summary is None or name not in found.summary.files:
        raise problem(404, "NotFound", "there is no such file")
    path = found.folder / name
    if name == REPORT:
        return FileResponse(
            path,
            media_type=_TYPES[name],
            headers={"Content-Security-Policy": _REPORT_POLICY},
        )
    return FileResponse(path, media_type=_TYPES[name], filename=name)
