"""The public API for authors of metrics, judges, embedders, commands and plugins.

    from dataclasses import dataclass
    from metrichub.authoring import Array, Metric, Row, Scores

    @dataclass(frozen=True, kw_only=True)
    class LengthRatio(Metric):
        def observe(self, prediction: str, reference: str) -> Row:
            return {"long": len(prediction.split()), "short": len(reference.split())}

        def score(self, long: Array, short: Array) -> Scores:
            return {"score": long / short}

See also `metrichub.text`, the engine that fast metrics call, `metrichub.errors`, and
`metrichub.testing`, the contract tests that every metric passes. Names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.catalog.card import Card as Card
    from metrichub.catalog.frontmatter import Scale as Scale
    from metrichub.catalog.parameters import OMIT_DEFAULT as OMIT_DEFAULT
    from metrichub.catalog.parameters import Address as Address
    from metrichub.catalog.parameters import LocalPath as LocalPath
    from metrichub.catalog.parameters import Range as Range
    from metrichub.catalog.parameters import Secret as Secret
    from metrichub.catalog.spec import Spec as Spec
    from metrichub.cli.program import Command as Command
    from metrichub.cli.program import note as note
    from metrichub.cli.shared_options import option_group as option_group
    from metrichub.evaluation.observation import report_progress as report_progress
    from metrichub.evaluation.workers import processes as processes
    from metrichub.judge.aggregate import ClaimCounts as ClaimCounts
    from metrichub.judge.aggregate import are_yes as are_yes
    from metrichub.judge.aggregate import average_precision as average_precision
    from metrichub.judge.aggregate import cosine as cosine
    from metrichub.judge.aggregate import f_beta as f_beta
    from metrichub.judge.aggregate import ratio as ratio
    from metrichub.judge.aggregate import values as values
    from metrichub.judge.conversation_metric import ConversationMetric as ConversationMetric
    from metrichub.judge.metric import FieldText as FieldText
    from metrichub.judge.metric import JudgeMetric as JudgeMetric
    from metrichub.judge.metric import missing_input as missing_input
    from metrichub.judge.metric import no_claims as no_claims
    from metrichub.judge.metric_bases import ContextOrderMetric as ContextOrderMetric
    from metrichub.judge.metric_bases import CustomInputMetric as CustomInputMetric
    from metrichub.judge.metric_bases import GradedMetric as GradedMetric
    from metrichub.judge.metric_bases import OpenGradedMetric as OpenGradedMetric
    from metrichub.judge.metric_bases import PartScore as PartScore
    from metrichub.judge.metric_bases import StatementMetric as StatementMetric
    from metrichub.judge.metric_bases import WrapperMetric as WrapperMetric
    from metrichub.judge.model_metric import EmbedderMetric as EmbedderMetric
    from metrichub.judge.offline import OfflineJudge as OfflineJudge
    from metrichub.judge.prompt_files import SHARED_PROMPTS as SHARED_PROMPTS
    from metrichub.judge.prompt_files import Prompt as Prompt
    from metrichub.judge.protocol import Choice as Choice
    from metrichub.judge.protocol import Fields as Fields
    from metrichub.judge.protocol import Grade as Grade
    from metrichub.judge.protocol import Judge as Judge
    from metrichub.judge.protocol import Questions as Questions
    from metrichub.judge.protocol import Sampling as Sampling
    from metrichub.judge.protocol import SelfDescribed as SelfDescribed
    from metrichub.judge.protocol import Verdict as Verdict
    from metrichub.judge.protocol import WeighedVerdict as WeighedVerdict
    from metrichub.judge.sentences import sentences as sentences
    from metrichub.metric import MAX_GATHERED as MAX_GATHERED
    from metrichub.metric import Array as Array
    from metrichub.metric import Checkpoint as Checkpoint
    from metrichub.metric import CorpusMetric as CorpusMetric
    from metrichub.metric import Measured as Measured
    from metrichub.metric import Metric as Metric
    from metrichub.metric import Published as Published
    from metrichub.metric import Resampler as Resampler
    from metrichub.metric import Row as Row
    from metrichub.metric import Scores as Scores
    from metrichub.metric import TraceItem as TraceItem
    from metrichub.metric import Unscored as Unscored
    from metrichub.metric import WithTrace as WithTrace
    from metrichub.metric.checks import Check as Check
    from metrichub.metric.checks import Rows as Rows
    from metrichub.models.embedders import Embedder as Embedder
    from metrichub.models.embedders import Vectors as Vectors
    from metrichub.models.resolve import embedder_of as embedder_of
    from metrichub.models.resolve import judge_of as judge_of
    from metrichub.text.column import RaggedTexts as RaggedTexts
    from metrichub.text.column import Texts as Texts
    from metrichub.text.conversation import Message as Message
    from metrichub.text.conversation import ToolCall as ToolCall
    from metrichub.text.conversation import interactions as interactions
    from metrichub.text.conversation import message_texts as message_texts
    from metrichub.text.conversation import written_call as written_call

_HOMES = {
    name: home
    for home, names in {
        "catalog.card": "Card",
        "catalog.frontmatter": "Scale",
        "catalog.parameters": "Address LocalPath OMIT_DEFAULT Range Secret",
        "catalog.spec": "Spec",
        "cli.program": "Command note",
        "cli.shared_options": "option_group",
        "models.embedders": "Embedder Vectors",
        "evaluation.observation": "report_progress",
        "evaluation.workers": "processes",
        "judge.aggregate": "are_yes average_precision ClaimCounts cosine f_beta ratio values",
        "judge.conversation_metric": "ConversationMetric",
        "judge.metric": "missing_input FieldText JudgeMetric no_claims",
        "judge.metric_bases": (
            "ContextOrderMetric CustomInputMetric GradedMetric OpenGradedMetric PartScore "
            "StatementMetric WrapperMetric"
        ),
        "judge.model_metric": "EmbedderMetric",
        "judge.offline": "OfflineJudge",
        "judge.prompt_files": "Prompt SHARED_PROMPTS",
        "judge.protocol": (
            "Choice Fields Grade Judge Questions Sampling SelfDescribed Verdict WeighedVerdict"
        ),
        "judge.sentences": "sentences",
        "metric": (
            "Array Checkpoint CorpusMetric MAX_GATHERED Measured Metric Published Resampler Row "
            "Scores TraceItem Unscored WithTrace"
        ),
        "metric.checks": "Check Rows",
        "models.resolve": "embedder_of judge_of",
        "text.column": "RaggedTexts Texts",
        "text.conversation": "Message ToolCall interactions message_texts written_call",
    }.items()
    for name in names.split()
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"metrichub.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
