"""The pages: where files are uploaded and metrics chosen, the runs with their reports, cards."""

from __future__ import annotations

import hashlib
import io
import json
import re
import secrets
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, BinaryIO

from anyio import to_thread
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from metrichub.app import catalog
from metrichub.app.guard import HEADERS
from metrichub.app.jobs import REPORT, SAVED
from metrichub.app.policy import not_offered
from metrichub.app.problem import Problem
from metrichub.app.runs import Run, Runs, accepted
from metrichub.app.uploads import ID, RATING, SYSTEM, Choices
from metrichub.app.views import HOME, Json, Page, page
from metrichub.data.columns import TEXT
from metrichub.report.html.markup import html

_COOKIE, _YEAR = "metrichub", 365 * 24 * 3600
_USED = "as."
_REDUCTIONS = ("best", "worst", "mean", "max", "min", "first")
# The report brings its own policy. The sandbox gives it an origin of its own, so that what it holds
# can't send requests as a page of this server.
_REPORT_HEADERS = {
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
}
_FRAME = "frame-src 'self'"
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


def _owned_run(request: Request, id: str | None = None) -> Run:
    """The run of the address or of an id, if the browser that calls began it."""
    run, owner = _run(request) if id is None else _runs(request).find(id), owner_of(request)
    if not owner or run.owner != owner:
        raise Problem(403, "NotYours", "only the browser that began a run can change or delete it")
    return run


async def start_page(request: Request) -> Page:
    """The form to upload files."""
    return _form(request)


async def post_start(request: Request) -> Response:
    """Take files in, say what is in them, or score them, as the button says that was pressed."""
    cookie = request.cookies.get(_COOKIE, "")
    if not owner_of(request):
        cookie = request.cookies[_COOKIE] = secrets.token_urlsafe(24)
    runs, limits = _runs(request), request.app.state.settings.limits
    with runs.reserve():
        form = await request.form(
            max_files=limits.systems, max_fields=1000, max_part_size=limits.body
        )
        try:
            run = await _taken(request, form)
        except Problem as error:
            return _form(request, form, error)
        finally:
            await form.close()
    response = RedirectResponse(f"/runs/{run.id}" if run.files else "/", 303)
    response.set_cookie(_COOKIE, cookie, max_age=_YEAR, httponly=True, samesite="lax")
    return response


async def _taken(request: Request, form: FormData) -> Run:
    """The run of a form, once its files are there and what was asked for is done or has begun.

    Programs and links name metrics at once; a page shows what is in the files first.
    """
    runs, do, id = _runs(request), str(form.get("do", "")), str(form.get("run", ""))
    files, run = _files(form), _owned_run(request, id) if id else None
    if run and not runs.is_repeatable(run):
        raise Problem(
            422, "InputError", "this run can't be changed any more; choose its files again"
        )
    chosen = _choices(form, run)
    if files:
        begun = await runs.receive(owner_of(request), files, chosen, run)
    elif run:
        begun = run
    else:
        raise Problem(422, "InputError", "choose a file, or paste samples")
    what, _, about = do.partition("-")
    if what == "score" or (chosen.metrics and not run):
        runs.start(begun, chosen)
        return begun
    if what == "remove" and about in map(str, range(len(begun.files))):
        begun = runs.without(begun, int(about))
        if not begun.files:
            await runs.delete(begun)
            return begun
    if what == "baseline":
        chosen = replace(chosen, baseline=about)
    begun = await runs.look(replace(begun, refusal=None, state="new"), chosen)
    if begun.preview and not begun.preview.columns:
        runs.start(begun, chosen)
    elif begun.preview and (what == "propose" or not (chosen.metrics or (run and run.preview))):
        named = tuple(str(name) for name in form.getlist("want"))
        metrics = named or (*_proposal(request, begun).ticked, *_specs(form, "more"))
        begun = replace(begun, chosen=replace(chosen, metrics=tuple(dict.fromkeys(metrics))))
        runs.save(begun)
    return begun


def _files(form: FormData) -> list[tuple[str, BinaryIO]]:
    """The files with their names, or the text that was pasted, as one."""
    files = [
        (file.filename, file.file)
        for file in form.getlist("file")
        if isinstance(file, UploadFile) and file.filename
    ]
    text = str(form.get("text", "")).strip()
    if files or not text:
        return files
    formats = {"{": "jsonl", "[": "json"}
    separated = "tsv" if "\t" in text.partition("\n")[0] else "csv"
    name = f"pasted.{formats.get(text[0], separated)}"
    return [(name, io.BytesIO(text.encode("utf-8", "surrogatepass")))]


