"""The JSON API: metrics, one metric, scores, and the runs of uploaded files."""

from __future__ import annotations

import json
from typing import Any

from anyio import to_thread
from pydantic import ValidationError
from starlette.requests import Request

from metrichub.app import catalog
from metrichub.app.archive import RunRecord
from metrichub.app.bodies import ScoreRequest
from metrichub.app.limits import check_size
from metrichub.app.middleware import client_of
from metrichub.app.openapi import openapi_document
from metrichub.app.problem import problem
from metrichub.app.service import service
from metrichub.app.views import Json
from metrichub.app.worker_tasks import Job, score_job


async def metrics(request: Request) -> Json:
    """The installed metrics that fit the query, by name or, for a search, the best first."""
    chosen = {name: tag for name in catalog.FILTERS if (tag := request.query_params.get(name))}
    search = request.query_params.get("search", "")
    judging = service(request).settings.judging
    items = catalog.matching(search, chosen)
    return Json({"metrics": [catalog.facts(item, judging) for item in items]})


async def describe_metric(request: Request) -> Json:
    """One metric."""
    server = service(request)
    item = server.item(request.path_params["name"])
    if item.problem:
        raise problem(501, "CardError", item.problem)
    description = await server.described(item, client_of(request.scope))
    example = description.example
    spec: Any = item.name
    if example.parameters:
        spec = {"metric": item.name, "parameters": example.parameters}
    return Json(
        {
            **catalog.facts(item, server.settings.judging),
            "parameters": [
                {
                    key: getattr(field, key)
                    for key in ("name", "values", "default", "required", "meaning", "closed")
                }
                for field in description.fields
            ],
            "example": {"metrics": [spec], **example.columns},
            "citation": item.card.bibtex,
            "card": item.card.body,
        }
    )


async def post_score(request: Request) -> Json:
    """The scores of the posted samples."""
    server = service(request)
    body = _body(await _json(request))
    requested, columns = body.requested(), body.texts()
    if len(requested) > server.settings.limits.metrics:
        raise problem(
            413, "TooLarge", f"at most {server.settings.limits.metrics} metrics at a time"
        )
    check_size(columns, server.settings.limits, [metric.parameters for metric in requested])
    job = Job(
        requested,
        columns,
        body.columns,
        body.reduce,
        server.settings.judging,
        body.intervals,
        body.samples,
        body.explanations,
    )
    client, seconds = client_of(request.scope), server.settings.limits.seconds
    return Json(await server.pool.run(score_job, job, client=client, seconds=seconds))


async def list_runs(request: Request) -> Json:
    """The runs that were begun from the caller's address."""
    runs = service(request).runs
    records = await to_thread.run_sync(runs.of, client_of(request.scope))
    return Json({"runs": [_run(record, runs.archive.size(record.id)) for record in records]})


async def run_details(request: Request) -> Json:
    """One run."""
    runs = service(request).runs
    record = runs.find(request.path_params["id"]).record
    return Json(_run(record, runs.archive.size(record.id)))


async def delete_run(request: Request) -> Json:
    """Delete a run."""
    runs = service(request).runs
    await runs.delete(runs.find(request.path_params["id"]))
    return Json({"deleted": 1})


async def delete_runs(request: Request) -> Json:
    """Delete the caller's runs that have ended."""
    client = client_of(request.scope)
    return Json({"deleted": await to_thread.run_sync(service(request).runs.delete_ended, client)})


def _run(record: RunRecord, size: int) -> dict[str, Any]:
    summary, refusal = record.summary, record.refusal
    return {
        "id": record.id,
        "name": record.title,
        "state": record.state,
        "begun": record.begun.isoformat(timespec="seconds"),
        "metrics": record.names,
        "samples": summary.size if summary else None,
        "bytes": size,
        "scores": [headline._asdict() for headline in summary.headlines] if summary else [],
        "sentences": summary.sentences if summary else (),
        "files": [f"/runs/{record.id}/{name}" for name in summary.files] if summary else [],
        "error": refusal.error if refusal else None,
        "message": refusal.message if refusal else None,
    }


async def openapi(request: Request) -> Json:
    """The OpenAPI document."""
    return Json(openapi_document(service(request).settings.limits))


async def _json(request: Request) -> Any:
    """The body as JSON.

    Raises:
        Problem: it isn't called JSON (415), or is none (400).
    """
    # For this type a page of another site needs a preflight request, which the server refuses.
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise problem(415, "NotJson", "the body has to have the content type application/json")
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise problem(400, "NotJson", f"the body isn't valid JSON: {error}") from None


def _body(document: Any) -> ScoreRequest:
    try:
        return ScoreRequest.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise problem(422, "InvalidBody", f"{where}: {first['msg']}") from None
