"""The JSON API: metrics, one metric, scores."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request

from metrichub.app import catalog
from metrichub.app.bodies import ScoreRequest
from metrichub.app.guard import client_of
from metrichub.app.limits import check_size
from metrichub.app.openapi import openapi_document
from metrichub.app.problem import problem
from metrichub.app.service import service
from metrichub.app.views import Json
from metrichub.app.work import Job, score_job


async def metrics(request: Request) -> Json:
    """The installed metrics, filtered by the query."""
    chosen = {name: tag for name in catalog.FILTERS if (tag := request.query_params.get(name))}
    search = request.query_params.get("search", "")
    judging = service(request).settings.judging
    found = [item for item in catalog.items() if item.fits(search, chosen)]
    return Json({"metrics": [catalog.facts(item, judging) for item in found]})


async def describe_metric(request: Request) -> Json:
    """One metric."""
    here = service(request)
    item = here.item(request.path_params["name"])
    if item.problem:
        raise problem(501, "CardError", item.problem)
    found = await here.described(item, client_of(request.scope))
    example = found.example
    spec: Any = item.name
    if example.parameters:
        spec = {"metric": item.name, "parameters": example.parameters}
    return Json(
        {
            **catalog.facts(item, here.settings.judging),
            "parameters": [
                {
                    key: getattr(field, key)
                    for key in ("name", "values", "default", "required", "meaning", "closed")
                }
                for field in found.fields
            ],
            "example": {"metrics": [spec], **example.columns},
            "citation": item.card.bibtex,
            "card": item.card.body,
        }
    )


async def post_score(request: Request) -> Json:
    """The scores of the posted samples."""
    here = service(request)
    body = _body(await _json(request))
    wanted, columns = body.wanted(), body.texts()
    if len(wanted) > here.settings.limits.metrics:
        raise problem(413, "TooLarge", f"at most {here.settings.limits.metrics} metrics at a time")
    check_size(columns, here.settings.limits, [one.parameters for one in wanted])
    job = Job(
        wanted,
        columns,
        body.columns,
        body.reduce,
        here.settings.judging,
        body.intervals,
        body.samples,
        body.explanations,
    )
    client, seconds = client_of(request.scope), here.settings.limits.seconds
    return Json(await here.pool.run(score_job, job, client=client, seconds=seconds))


async def openapi(request: Request) -> Json:
    """The OpenAPI document."""
    return Json(openapi_document(service(request).settings.limits))


async def _json(request: Request) -> Any:
    """The body as JSON.

    Raises:
        Problem: it isn't called JSON (415), or is none (400).
    """
    # A form of another site can't say so without asking first, which nobody here answers.
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise problem(415, "NotJson", "the body has to have the content type application/json")
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise problem(400, "NotJson", f"the body is no JSON: {error}") from None


def _body(given: Any) -> ScoreRequest:
    try:
        return ScoreRequest.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise problem(422, "InvalidBody", f"{where}: {first['msg']}") from None