def _choices(form: FormData, run: Run | None) -> Choices:
    """How files are to be scored, by a form or else as it was chosen for a run before."""
    preview = run.preview if run else None
    by_name = {column.name: column.use for column in preview.columns} if preview else {}
    fields = ((n.removeprefix(_USED), str(use)) for n, use in form.items() if n.startswith(_USED))
    explicit = (SYSTEM, RATING)
    used = {n: use for n, use in fields if use in explicit or use != by_name.get(n, "")}
    has_ratings = RATING in {**by_name, **used}.values()
    return Choices(
        metrics=_specs(form, "metric", "more"),
        used=used if preview or not run else run.chosen.used,
        reduce=str(form.get("reduce", "")) or None,
        baseline=str(form.get("baseline", "")),
        common=bool(preview and preview.shared is not None),
        people="people" in form if has_ratings and preview else None,
        choose="choose" in form and has_ratings,
        task=str(form.get("task", "")),
    )


def _specs(form: FormData, *names: str) -> tuple[str, ...]:
    """The specs of metrics that are ticked in fields of these names, or written."""
    ticked = [str(value) for name in names for value in form.getlist(name)]
    written = [line.strip() for line in str(form.get("specs", "")).splitlines()]
    return tuple(spec for spec in dict.fromkeys((*ticked, *written)) if spec)


def _proposal(request: Request, run: Run) -> catalog.Proposal:
    """The metrics for a run's files, as their columns are used."""
    names, chosen = run.preview.names if run.preview else (), run.chosen
    used = [[name for name in file if chosen.used.get(name) != ""] for file in names]
    judging = request.app.state.settings.judging
    return catalog.propose(used, chosen.mapping, " ".join(run.files), chosen.task, judging)


def _form(request: Request, form: FormData | None = None, error: Problem | None = None) -> Page:
    """The page before there are files, or that a form came from, with what is wrong."""
    runs, id = _runs(request), str(form.get("run", "")) if form else ""
    if id and error and error.status_code == 422 and runs.is_repeatable(_owned_run(request, id)):
        return _choosing(request, replace(runs.find(id), refusal=error.refusal), 422)
    names = {item.name: item for item in catalog.open_metrics(runs.settings.judging)}
    requested = form.getlist("want") if form else request.query_params.getlist("metric")
    metrics = [name for name in map(str, requested) if name in names]
    text = str(form.get("text", "")) if form else ""
    if metrics and "example" in request.query_params:
        text = json.dumps(_example(names[metrics[0]]))
    context = {
        "run": None,
        "preview": None,
        "proposal": None,
        "text": text,
        "wanted": metrics,
        "accepted": ",".join(accepted()),
        "refusal": error.refusal if error else None,
    }
    return page(request, "start.html", context, error.status_code if error else 200)


def _choosing(request: Request, run: Run, status: int = 200) -> Page:
    """The page of a run whose metrics can be chosen: what is in its files, and what is proposed."""
    runs, columns = _runs(request), run.preview.columns if run.preview else ()
    proposal = _proposal(request, run) if columns else None
    offered = [*proposal.likely, *proposal.others] if proposal else []
    specs = {metric.chosen.spec for metric in offered}
    uses = [run.chosen.used.get(column.name, column.use) for column in columns]
    read = catalog.needed(catalog.open_metrics(runs.settings.judging))
    labels = {name: name if name not in TEXT[:4] else name.removesuffix("s") for name in read}
    context = {
        "run": run,
        "preview": run.preview,
        "sizes": [path.stat().st_size for path in runs.uploads(run)],
        "proposal": proposal,
        "uses": {ID: ID, SYSTEM: "names of systems", RATING: RATING, **labels},
        "ratings": uses.count(RATING),
        "specs": [spec for spec in run.chosen.metrics if spec not in specs],
        "text": "",
        "wanted": (),
        "accepted": ",".join(accepted()),
        "reductions": _REDUCTIONS,
        "refusal": run.refusal,
    }
    return page(request, "start.html", context, status)


