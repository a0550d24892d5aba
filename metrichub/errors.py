"""Every error that metrichub raises on purpose.

    MetrichubError
    ├── InputError (ValueError)            samples that can't be scored: what, where, what to do
    │   ├── CellError                      a value in a column that no metric reads
    │   ├── MissingColumn (LookupError)    a metric needs a column that the data doesn't have
    │   └── FileError                      a file that can't be read as samples
    ├── SpecError (ValueError)             a metric spec that can't be parsed
    ├── ParameterError (ValueError)        a parameter with a value that isn't allowed
    │   ├── UnknownParameter (TypeError)   a parameter that the metric doesn't have
    │   └── MissingParameter (TypeError)   a parameter without a default that has no value
    ├── UnknownMetric (LookupError)        no installed metric has this name
    │   └── AmbiguousMetric                two installed packages use this name
    ├── BrokenMetric (ImportError)         an installed metric that can't be imported
    ├── MissingDependency (ImportError)    a package that has to be installed first
    ├── ModelError (RuntimeError)          a model that can't be fetched, read or run here
    │   └── MissingModel (LookupError)     a model that isn't on this machine
    ├── CardError (ValueError)             a metric card that breaks the format
    ├── MetricError (TypeError)            a metric whose code breaks the contract
    │   └── ScoringError                   a metric that raised while it scored a sample
    ├── JudgeError (RuntimeError)          a call to a judge that failed; the sample has no score
    │   ├── JudgeUnavailable               no later call can succeed; ends the run
    │   ├── BudgetSpent                    the next call would exceed a limit; ends the run
    │   └── TooManyErrors                  more samples failed than the run allows; ends it
    ├── Pending (RuntimeError)             calls that wait for a batch: send its file, run again
    ├── ReportError (ValueError)           reports that can't be merged, compared or read
    │   └── UnknownScore (KeyError)        no metric or output of this name has a score here
    └── SiteError (RuntimeError)           a site of cards that can't be built
    DoubtfulScore (UserWarning)            a warning, not an error: a score that may mislead

Each also derives from the builtin exception that a caller would expect, and has the exit status
of the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

Action: TypeAlias = Literal[
    "choose_column", "choose_field", "keep_column", "name_format", "name_any_format",
    "read_quotes", "open_report", "save_report", "list_metrics", "give_votes", "set_service",
    "reduce_in_hub", "compare_common", "name_key", "name_tries", "read_place",
]  # fmt: skip
Words: TypeAlias = Mapping[Action, str]
"""An interface's words for each action that it has; they format a remedy."""

_PYTHON: Words = {
    "choose_column": "choose one with columns={{{0.subject!r}: {0.value!r}}}",
    "choose_field": "or name the field to read: columns={{{0.subject!r}: {0.value!r}}}",
    "keep_column": "keep it: keep=[{0.subject!r}]",
    "name_format": (
        "if the file is {0.subject}, read it with metrichub.read(path, format={0.value!r})"
    ),
    "name_any_format": "or name the format: metrichub.read(path, format=...)",
    "read_quotes": "or, if quotes are text, read it with metrichub.read(path, quoting='none')",
    "open_report": "open it with Report.load",
    "save_report": "save one with report.save()",
    "list_metrics": "pass a list, {0.subject}",
    "give_votes": "give their votes as preferences=",
    "set_service": "pass {0.subject}={0.value}",
    "reduce_in_hub": "give it to the hub: Hub(metrics, reduce='mean')",
    "compare_common": "common=True compares on those",
    "name_tries": "or, if each row is a try, name the column of the tasks, tries='NAME'",
    "name_key": "name the column that identifies a sample, key='NAME'",
    "read_place": "if it is the place of a choice, from 0, give extract_references={0.subject!r}",
}


class DoubtfulScore(UserWarning):
    """A score may mislead; the text says why, which samples, and what to do.

    `warnings.filterwarnings("ignore", category=metrichub.DoubtfulScore)` silences all of them.
    """


DOUBTS: ContextVar[Literal["warned", "noted", "unseen"]] = ContextVar("doubts", default="warned")
"""What becomes of what makes a score doubtful; it isn't looked for where nobody would see it."""


@contextmanager
def without_warnings(*, notes: bool = True) -> Iterator[None]:
    """Whatever is measured or compared within warns of nothing, and only notes its doubts."""
    token = DOUBTS.set("noted" if notes else "unseen")
    try:
        yield
    finally:
        DOUBTS.reset(token)


