"""What the JSON API takes and gives, as types; the OpenAPI document is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from metrichub.app.policy import RequestedMetric

Column = Annotated[
    list[Any],
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
            },
        }
    ),
]
Scores = dict[str, dict[str, float | None]]


class MetricSpec(BaseModel):
    """A metric with its parameters."""

    model_config = ConfigDict(extra="forbid")
    metric: str = Field(description="Its name, or a spec such as `bleu(max_order=2)`.")
    parameters: dict[str, Any] = Field({}, description="Parameters of its card by name.")
    name: str | None = Field(None, description="The key of its scores; its own name if left out.")


class ScoreRequest(BaseModel):
    """Samples as columns of equal length, one entry a sample: a text, or a list of texts.

    The columns that the metrics read have to be there: `predictions`, `references`, `sources`,
    `questions`, `contexts`, or any other that a metric's card names, such as `patterns`.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Column]
    metrics: list[str | MetricSpec] = Field(
        min_length=1, description="Names, specs such as `bleu2 = bleu(max_order=2)`, or objects."
    )
    predictions: Column | None = Field(None, description="The texts that are scored.")
    references: Column | None = Field(None, description="The expected texts.")
    sources: Column | None = Field(None, description="The texts that the predictions are based on.")
    questions: Column | None = Field(None, description="The questions that they answer.")
    contexts: Column | None = Field(None, description="Retrieved passages, in rank order.")
    columns: dict[str, str] = Field(
        {}, description="Maps a column to its name in the request, if it has another one."
    )
    reduce: Literal["best", "worst", "mean", "max", "min", "first"] | None = Field(
        None, description="How to reduce several candidates of a sample to one score."
    )
    intervals: bool = Field(False, description="Whether to add bootstrap intervals.")
    samples: bool = Field(False, description="Whether to add the scores of every sample.")
    explanations: bool = Field(False, description="Whether to add an explanation of every sample.")

    def requested(self) -> list[RequestedMetric]:
        """The metrics."""
        return [
            RequestedMetric(metric)
            if isinstance(metric, str)
            else RequestedMetric(metric.metric, metric.parameters, metric.name)
            for metric in self.metrics
        ]

    def texts(self) -> dict[str, list[Any]]:
        """The columns that were given, under the names that they were given by."""
        canonical = ("predictions", "references", "sources", "questions", "contexts")
        named = {name: getattr(self, name) for name in canonical}
        return {
            name: values
            for name, values in {**named, **self.__pydantic_extra__}.items()
            if values is not None
        }


class UnscoredBody(BaseModel):
    """A sample without a score."""

    sample: int = Field(description="Its position, from 0.")
    reason: str | None


class ExplanationBody(BaseModel):
    """What stands behind the scores of a sample."""

    status: Literal["ok", "undefined", "error", "pending"]
    reason: str | None
    scores: dict[str, float | None]
    steps: list[Any] = Field(
        description="One step per candidate: claims and verdicts, marks, edits."
    )


class IntervalBody(BaseModel):
    """A bootstrap interval of 95%, with mean and standard deviation of the resamples."""

    low: float | None
    high: float | None
    mean: float | None
    std: float | None


class ScoreReply(BaseModel):
    """The scores, by metric and output; null stands for a number that doesn't exist."""

    size: int = Field(description="The number of samples.")
    scores: Scores = Field(description="By metric and output.")
    signatures: dict[str, str] = Field(
        description="The signature of each metric, to report with its scores."
    )
    notes: dict[str, list[str]] = Field(description="Notes for readers of the scores.")
    unscored: dict[str, list[UnscoredBody]] = Field(
        description="The samples without a score, up to a thousand per metric."
    )
    intervals: dict[str, dict[str, IntervalBody]] | None = Field(
        None, description="By metric and output, if requested."
    )
    samples: dict[str, dict[str, list[float | None]]] | None = Field(
        None, description="By metric and output, a number per sample, if requested."
    )
    explanations: dict[str, list[ExplanationBody]] | None = Field(
        None, description="By metric, one per sample, if requested."
    )


