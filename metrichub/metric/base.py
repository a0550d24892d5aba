"""Metric: what an author writes, and how the framework reads it.

A metric names its inputs by the parameters of `observe` or `measure`, and its statistics by
those of `score`:

    @dataclass(frozen=True, kw_only=True)
    class LengthRatio(Metric):
        def observe(self, prediction: str, reference: str) -> Row:
            return {"long": len(prediction.split()), "short": len(reference.split())}

        def score(self, long: Array, short: Array) -> Scores:
            return {"score": long / short}

`observe` measures one row, `measure` whole columns; a metric has one of them. `score` works on
the arrays of one sample, of all samples, or of their sums: it broadcasts over leading axes.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn

from numpy.typing import NDArray

from metrichub.catalog.card import Card, metric_html
from metrichub.catalog.frontmatter import Scale, pattern_of
from metrichub.catalog.parameters import check_parameters, omitted, values_of
from metrichub.errors import MetricError
from metrichub.metric.published import Checkpoint, Published

if TYPE_CHECKING:
    from metrichub.metric.checks import Check
    from metrichub.text.tokenize.tokenizers import Tokenizer

Array = NDArray[Any]
"""Numbers: int64 for counts, float64 for the rest."""
Row = Mapping[str, float | Sequence[float]]
Scores = Mapping[str, Array]
TraceItem = Mapping[str, Any]
Averaging = Literal["micro", "macro", "corpus"]
"""How samples make a corpus score; see `Metric.averaging`."""
IMPORTED = time()
"""When this was imported, in seconds since 1970: code that changed later may not be what runs."""
_BY_A_HUB = "pass it to a hub: Hub(metrics=metric)(predictions=[...], references=[...])"


class Unscored(NamedTuple):
    """The result of `observe` for a row without a score, with the reason to show.

    A row is unscored because of its references, sources or questions. It is unscored because of its
    prediction, or of what was retrieved for it, only if the metric's definition has no value for
    that: `undefined_for` is then a reason that the card lists, such as "no_claims" or
    "no_contexts", and the sample counts as unanswered.
    """

    reason: str
    undefined_for: str | None = None


class Measured(NamedTuple):
    """The result of `measure` if it can say why a row is unscored (`nan`).

    `undefined_for` has the rows that are unscored because of their prediction; see `Unscored`.
    """

    statistics: Mapping[str, Array]
    reasons: Mapping[int, str]
    undefined_for: Mapping[int, str] = MappingProxyType({})


class WithTrace(NamedTuple):
    """A row together with what it was computed from: {"claims": [Verdict(...), ...]}.

    `row` is anything that `observe` may return; `step` holds texts, numbers, lists, mappings,
    dataclasses and named tuples, which are stored as JSON types.
    """

    row: Any
    step: TraceItem


class _CardBeside:
    """The card in the folder of the class's module; a metric without one gets a bare card."""

    def __get__(self, instance: object, owner: type) -> Card:
        return _card_of(owner)


@cache
def _card_of(owner: type) -> Card:
    file = getattr(sys.modules.get(owner.__module__), "__file__", None)
    if file and Path(file).name == "__init__.py":
        card = _card_in(Path(file).parent)
        if card:
            return card
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in owner.__name__).strip("_")
    return Card(name, owner.__name__, "", _inputs(owner), {"score": Scale()})


