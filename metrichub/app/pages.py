"""The pages of the gallery, of a metric with its form, of prompts, and of the API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request

from metrichub.app import catalog, forms
from metrichub.app.describe import Description
from metrichub.app.limits import check_size
from metrichub.app.middleware import client_of
from metrichub.app.openapi import openapi_document
from metrichub.app.policy import RequestedMetric
from metrichub.app.problem import Problem, Refusal, problem
from metrichub.app.service import service
from metrichub.app.settings import Judging
from metrichub.app.views import Page, markdown, page
from metrichub.app.worker_tasks import Job, score_job
from metrichub.authoring import embedder_of, judge_of
from metrichub.errors import InputError

REDUCTIONS = ("best", "worst", "mean", "max", "min", "first")


async def gallery(request: Request) -> Page:
    """All metrics; those that the query leaves out are hidden, so that a script can show them."""
    items = catalog.items()
    query = request.query_params
    search = query.get("search", "")
    options = catalog.options(items)
    chosen = {name: tag for name in catalog.FILTERS if (tag := query.get(name))}
    fitting = catalog.matching(search, chosen)
    # Those that fit stand first, so that the best answer does without a script, too.
    items = (*fitting, *(item for item in items if item not in fitting))
    return page(
        request,
        "gallery.html",
        {
            "items": items,
            "options": options,
            "chosen": chosen,
            "search": search,
            "fitting": {item.name for item in fitting},
        },
    )


async def metric_page(request: Request) -> Page:
    """A metric's card, with a form that holds its example."""
    return await _metric(request)


async def post_metric(request: Request) -> Page:
    """The same page with one field more, or with the scores of what was filled in."""
    server = service(request)
    item = server.item(request.path_params["name"])
    form = await request.form(max_files=0, max_fields=forms.MOST_FIELDS)
    description = await server.described(item, client_of(request.scope))
    choices = {name: [str(value) for value in form.getlist(name)] for name in form}
    filled = forms.read_form(dict(form), choices, description)
    if more := form.get("more"):
        filled.more(str(more))
        return await _metric(request, filled)
    try:
        columns = forms.filled_columns(filled, description)
        parameters = forms.filled_parameters(filled, description)
        check_size(columns, server.settings.limits, [parameters])
        metric = RequestedMetric(item.entry.qualified, parameters, item.card.name)
        job = Job(
            [metric],
            columns,
            reduce=filled.reduce or None,
            judging=server.settings.judging,
            samples=True,
            explanations=True,
        )
        scored = await server.pool.run(
            score_job, job, client=client_of(request.scope), seconds=server.settings.limits.seconds
        )
        return await _metric(request, filled, scored=scored)
    except InputError as error:
        return await _metric(request, filled, refusal=Refusal.of(error), status=422)
    except Problem as error:
        return await _metric(request, filled, refusal=error.refusal, status=error.status_code)


async def _metric(
    request: Request,
    filled: forms.Filled | None = None,
    *,
    scored: dict[str, Any] | None = None,
    refusal: Refusal | None = None,
    status: int = 200,
) -> Page:
    server = service(request)
    item = server.item(request.path_params["name"])
    if item.problem:
        return page(request, "broken.html", {"item": item, "problem": item.problem}, 501)
    description: Description | None = None
    try:
        description = await server.described(item, client_of(request.scope))
        filled = filled or forms.from_example(description)
    except Problem as error:
        refusal = error.refusal
    return page(
        request,
        "metric.html",
        {
            "item": item,
            "card": item.card,
            "body": markdown(_without_title(item.card.body), catalog.linker(item)),
            "description": description,
            "filled": filled,
            "scored": scored,
            "refusal": refusal,
            "reductions": REDUCTIONS,
            "asked": ", ".join(_model_labels(item, server.settings.judging)),
        },
        status,
    )


def _without_title(body: str) -> str:
    head, _, rest = body.lstrip().partition("\n")
    return rest if head.startswith("# ") else body


def _model_labels(item: catalog.Item, judging: Judging) -> Iterator[str]:
    """The judge and the embedder that it asks here, as signatures have them: without a key."""
    if item.card.judge and judging.judge:
        yield judge_of(judging.judge).label
    if item.card.embedder and judging.embedder:
        yield embedder_of(judging.embedder).label


async def text(request: Request) -> Page:
    """A Markdown file in the folder of a card."""
    item = service(request).item(request.path_params["name"])
    path = request.query_params.get("path", "")
    content = catalog.text_in(item.entry.folder, path)
    return _text(request, path, content, item)


async def prompt(request: Request) -> Page:
    """A prompt that several metrics share."""
    path = request.query_params.get("path", "")
    return _text(request, path, catalog.shared_prompt(path), None)


def _text(request: Request, path: str, content: str | None, item: catalog.Item | None) -> Page:
    if content is None:
        raise problem(404, "NotFound", "there is no such text")
    return page(request, "text.html", {"name": path, "text": content, "item": item})


async def api(request: Request) -> Page:
    """The JSON API, for readers."""
    base = str(request.base_url).rstrip("/")
    example = {
        "metrics": ["bleu", {"metric": "rouge", "parameters": {"variant": "rouge1"}}],
        "predictions": ["the cat sat on the mat"],
        "references": [["the cat is on the mat", "a cat sat on the mat"]],
        "intervals": True,
    }
    document = openapi_document(service(request).settings.limits)
    shown = json.dumps(example, indent=2)
    return page(request, "api.html", {"api": document, "base": base, "example": shown})