class ScaleBody(BaseModel):
    """What an output's numbers mean; null is unbounded."""

    low: float | None
    high: float | None
    better: Literal["higher", "lower", "neither"]
    perfect: float | None


class TagsBody(BaseModel):
    """What a metric is for."""

    task: list[str]
    dimension: list[str]
    family: str
    language: list[str]


class MetricFacts(BaseModel):
    """An installed metric; one with a `problem` has a name and nothing else."""

    name: str = Field(description="The name to request it by.")
    distribution: str = Field(description="The distribution that contains it.")
    version: str = Field(description="The version of the package.")
    problem: str | None = Field(description="Why its card can't be read.")
    unavailable: str | None = Field(description="Why this server can't run it.")
    title: str | None = Field(None, description="The title of its card.")
    summary: str | None = Field(None, description="What it measures, in a sentence.")
    inputs: list[str] | None = Field(None, description="The columns that it reads.")
    outputs: dict[str, ScaleBody] | None = Field(None, description="What its numbers mean.")
    tags: TagsBody | None = Field(None, description="Tasks, dimensions, family and languages.")
    judge: Literal["any", "model"] | None = Field(
        None, description="`any` if rules can answer every prompt, `model` if it needs a model."
    )
    embedder: Literal["any"] | None = Field(None, description="`any` if it compares vectors.")
    license: str | None = Field(None, description="The licence of its code.")
    requires: list[str] | None = Field(
        None, description="The packages to install, as pip names them."
    )
    install: str | None = Field(None, description="The command that installs what it requires.")


class ParameterFacts(BaseModel):
    """A parameter of a metric; one that is `closed` can't be set from here."""

    name: str
    values: str
    default: Any
    required: bool
    meaning: str
    closed: str | None


class MetricDetails(MetricFacts):
    """A metric with its parameters, an example to send and its card."""

    parameters: list[ParameterFacts] = Field(description="Its parameters.")
    example: dict[str, Any] = Field(description="A body for /api/score.")
    citation: str = Field(description="BibTeX; blank without one.")
    card: str = Field(description="The card's text in Markdown.")


class MetricList(BaseModel):
    """The installed metrics."""

    metrics: list[MetricFacts] = Field(
        description="By name, or the best match for the question first."
    )


class RunScore(BaseModel):
    """A score of a run that one reads first."""

    metric: str = Field(description="The metric.")
    output: str = Field(description="Its output.")
    system: str = Field(description="The system, if several were compared.")
    score: float | None = Field(description="The number; null for nan.")


class RunDetails(BaseModel):
    """Files that were uploaded, and what became of them."""

    id: str = Field(description="Its id, which its addresses contain.")
    name: str = Field(
        description="The systems, named by the part in which their files' names differ."
    )
    state: str = Field(description="`waiting`, `running`, `done`, `failed` or `stopped`.")
    begun: str = Field(description="When it started, in ISO 8601.")
    metrics: list[str] = Field(description="The metrics, or their specs until it is done.")
    samples: int | None = Field(description="The number of samples, once it is done.")
    bytes: int = Field(description="Its size on the server's disk.")
    scores: list[RunScore] = Field(description="The headline scores.")
    sentences: list[str] = Field(
        description="The results of tests between several systems, in words."
    )
    files: list[str] = Field(description="Addresses of the files to download.")
    error: str | None = Field(description="Why there are no scores: the kind of error.")
    message: str | None = Field(description="Why there are no scores.")


class RunList(BaseModel):
    """The runs that were begun from the caller's address, the newest first."""

    runs: list[RunDetails] = Field(description="The runs.")


class Deleted(BaseModel):
    """What was deleted."""

    deleted: int = Field(description="How many runs.")


class ProblemBody(BaseModel):
    """Why there is no answer."""

    error: str = Field(description="The kind of error, such as `MissingColumn`.")
    message: str = Field(description="One readable line.")
