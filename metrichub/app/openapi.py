"""The OpenAPI 3.1 document of the JSON API, and the table of operations that it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

import metrichub
from metrichub.app import bodies, catalog
from metrichub.app.settings import ServerLimits

_REF = "#/components/schemas/{model}"
_REASONS = {
    400: "The body isn't valid JSON, or the host name isn't the server's.",
    403: "Posted by a page of another server.",
    404: "There is no such metric or run.",
    409: "Another server is scoring it.",
    413: "The request is too large.",
    415: "The content type isn't JSON.",
    422: "The body, a metric, a parameter or a sample is wrong; the message says which.",
    500: "A defect in the program or in a plugin.",
    501: "The metric's code or card is broken, or a package is missing.",
    502: "The judge failed.",
    503: "It took too long, or too many others are waiting.",
}


class Operation(NamedTuple):
    """One operation: what it takes and gives, and how it may fail."""

    method: str
    path: str
    name: str
    summary: str
    reply: type[BaseModel]
    body: type[BaseModel] | None = None
    query: Mapping[str, str] = {}
    failures: tuple[int, ...] = (400,)


OPERATIONS = (
    Operation(
        "get",
        "/api/metrics",
        "listMetrics",
        "The installed metrics.",
        bodies.MetricList,
        query={
            "search": "A question or search terms; rare terms count more.",
            **{name: f"Only metrics with this {name}." for name in catalog.FILTERS},
        },
    ),
    Operation(
        "get",
        "/api/metrics/{name}",
        "getMetric",
        "One metric with its parameters, an example to send and its card.",
        bodies.MetricDetails,
        failures=(400, 404, 500, 501, 503),
    ),
    Operation(
        "post",
        "/api/score",
        "score",
        "Score samples with any number of metrics.",
        bodies.ScoreReply,
        bodies.ScoreRequest,
        failures=(400, 403, 413, 415, 422, 500, 501, 502, 503),
    ),
    Operation(
        "get",
        "/api/runs",
        "listRuns",
        "The uploaded files that were scored or compared from the caller's address.",
        bodies.RunList,
    ),
    Operation(
        "delete",
        "/api/runs",
        "deleteRuns",
        "Delete all runs that have ended.",
        bodies.Deleted,
        failures=(400, 403),
    ),
    Operation(
        "get", "/api/runs/{id}", "getRun", "One run.", bodies.RunDetails, failures=(400, 404)
    ),
    Operation(
        "delete",
        "/api/runs/{id}",
        "deleteRun",
        "Delete a run; one that is being scored is stopped first.",
        bodies.Deleted,
        failures=(400, 403, 404, 409),
    ),
)
_PATH = {
    "name": "Its name, or `distribution/name` where plugins share one.",
    "id": "Its id in the list of runs.",
}


def openapi_document(limits: ServerLimits) -> dict[str, Any]:
    """The document."""
    models: list[type[BaseModel]] = [bodies.ProblemBody]
    for operation in OPERATIONS:
        models += filter(None, (operation.reply, operation.body))
    # What is only given out needs the schema of what is given, defaults and all.
    _, schemas = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "metrichub",
            "version": metrichub.__version__,
            "summary": "Scores generated text.",
            "description": (
                f"A request may have {limits.body:,} bytes, {limits.samples:,} samples, "
                f"{limits.characters:,} characters and {limits.metrics} metrics, and may be scored "
                f"for {limits.seconds:g} seconds. Judge and embedder are the server's."
            ),
        },
        "paths": paths,
        "components": {"schemas": schemas["$defs"]},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "query", "description": description, "schema": {"type": "string"}}
        for name, description in operation.query.items()
    ]
    parameters += [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": description,
            "schema": {"type": "string"},
        }
        for name, description in _PATH.items()
        if f"{{{name}}}" in operation.path
    ]
    document: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {
            "200": {"description": "The answer.", "content": _content(operation.reply)},
            **{
                str(status): {
                    "description": _REASONS[status],
                    "content": _content(bodies.ProblemBody),
                }
                for status in operation.failures
            },
        },
    }
    if parameters:
        document["parameters"] = parameters
    if operation.body:
        document["requestBody"] = {"required": True, "content": _content(operation.body)}
    return document


def _content(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REF.format(model=model.__name__)}}}