class Doubt(str):
    """A note that says why a number may mislead; other notes inform.

    `check` names what was checked, which a hub says once.
    """

    __slots__ = ("check",)
    check: str

    def __new__(cls, text: str, check: str = "") -> Self:
        """The text, of a check of this name."""
        doubt = super().__new__(cls, text)
        doubt.check = check
        return doubt


class Remedy(NamedTuple):
    """A way out of an error for the user: an action, its subject, and a value."""

    action: Action
    subject: str = ""
    value: str = ""


class MetrichubError(Exception):
    """Any error that metrichub raises on purpose; the message is one readable line.

    `remedy` is what to do about it, where that differs between Python, the command line and pages.
    """

    exit_status: ClassVar[int] = 2
    remedy: Remedy | None = None

    def __str__(self) -> str:
        """The message, and the remedy in Python."""
        return self.worded(_PYTHON)

    def worded(self, words: Words) -> str:
        """The message, and the remedy in the words of an interface, if it has any for it."""
        message = printable(Exception.__str__(self), lines=True)
        if self.remedy is None or self.remedy.action not in words:
            return message
        return f"{message}; {words[self.remedy.action].format(self.remedy)}"

    def with_remedy(self, action: Action, subject: str = "", value: str = "") -> Self:
        """This error, with what to do about it."""
        self.remedy = Remedy(action, subject, value)
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild without `__init__`, whatever it takes, so that every error crosses processes."""
        return (_rebuilt, (type(self), self.args), self.__dict__)


def _rebuilt(kind: type[MetrichubError], arguments: tuple[object, ...]) -> MetrichubError:
    return kind.__new__(kind, *arguments)


class InputError(MetrichubError, ValueError):
    """Samples that can't be scored; `column` and `sample` say which, if it is a single one."""

    exit_status = 3
    column: str | None = None
    sample: int | None = None


class CellError(InputError):
    """A metric can't read what a sample has in one of its columns; `sample` counts from 0."""

    sample: int

    def __init__(self, problem: str, sample: int) -> None:
        super().__init__(f"{problem}, in sample {sample}")
        self.problem, self.sample = problem, sample

    @classmethod
    def check(cls, error: BaseException, sample: int) -> None:
        """Raise this error in place of what a metric raised of a sample without naming it."""
        if type(error) is InputError and error.sample is None:
            raise cls(str(error), sample) from error

    def at(self, sample: int) -> CellError:
        """The same error of a sample."""
        return CellError(self.problem, sample)


class MissingColumn(InputError, LookupError):
    """A metric needs a column that the data doesn't have."""


class FileError(InputError):
    """A file that can't be read as samples; `path` and `line` (from 1) say where."""

    whole = False
    """Whether the file is JSON as it should be, but of something else, such as settings."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path, self.line = str(path), line
        where = f"{path}:{line}" if line is not None else str(path)
        super().__init__(f"{where}: {message}")


class SpecError(MetrichubError, ValueError):
    """A metric spec that can't be parsed."""


class ParameterError(MetrichubError, ValueError):
    """A parameter that is unknown, or whose value isn't allowed."""

    def __init__(self, metric: str | None, parameter: str, value: object, allowed: str) -> None:
        self.metric, self.parameter, self.value, self.allowed = metric, parameter, value, allowed
        where = f"{metric}: " if metric else ""
        super().__init__(f"{where}{parameter}={value!r} is not allowed; choose {allowed}")


class UnknownParameter(ParameterError, TypeError):
    """A parameter that the metric or the method doesn't have."""

    def __init__(self, metric: str | None, parameter: str, known: Sequence[str]) -> None:
        MetrichubError.__init__(
            self,
            f"{metric} has no parameter {parameter!r}{did_you_mean(parameter, known)}"
            f" (it has: {', '.join(known) or 'none'})",
        )
        self.metric, self.parameter, self.known = metric, parameter, tuple(known)


class MissingParameter(ParameterError, TypeError):
    """A parameter without a default that has no value."""

    def __init__(self, metric: str, parameter: str, example: str, meaning: str) -> None:
        MetrichubError.__init__(
            self, f'{metric} needs a value for {parameter}, as in "{example}". {meaning}'.strip()
        )
        self.metric, self.parameter, self.example = metric, parameter, example


class UnknownMetric(MetrichubError, LookupError):
    """No installed metric has this name."""


class AmbiguousMetric(UnknownMetric):
    """Two installed packages use this name; the qualified names always work."""


class BrokenMetric(MetrichubError, ImportError):
    """An installed metric that can't be imported."""

    exit_status = 5