def _example(item: catalog.Item) -> dict[str, Any]:
    """A sample with what the metric reads: the first beside its card, or one of ours."""
    file = item.entry.folder / "samples.jsonl"
    with (file if file.is_file() else HOME / "example.jsonl").open(encoding="utf-8") as lines:
        sample: dict[str, Any] = json.loads(lines.readline())
    return {c: sample.get(c, sample.get("predictions", "")) for c in item.columns}


async def all_runs(request: Request) -> Page:
    """The runs that this browser began, the newest first."""
    runs, owner = _runs(request), owner_of(request)
    listed = [run for run in await to_thread.run_sync(runs.all) if owner and run.owner == owner]
    sizes = {run.id: runs.size(run) for run in listed}
    return page(request, "runs.html", {"runs": listed, "sizes": sizes})


async def post_runs(request: Request) -> Response:
    """Compare the runs that were ticked, or delete them."""
    form = await request.form(max_files=0, max_fields=500)
    runs, ticked = _runs(request), [_owned_run(request, str(id)) for id in form.getlist("run")]
    if form.get("do") == "delete":
        for run in ticked:
            await runs.delete(run)
        return RedirectResponse("/runs", 303)
    if len(ticked) < 2 or not all(runs.path(run, SAVED).is_file() for run in ticked):
        raise Problem(422, "InputError", "tick two or more runs that are done, each of one system")
    with runs.reserve(), ExitStack() as stack:
        # The list has the newest first; the oldest is the baseline.
        files: list[tuple[str, BinaryIO]] = []
        for run in reversed(ticked):
            stream = stack.enter_context(runs.path(run, SAVED).open("rb"))
            files.append((f"{run.systems[0].partition('.')[0] or 'run'}.json.gz", stream))
        run = await runs.receive(owner_of(request), files)
    runs.start(run, Choices())
    return RedirectResponse(f"/runs/{run.id}", 303)


async def run_page(request: Request) -> Page:
    """A run's page: what could be scored, how far it is, or the report that came out of it."""
    runs, run = _runs(request), _run(request)
    is_own = run.owner == owner_of(request)
    if is_own and runs.is_repeatable(run):
        if not (run.preview or run.state == "new"):
            run = await runs.look(run)
        return _choosing(request, run)
    is_saved = runs.path(run, SAVED).is_file()
    context = {"run": run, "is_own": is_own, "is_saved": is_saved, "progress": runs.progress(run)}
    answer = page(request, "run.html", context)
    answer.headers["Content-Security-Policy"] = f"{HEADERS['Content-Security-Policy']}; {_FRAME}"
    return answer


async def state(request: Request) -> Json:
    """How far a run is, told at its end or after a moment."""
    await _runs(request).end(_run(request), _MOMENT)
    return Json(_runs(request).progress(_run(request)))


async def stop(request: Request) -> Response:
    """End a run."""
    run = _owned_run(request)
    await _runs(request).end(run)
    return RedirectResponse(f"/runs/{run.id}", 303)


async def delete(request: Request) -> Response:
    """Delete a run."""
    await _runs(request).delete(_owned_run(request))
    return RedirectResponse("/runs", 303)


async def file(request: Request) -> Response:
    """One of a run's files; the report is shown, unless it is to be downloaded."""
    run, name = _run(request), request.path_params["file"]
    path = _runs(request).path(run, name)
    if name not in _FILES or not path.is_file():
        raise Problem(404, "NotFound", "there is no such file")
    called = re.sub(r"[^\w.-]+", "-", "-".join(run.systems))[:60]
    is_shown = name == REPORT and "download" not in request.query_params
    headers = _REPORT_HEADERS if name == REPORT else None
    return FileResponse(path, filename=None if is_shown else f"{called}-{name}", headers=headers)


async def card(request: Request) -> Page:
    """A metric's card."""
    item = catalog.item_of(request.path_params["name"])
    title, _, text = item.card.body.lstrip().partition("\n")
    # The body comes out of an allowlist.
    body = html(text if title.startswith("# ") else item.card.body, catalog.linker(item))
    reason = not_offered(item.entry, request.app.state.settings.judging)
    context = {"item": item, "card": item.card, "body": body, "unavailable": reason}
    return page(request, "card.html", context)


async def all_metrics(request: Request) -> Page:
    """All metrics by family."""
    problems = [item for item in catalog.items() if item.entry.problem]
    families = catalog.by_family(request.app.state.settings.judging)
    return page(request, "metrics.html", {"families": families, "problems": problems})