@cache
def _card_in(folder: Path) -> Card | None:
    path = folder / "README.md"
    return Card.read(path) if path.exists() else None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric whose statistics add up over samples. Frozen, stateless and picklable.

    Attributes:
        name: The key of its scores in a result; the card's name unless given.
        extraction: How the answer is read from each prediction before the metric sees it, such as
            "boxed" or "after('Answer:')". If None, the metric reads whole predictions, unless its
            hub says how; if "none", always. Specs and signatures call it `extract`.
        reference_extraction: The same for references, `extract_references` in specs; one for all
            metrics of a hub that read references.
    """

    name: str = ""
    extraction: str | None = field(default=None, repr=False)
    reference_extraction: str | None = field(default=None, repr=False)
    # Without an annotation, since a dataclass would read the card while the class is made.
    card = _CardBeside()
    block_characters: ClassVar[int | None] = None
    """How many characters this metric wants to see at a time, if not the hub's default."""
    takes_nothing: ClassVar[bool] = False
    """Whether the metric itself scores a prediction that nothing was extracted from, as None.

    With any other metric such a prediction has the worst score.
    """
    normalizes_unicode: ClassVar[bool] = False
    """Whether texts in other Unicode forms are equal to the metric; else reports note several."""
    checkpoints: ClassVar[Sequence[Checkpoint]] = ()
    """The models that it is known for, the default first; `metrichub fetch NAME` downloads that."""
    published: ClassVar[Sequence[Published]] = ()
    """Published scores with the model that gave them, which `metrichub selftest NAME` compares."""
    averaging: ClassVar[Averaging] = "macro"
    """How samples make the corpus score, which tools that average samples themselves must know.

    macro: it is the mean of the sample scores, of those that aren't `nan`. micro: a score of summed
    statistics, as BLEU's, which is another number than that mean. corpus: the metric concludes from
    all rows together. A metric that writes its own `score` is micro unless it says "macro".
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Know how a metric averages that writes its own `score`."""
        super().__init_subclass__(**options)
        named = "averaging" in vars(cls) or cls.averaging == "corpus"
        if "score" in vars(cls) and not named:
            cls.averaging = "micro"

    def __post_init__(self) -> None:
        """Set the default name and check every parameter against its annotation."""
        if not self.name:
            object.__setattr__(self, "name", self.card.name)
        check_parameters(self, self.name)

    def inputs(self) -> tuple[str, ...]:
        """The parameter names of `observe or `measure`; override if they depend on a parameter.

        Raises:
            MetricError: the class has neither of the two, or both.
        """
        metric: type = type(self)
        return _inputs(metric)

    def system_inputs(self) -> tuple[str, ...]:
        """Inputs beside predictions that each system makes, so that systems may differ in them."""
        return ()

    def scales(self, totals: Mapping[str, Array], count: int) -> Mapping[str, Scale]:
        """The scales of outputs that depend on the summed statistics of `count` samples.

        For a metric whose card can't say it; the card's scale holds for all other outputs.
        """
        return {}

    @classmethod
    def statistics(cls) -> tuple[str, ...] | None:
        """The parameter names of `score`; None if it takes whatever was observed (the mean)."""
        parameters = arguments_of(cls, "score")
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return None
        return tuple([name for name in parameters if name != "count"])

    def score(self, *_: Any, **observed: Any) -> Scores:
        """The mean of each observed quantity over the scored samples (macro).

        A `score` of your own takes the statistics as parameters; add `count` for the number of
        scored samples in each sum.
        """
        count = observed.pop("count")
        return {name: total / count for name, total in observed.items()}

    score_samples: ClassVar[Callable[..., Scores] | None] = None
    """Another convention for one text, if the metric's field has one, such as sentence BLEU.

    A method that takes what `score` takes and gives the same outputs, (N,), for the rows of single
    samples. `report.samples()`, explanations and plots use it; the corpus, its intervals and
    tests, and `reduce` use `score`.
    """

    def outputs(self) -> tuple[str, ...]:
        """The outputs of `score`: those on the card, unless they depend on a parameter."""
        return tuple(self.card.scores)

    def requires(self) -> tuple[str, ...]:
        """The packages to install, as pip names them: those on the card, unless overridden.

        A metric whose parameters choose between two libraries returns the one that it will load.
        """
        return self.card.requires

    def resolved(self) -> Mapping[str, object]:
        """Parameters whose value in the signature is more specific than the one that was set.

        For example, a metric that loads a model returns the revision of the files, and the layer
        that a default stands for, so that scores of other weights can't be compared or merged. This
        loads no model.
        """
        return {}

    def reuse_key(self) -> str | None:
        """What a measurement depends on, such as a hash of a model's files, and the device.

        With one, what `measure` gives for a block of texts is kept for later runs, under the name
        that `resolved` gives as `model`. It may depend on nothing else but texts, parameters, and
        the code of its classes' packages and of those that it requires. Without one, as by
        default, it is measured in each run.
        """
        return None

    def templates(self) -> Mapping[str, Any]:
        """The text and the examples of each prompt for a judge model, without the samples.

        Signatures hold a hash of them, and saved reports the texts.
        """
        return {}

    def declared_tokenizer(self) -> Tokenizer | None:
        """The tokenizer of the texts, by name or as a function of one text; None without words.

        It is the metric's `tokenizer` or `tokenize`, unless overridden. Reports note the letters
        that it doesn't split or that it drops; see also `drops_letters`.
        """
        chosen = getattr(self, "tokenizer", getattr(self, "tokenize", None))
        return chosen if isinstance(chosen, str) else None

    def drops_letters(self) -> bool:
        """Whether the metric drops letters by definition: the card says so, unless it depends.

        For any other metric, a sample is unscored if the tokenizer drops over half of the letters
        and digits of every reference.
        """
        return self.card.drops_letters

    def one_process(self) -> bool:
        """Whether only one process may measure at a time, however many workers the hub has.

        For example, because each process would need a GPU, or a copy of a large model.
        """
        return False

    def headline(self) -> tuple[str, ...]:
        """The outputs to show first: those that the card lists and this metric returns."""
        outputs = self.outputs()
        named = (
            output
            for name in self.card.headline
            for output in outputs
            if name in (output, pattern_of(output))
        )
        return tuple(dict.fromkeys(named)) or ("score",)

    def undefined(self, totals: Mapping[str, Array]) -> bool:
        """Whether the summed statistics have no score, where those of single samples may have one.

        The corpus score is then `nan`, as BLEU's without any 4-gram; `notes` says why. Resamples,
        swaps and `reduce` take the number that `score` gives.
        """
        return False

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """Notes for the reader of the corpus score, from the summed statistics if it has any.

        One that says why the score may mislead is a `Doubt`. Statistics whose names begin with
        `noted_` are for notes alone: `score` doesn't take them, and `measure` may omit zeros.
        """
        return ()

    def text_checks(self, usual: Sequence[Check]) -> Sequence[Check]:
        """The checks that doubt what goes into the score: the usual ones of metrics of its family.

        Override to add some of your own, or to leave out what is right for this metric.
        """
        return usual

    def step_notes(self, steps: Sequence[TraceItem]) -> Sequence[str]:
        """Notes for the reader from the traces of all samples."""
        return ()

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Raise `MetricError`: a hub computes the scores of a metric."""
        raise MetricError(f"{self.name} can't be called; {_BY_A_HUB}")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to do in place of the methods that other libraries' metrics have."""
            if name == "compute":
                raise AttributeError(f"{self.name} has no compute; {_BY_A_HUB}")
            if name in ("add", "add_batch"):
                raise AttributeError(
                    f"{self.name} has no {name}; pass samples that come in parts to "
                    "Hub(metrics=metric).evaluate(...) as an iterator of tables, or merge the "
                    "reports of the parts with report.merge(other)"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def label(self) -> str:
        """The metric and its parameters: "bleu(max_order=4, tokenize='13a')".

        Values that may change, such as a model's newest revision, are resolved.
        """
        values, hidden = {**self._values(), **self.resolved()}, omitted(self)
        card_name = self.card.name
        pairs = ", ".join([f"{key}={v!r}" for key, v in values.items() if key not in hidden])
        call = f"{card_name}({pairs})" if pairs else card_name
        return call if self.name == card_name else f"{self.name} = {call}"

    def _repr_html_(self) -> str:
        """A table of its inputs, outputs and parameters, for notebooks."""
        return metric_html(self.card, self.name, self.inputs(), self.headline(), values_of(self))

    def _values(self) -> dict[str, object]:
        return values_of(self)


def measuring(metric: type[Metric]) -> str:
    """Which of "observe" and "measure" a metric writes.

    Raises:
        MetricError: it has neither of the two, or both.
    """
    observes = hasattr(metric, "observe")
    if observes == hasattr(metric, "measure"):
        both = "observe and measure" if observes else "neither observe nor measure"
        raise MetricError(f"{metric.__name__} has {both}; write one of the two")
    return "observe" if observes else "measure"


@cache
def _inputs(metric: type[Metric]) -> tuple[str, ...]:
    return tuple(arguments_of(metric, measuring(metric)))


def takes_count(metric: Metric, method: str = "score") -> bool:
    """Whether a metric's `score` asks for the number of what was summed."""
    return "count" in arguments_of(type(metric), method) or type(metric).statistics() is None


def has_sample_scores(metric: Metric) -> bool:
    """Whether a metric scores one sample by another convention than the corpus."""
    return type(metric).score_samples is not None


def arguments_of(metric: type[Metric], method: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of a method of the author's by name, without `self`."""
    return _without_self(getattr(metric, method))


@cache
def _without_self(method: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    parameters = dict(inspect.signature(method).parameters)
    parameters.pop("self", None)
    return parameters
