"""The pages: where files are uploaded, the runs, what came out of each, and the cards."""

from __future__ import annotations

import hashlib
import io
import json
import re
import secrets
from contextlib import ExitStack
from typing import Any, BinaryIO

from anyio import to_thread
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from metrichub.app import catalog
from metrichub.app.jobs import REPORT, SAVED
from metrichub.app.policy import not_offered
from metrichub.app.problem import Problem, problem
from metrichub.app.runs import Run, Runs, accepted
from metrichub.app.views import HOME, Json, Page, page
from metrichub.report.html.markup import html

_COOKIE, _YEAR = "metrichub", 365 * 24 * 3600
_COLUMN = "column."
_REDUCTIONS = ("best", "worst", "mean", "max", "min", "first")
# The report brings its own policy. The sandbox gives it an origin of its own, so that what it holds
# can't send requests as a page of this server.
_REPORT_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"
_FILES = ("scores.json", "scores.csv", "samples.jsonl", "samples.csv", REPORT, SAVED)
_MOMENT = 0.7


def owner_of(request: Request) -> str:
    """Who calls: a digest of the browser's cookie; blank without one."""
    cookie = request.cookies.get(_COOKIE, "")
    return hashlib.sha256(cookie.encode()).hexdigest() if len(cookie) >= 24 else ""


def _runs(request: Request) -> Runs:
    runs: Runs = request.app.state.runs
    return runs


def _run(request: Request) -> Run:
    return _runs(request).find(request.path_params["id"])


def _own(request: Request, id: str | None = None) -> Run:
    """The run of the address or of an id, if the browser that calls began it."""
    run, owner = _run(request) if id is None else _runs(request).find(id), owner_of(request)
    if not owner or run.owner != owner:
        raise problem(403, "NotYours", "only the browser that began a run can change or delete it")
    return run


async def start_page(request: Request) -> Page:
    """The form to upload files."""
    return _form(request)


async def post_start(request: Request) -> Response:
    """Begin to score an uploaded file, or to compare several."""
    cookie = request.cookies.get(_COOKIE, "")
    if not owner_of(request):
        cookie = request.cookies[_COOKIE] = secrets.token_urlsafe(24)
    runs, limits = _runs(request), request.app.state.settings.limits
    with runs.reserve():
        form = await request.form(
            max_files=limits.systems, max_fields=500, max_part_size=limits.body
        )
        try:
            files, metrics = _files(form), _metrics(request, form)
            if not files:
                raise problem(422, "InputError", "choose a file, or paste samples")
            reduce = str(form.get("reduce", "")) or None
            run = await runs.begin(owner_of(request), files, metrics, _mapping(form), reduce)
        except Problem as error:
            return _form(request, form, error)
        finally:
            await form.close()
    response = RedirectResponse(f"/runs/{run.id}", 303)
    response.set_cookie(_COOKIE, cookie, max_age=_YEAR, httponly=True, samesite="lax")
    return response


async def columns(request: Request) -> Json:
    """The columns of a file, how they would be read, and the metrics that lack one."""
    runs = _runs(request)
    with runs.reserve():
        form = await request.form(max_files=1, max_fields=500)
        try:
            name, stream = next(iter(_files(form)), ("", None))
            if stream is None:
                raise problem(422, "InputError", "choose a file")
            names = await runs.columns(name, stream)
        except Problem as error:
            # That a file can't be read is what was asked for.
            status = 200 if error.status_code == 422 else error.status_code
            return Json({"problem": error.refusal.message}, status)
        finally:
            await form.close()
    items = catalog.open_metrics(runs.settings.judging) if names else []
    chosen = _mapping(form)
    read = {c: catalog.resolved(c, names, {}) for c in catalog.needed(items)}
    missing = {c for c in read if catalog.resolved(c, names, chosen) is None}
    lacking = {item.name: [c for c in item.columns if c in missing] for item in items}
    return Json(
        {"columns": names, "read": read, "lacking": {k: v for k, v in lacking.items() if v}}
    )


def _files(form: FormData) -> list[tuple[str, BinaryIO]]:
    """The files with their names, the baseline first; or the text that was pasted, as one."""
    files = [
        (file.filename, file.file)
        for file in form.getlist("file")
        if isinstance(file, UploadFile) and file.filename
    ]
    baseline = str(form.get("baseline", ""))
    if baseline.isascii() and baseline.isdecimal() and int(baseline[:4]) < len(files):
        files.insert(0, files.pop(int(baseline[:4])))
    text = str(form.get("text", "")).strip()
    if files or not text:
        return files
    formats = {"{": "jsonl", "[": "json"}
    separated = "tsv" if "\t" in text.partition("\n")[0] else "csv"
    name = f"pasted.{formats.get(text[0], separated)}"
    return [(name, io.BytesIO(text.encode("utf-8", "surrogatepass")))]


def _metrics(request: Request, form: FormData) -> list[str]:
    """The specs of the metrics: those chosen, or else those of the starting set."""
    names = [str(value) for value in form.getlist("metric")]
    specs = [line.strip() for line in str(form.get("specs", "")).splitlines()]
    chosen = [spec for spec in dict.fromkeys((*names, *specs)) if spec]
    sets = catalog.starting_sets(request.app.state.settings.judging)
    started = [spec for one in sets if one.key == form.get("set") for spec in one.specs]
    return chosen or started


def _mapping(form: FormData) -> dict[str, str]:
    """The columns that were chosen, and the names that they have in the files."""
    return {
        name.removeprefix(_COLUMN): str(value)
        for name, value in form.items()
        if name.startswith(_COLUMN) and value
    }


