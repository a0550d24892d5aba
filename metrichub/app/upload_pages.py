"""The pages of uploads: the form, its presets and what it sends, and a page for each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO, NamedTuple

import anyio
from anyio import to_thread
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from metrichub.app import catalog
from metrichub.app.middleware import client_of
from metrichub.app.pages import REDUCTIONS
from metrichub.app.policy import unavailable
from metrichub.app.problem import Problem, Refusal, problem
from metrichub.app.result_files import REPORT
from metrichub.app.runs import Run, accepted
from metrichub.app.service import service
from metrichub.app.settings import Judging
from metrichub.app.views import Json, Page, page
from metrichub.catalog.guides import choices
from metrichub.data.columns import TEXT, resolve
from metrichub.errors import InputError

_COLUMN = "column."
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


async def upload(request: Request) -> Page:
    """The form to upload a file."""
    return _form(request)


async def post_upload(request: Request) -> Response:
    """Begin to score an uploaded file, or to compare several."""
    client = client_of(request.scope)
    with service(request).runs.reserve(client):
        form = await request.form(
            max_files=service(request).settings.limits.systems, max_fields=500
        )
        try:
            run = await _begin(request, client, form)
        except Problem as error:
            return _form(request, form, error.refusal, error.status_code)
        finally:
            await form.close()
    return RedirectResponse(f"/runs/{run.record.id}", 303)


async def check_columns(request: Request) -> Json:
    """The columns of a file, how they would be read, and the metrics that lack one."""
    server, client = service(request), client_of(request.scope)
    with server.runs.reserve(client):
        form = await request.form(max_files=1, max_fields=500)
        try:
            name, stream = next(iter(_files(form)), ("", None))
            if stream is None:
                raise problem(422, "InputError", "choose a file")
            names = await server.runs.columns(client, name, stream)
        except Problem as error:
            # That a file can't be read is what was asked for.
            status = 200 if error.status_code == 422 else error.status_code
            return Json({"problem": error.refusal.message}, status)
        finally:
            await form.close()
    items = _offered(server.settings.judging)
    return Json(
        {
            "columns": names,
            "read": _read_as(names, _needed(items)),
            "lacking": _lacking(items, names, _mapping(form)),
        }
    )


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


def _offered(judging: Judging) -> list[catalog.Item]:
    """The metrics that can be chosen here."""
    readable = (item for item in catalog.items() if not item.problem)
    return [item for item in readable if not unavailable(item.entry, judging)]


def _needed(items: Iterable[catalog.Item]) -> list[str]:
    """The columns that some metric reads, those of texts first."""
    return list(dict.fromkeys([*TEXT, *(column for item in items for column in item.columns)]))


def _mapping(form: FormData) -> dict[str, str]:
    """The columns that were chosen, and the names that they have in the files."""
    return {
        name.removeprefix(_COLUMN): str(value)
        for name, value in form.items()
        if name.startswith(_COLUMN) and value
    }


async def _begin(request: Request, client: str, form: FormData) -> Run:
    server = service(request)
    files, metrics = _files(form), _metrics(form)
    if not files:
        raise problem(422, "InputError", "choose a file")
    if not metrics:
        raise problem(422, "SpecError", "choose a metric")
    if len(metrics) > server.settings.limits.metrics:
        raise problem(413, "TooLarge", f"at most {server.settings.limits.metrics} metrics")
    reduce = str(form.get("reduce", "")) or None
    mapping = _mapping(form)
    return await server.runs.begin(client, files, metrics, mapping, reduce)


def _files(form: FormData) -> list[tuple[str, BinaryIO]]:
    """The files with their names, the baseline first."""
    files = [
        (file.filename, file.file)
        for file in form.getlist("file")
        if isinstance(file, UploadFile) and file.filename
    ]
    baseline = str(form.get("baseline", ""))
    if baseline.isascii() and baseline.isdecimal() and int(baseline[:4]) < len(files):
        files.insert(0, files.pop(int(baseline[:4])))
    return files


def _metrics(form: FormData) -> list[str]:
    names = [str(value) for value in form.getlist("metric")]
    specs = [line.strip() for line in str(form.get("specs", "")).splitlines()]
    return [spec for spec in dict.fromkeys((*names, *specs)) if spec]


def _form(
    request: Request,
    form: FormData | None = None,
    refusal: Refusal | None = None,
    status: int = 200,
) -> Page:
    judging = service(request).settings.judging
    presets = _presets_of(judging)
    chosen = next(
        (preset for preset in presets if preset.key == request.query_params.get("for")), None
    )
    shown = {
        "families": [
            (family, [(item, unavailable(item.entry, judging)) for item in items])
            for family, items in catalog.by_family(catalog.items())
        ],
        "presets": _by_purpose(presets),
        "chosen": chosen,
        "needed": _needed(_offered(judging)),
        "accepted": ",".join(accepted()),
        "checked": set(form.getlist("metric")) if form else set(chosen.names if chosen else ()),
        "specs": str(form.get("specs", "")) if form else "\n".join(chosen.specs if chosen else ()),
        "reduce": str(form.get("reduce", "")) if form else "",
        "reductions": REDUCTIONS,
        "refusal": refusal,
    }
    return page(request, "upload.html", shown, status)


def _read_as(names: Sequence[str], columns: Iterable[str]) -> dict[str, str]:
    """The name that each of the wanted columns has among those of a file, if it has one."""
    read: dict[str, str] = {}
    for column in columns:
        try:
            read |= resolve({column: ""}, names)
        except InputError:
            continue
    return read


def _lacking(
    items: Iterable[catalog.Item], names: Sequence[str], mapping: Mapping[str, str]
) -> dict[str, list[str]]:
    """The columns that metrics need and that aren't in a file, or could be several of it."""
    lacking: dict[str, list[str]] = {}
    for item in items:
        for column in item.columns:
            own = {column: mapping[column]} if column in mapping else {}
            try:
                resolve({column: item.name}, names, own)
            except InputError:
                lacking.setdefault(item.name, []).append(column)
    return lacking