class MissingDependency(MetrichubError, ImportError):
    """A package that has to be installed first."""

    exit_status = 5

    def __init__(self, needed_by: str, package: str, install: str | None = None) -> None:
        self.needed_by, self.package, self.install = needed_by, package, install
        command = install or f"pip install {package}"
        super().__init__(f"{needed_by} needs {package}, which isn't installed: {command}")


class ModelError(MetrichubError, RuntimeError):
    """A model that can't be fetched, read or run on this machine."""

    exit_status = 5


class MissingModel(ModelError, LookupError):
    """A model that isn't on this machine; metrichub downloads models only on request."""

    def __init__(self, needed_by: str, model: str, get: str) -> None:
        self.needed_by, self.model, self.get = needed_by, model, get
        super().__init__(f"{needed_by} needs the model {model}, which isn't on this machine: {get}")


class CardError(MetrichubError, ValueError):
    """A metric card that breaks the format; the message starts with file and line."""


class MetricError(MetrichubError, TypeError):
    """A metric whose code breaks the contract."""


class ScoringError(MetricError):
    """A metric that raised while scoring; `metric` and `sample` (from 0) say where, if known.

    The cause is the original exception, from other processes too.
    """

    exit_status = 70

    def __init__(self, metric: str, problem: str, sample: int | None = None) -> None:
        self.metric, self.problem, self.sample = metric, problem, sample
        where = f" on sample {sample}" if sample is not None else ""
        super().__init__(f"{metric} failed{where}: {problem}")

    def at(self, sample: int | None) -> ScoringError:
        """The same error of a sample."""
        return ScoringError(self.metric, self.problem, sample)


class JudgeError(MetrichubError, RuntimeError):
    """A call to a judge or an embedder that failed: the sample has no score."""

    exit_status = 4
    ends_the_run: ClassVar[bool] = False


class JudgeUnavailable(JudgeError):
    """A failure that every later call would share: no key, a wrong key, no such model or server."""

    ends_the_run = True


class BudgetSpent(JudgeError):
    """The next call would exceed the run's limit of calls, tokens or cost."""

    ends_the_run = True


class TooManyErrors(JudgeError):
    """More samples failed than the run allows."""

    ends_the_run = True


class Pending(MetrichubError, RuntimeError):
    """Calls wait for a batch; the run can continue once their answers arrive.

    `paths` are the files to send, with `calls` in all, and `round` counts from 0. `report` is the
    report so far, in which waiting samples have the status "pending"; for several systems, a
    mapping from their names to their reports.
    """

    exit_status = 75

    def __init__(
        self, message: str, calls: int, number: int, paths: tuple[str, ...], report: Any
    ) -> None:
        super().__init__(message)
        self.calls, self.round, self.paths, self.report = calls, number, paths, report


class ReportError(MetrichubError, ValueError):
    """Reports that can't be merged, compared or read."""


class UnknownScore(ReportError, KeyError):
    """No metric or output of this name has a score here."""


class SiteError(MetrichubError, RuntimeError):
    """A site of cards that can't be built."""

    exit_status = 1


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Up to three near matches as "; did you mean 'x' or 'y'?", or nothing."""
    import difflib

    names = list(known)
    near = [name for name in names if name.lower() == word.lower()]
    # "accuracy" means "answer_accuracy" rather than "carburacy", and "f1" means "token_f1".
    near = near or [name for name in names if word.lower() in name.split("_")][:3]
    near = near or difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.6)
    return f"; did you mean {listed(map(repr, near), 'or')}?" if near else ""


def what(value: object) -> str:
    """A value as error messages show it, on one line: its start and its type."""
    shown = repr(value).replace("\n", " ")
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return shown if value is None else f"{shown} ({type(value).__name__})"


_JOINS = r"(?<![^\x00-\u02ff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u02ff])"
_HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    rf"\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]|{_JOINS}"
)


def printable(text: str, *, lines: bool = False) -> str:
    r"""The text with what no reader sees escaped, as "\x1b[2J"; on one line, but for `lines`.

    A terminal obeys control characters, and others reorder or hide what is beside them: overrides
    of direction, zero-width characters, lone surrogates. Joiners stay within scripts and emoji,
    which need them.
    """
    if lines:
        parts = re.split(r"([\n\t])", text)
        return "".join(part if part in ("\n", "\t") else printable(part) for part in parts)
    return _HIDDEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return " " if match[0].isspace() else match[0].encode("unicode_escape").decode("ascii")


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names as in a sentence: "A", "A and B", "A, B and C"."""
    *most, end = names
    return f"{', '.join(most)} {last} {end}" if most else end