def _form(request: Request, form: FormData | None = None, error: Problem | None = None) -> Page:
    judging, query = request.app.state.settings.judging, request.query_params
    names = {item.name: item for item in catalog.open_metrics(judging)}
    wanted = [name for name in query.getlist("metric") if name in names]
    text = json.dumps(_example(names[wanted[0]])) if wanted and "example" in query else ""
    seen = {
        "families": catalog.by_family(judging),
        "sets": catalog.starting_sets(judging),
        "needed": catalog.needed(names.values()),
        "accepted": ",".join(accepted()),
        "checked": set(form.getlist("metric") if form else wanted),
        "form": form or {"text": text},
        "reductions": _REDUCTIONS,
        "refusal": error.refusal if error else None,
    }
    return page(request, "start.html", seen, error.status_code if error else 200)


def _example(item: catalog.Item) -> dict[str, Any]:
    """A sample with what the metric reads: the first beside its card, or one of ours."""
    own = item.entry.folder / "samples.jsonl"
    with (own if own.is_file() else HOME / "example.jsonl").open(encoding="utf-8") as lines:
        sample: dict[str, Any] = json.loads(lines.readline())
    return {c: sample.get(c, sample.get("predictions", "")) for c in item.columns}


async def all_runs(request: Request) -> Page:
    """The runs that this browser began, the newest first."""
    runs, owner = _runs(request), owner_of(request)
    own = [run for run in await to_thread.run_sync(runs.all) if owner and run.owner == owner]
    sizes = {run.id: runs.size(run) for run in own}
    return page(request, "runs.html", {"runs": own, "sizes": sizes})


async def post_runs(request: Request) -> Response:
    """Compare the runs that were ticked, or delete them."""
    form = await request.form(max_files=0, max_fields=500)
    runs, ticked = _runs(request), [_own(request, str(id)) for id in form.getlist("run")]
    if form.get("do") == "delete":
        for run in ticked:
            await runs.delete(run)
        return RedirectResponse("/runs", 303)
    if len(ticked) < 2 or not all(runs.path(run, SAVED).is_file() for run in ticked):
        raise problem(422, "InputError", "tick two or more runs that are done, each of one system")
    with runs.reserve(), ExitStack() as stack:
        # The list has the newest first; the oldest is the baseline.
        files: list[tuple[str, BinaryIO]] = []
        for run in reversed(ticked):
            stream = stack.enter_context(runs.path(run, SAVED).open("rb"))
            files.append((f"{run.systems[0].partition('.')[0] or 'run'}.json.gz", stream))
        run = await runs.begin(owner_of(request), files)
    return RedirectResponse(f"/runs/{run.id}", 303)


async def run_page(request: Request) -> Page:
    """A run's page: how far it is, or what came out of it."""
    runs, run = _runs(request), _run(request)
    own, again = run.owner == owner_of(request), runs.is_repeatable(run)
    saved, progress = runs.path(run, SAVED).is_file(), runs.progress(run)
    seen = {"is_own": own, "is_repeatable": again, "is_saved": saved, "progress": progress}
    return page(request, "run.html", {"run": run, **seen})


async def state(request: Request) -> Json:
    """How far a run is, told at its end or after a moment."""
    await _runs(request).end(_run(request), _MOMENT)
    return Json(_runs(request).progress(_run(request)))


async def score_again(request: Request) -> Response:
    """Score a run's files once more, with the metrics and columns that were chosen."""
    run, form = _own(request), await request.form(max_files=0, max_fields=200)
    has_columns = any(name.startswith(_COLUMN) for name in form)
    mapping = _mapping(form) if has_columns else run.mapping
    _runs(request).rerun(run, _metrics(request, form) or run.metrics, mapping)
    return RedirectResponse(f"/runs/{run.id}", 303)


async def stop(request: Request) -> Response:
    """End a run."""
    run = _own(request)
    await _runs(request).end(run)
    return RedirectResponse(f"/runs/{run.id}", 303)


async def delete(request: Request) -> Response:
    """Delete a run."""
    await _runs(request).delete(_own(request))
    return RedirectResponse("/runs", 303)


async def file(request: Request) -> Response:
    """One of a run's files; the report is shown, unless it is to be downloaded."""
    run, name = _run(request), request.path_params["file"]
    path = _runs(request).path(run, name)
    if name not in _FILES or not path.is_file():
        raise problem(404, "NotFound", "there is no such file")
    called = re.sub(r"[^\w.-]+", "-", "-".join(run.systems))[:60]
    is_shown = name == REPORT and "download" not in request.query_params
    headers = {"Content-Security-Policy": _REPORT_POLICY} if name == REPORT else None
    return FileResponse(path, filename=None if is_shown else f"{called}-{name}", headers=headers)


async def card(request: Request) -> Page:
    """A metric's card."""
    item = catalog.item_of(request.path_params["name"])
    head, _, rest = item.card.body.lstrip().partition("\n")
    body = html(rest if head.startswith("# ") else item.card.body, catalog.linker(item))
    seen = {"item": item, "card": item.card, "body": body}  # The body comes out of an allowlist.
    shut = not_offered(item.entry, request.app.state.settings.judging)
    return page(request, "card.html", {**seen, "unavailable": shut})


async def all_metrics(request: Request) -> Page:
    """All metrics by family."""
    problems = [item for item in catalog.items() if item.entry.problem]
    families = catalog.by_family(request.app.state.settings.judging)
    return page(request, "metrics.html", {"families": families, "problems": problems})