class _Preset(NamedTuple):
    """Metrics for a purpose.

    Attributes:
        key: What stands in the address of the form that has them chosen.
        evaluate: What one evaluates.
        have: What one has.
        names: Metrics as they are, those that agreed best with people first.
        specs: Metrics with parameters.
        closed: Metrics that aren't offered here.
    """

    key: str
    evaluate: str
    have: str
    names: tuple[str, ...]
    specs: tuple[str, ...]
    closed: tuple[str, ...]

    @property
    def message(self) -> str:
        """What a reader hears of it once it is chosen."""
        text = f"Chosen: {', '.join((*self.names, *self.specs)) or 'none'}."
        return text + (f" Not offered here: {', '.join(self.closed)}." if self.closed else "")


def _presets_of(judging: Judging) -> tuple[_Preset, ...]:
    """The presets of a server; those that it can score nothing of are left out."""
    items = {item.name: item for item in catalog.items() if not item.problem}
    presets = []
    for number, choice in enumerate(choices({name: item.entry for name, item in items.items()})):
        closed = [m for m in choice.metrics if unavailable(items[m.name].entry, judging)]
        fine = [m for m in choice.metrics if m not in closed]
        names = tuple(m.spec for m in fine if m.spec == m.name)
        specs = tuple(m.spec for m in fine if m.spec != m.name)
        if fine:
            shut = tuple(m.name for m in closed)
            presets.append(_Preset(str(number), choice.evaluate, choice.have, names, specs, shut))
    return tuple(presets)


def _by_purpose(presets: Sequence[_Preset]) -> list[tuple[str, list[_Preset]]]:
    """What one evaluates, and the presets for it."""
    purposes: dict[str, list[_Preset]] = {}
    for preset in presets:
        purposes.setdefault(preset.evaluate, []).append(preset)
    return list(purposes.items())
