"""A run of a model as judge, recorded into a file, and how far it agrees with people.

    python -m benchmarks.record FILE --judge "openai(model='…')" --estimate
    python -m benchmarks.record FILE --judge "openai(model='…')"
    python -m benchmarks.record FILE

The first command says what the second one takes, which asks a model behind any OpenAI-compatible
server and writes its answers to FILE; one that ends early continues where it stopped. The third one
replays FILE without a server. Both print the agreement, and fail if FILE lacks a question that the
prompts of today ask.

SummEval and QAGS are read from `--data` as by `benchmarks.agreement`. The cut of SummEval in
`tests/data` has no articles: there, a document's references stand in for them. FILE holds what was
answered, which quotes the texts, so only that of `tests/data` may become part of the repository. It
holds no key, no header and no address.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks.agreement import Scored, agreement_of
from benchmarks.rated_data import ARTICLE, STUDIES, RatedData
from benchmarks.rated_texts import Texts
from metrichub import Hub, OpenAIJudge, Report
from metrichub.agreement.of_report import scores_by_label, sources_of
from metrichub.catalog.spec import Spec
from metrichub.models.resolve import judge_of
from metrichub.models.store import Store, cache_folder, open_store
from metrichub.models.usage import Answer
from metrichub.testing import Recorded

METRICS = (
    "faithfulness",
    "summarization",
    "summarization_score",
    "coherence",
    "consistency",
    "fluency",
    "relevance",
    "g_eval(criteria='The summary gives the main points of the text in clear words.')",
)
_TEXTS = Path(__file__).resolve().parents[1] / "tests" / "data"


class _Placeless(OpenAIJudge):
    """A judge whose answers are those of its model, wherever that is served."""

    @property
    def label(self) -> str:
        """The spec without the address."""
        spec = Spec.parse(super().label)
        shown = {name: value for name, value in spec.parameters.items() if name != "base_url"}
        return str(Spec(spec.metric, shown))

    def _endpoint(self) -> dict[str, str]:
        return {}


class _Replayed(_Placeless, Recorded):
    """The recorded answers."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--judge", help="Whom to ask; without it, FILE is replayed.")
@click.option("--data", type=click.Path(path_type=Path), default=_TEXTS, show_default=True)
@click.option("--documents", type=int, help="So many documents of each data set instead of all.")
@click.option("--estimate", is_flag=True, help="Say what it takes, and ask nothing.")
def main(file: Path, judge: str | None, data: Path, documents: int | None, estimate: bool) -> None:
    """Record a judge's answers in FILE, or replay them."""
    if judge is not None:
        asked = placeless(judge)
        if estimate:
            for study, texts in studies(data, documents):
                click.echo(f"{study.name}: {Hub(METRICS, judge=asked).estimate(**columns(texts))}")
            return
        record(file, asked, data, documents)
    head, answers = read(file)
    with replayed(head, answers) as judge_again:
        by_name = {study.name: (study, texts) for study, texts in studies(data, head["documents"])}
        if missing := head["failed"].keys() - by_name:
            raise click.ClickException(f"--data lacks what was recorded: {', '.join(missing)}")
        for study, texts in map(by_name.__getitem__, head["failed"]):
            report = Hub(METRICS, judge=judge_again).evaluate(**columns(texts))
            if report.failed != head["failed"][study.name]:
                causes = {
                    cause for trace in report.traces.values() for cause in trace.errors_by_cause
                }
                raise click.ClickException(
                    f"{study.name}: {report.failed} samples have no score, and "
                    f"{head['failed'][study.name]} had none when {file} was recorded; record it "
                    f"again if prompts have changed: {'; '.join(sorted(causes)[:3])}"
                )
            click.echo(f"{study.title}, {report.size} texts, {head['judge']}, {head['date']}\n")
            click.echo(f"{agreement(report, study, texts)}\n")


def record(file: Path, judge: OpenAIJudge, data: Path, documents: int | None) -> None:
    """Ask all questions that aren't in the call store, and write the answers to the file."""
    keys: set[str] = set()
    failed: dict[str, int] = {}
    for study, texts in studies(data, documents):
        report = Hub(METRICS, judge=judge).evaluate(**columns(texts))
        click.echo(f"{study.name}: {report.usage}", err=True)
        failed[study.name] = report.failed
        for trace in report.traces.values():
            keys.update(key for keys_of in trace.calls.values() for key in keys_of)
    head = {
        "judge": judge.label,
        "date": datetime.now(UTC).date().isoformat(),
        "documents": documents,
        "failed": failed,
    }
    store = open_store(Path(cache_folder(), "calls.sqlite"))
    answers = {key: answer for key in sorted(keys) if (answer := store.get(key))}
    rows = [head, *({"key": key, **answer._asdict()} for key, answer in answers.items())]
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    file.write_text(text, encoding="utf-8")


def read(file: Path) -> tuple[dict[str, Any], dict[str, Answer]]:
    """A file's facts about its run, and the answers by the keys of their questions."""
    head, *rows = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
    return head, {row.pop("key"): Answer(**row) for row in rows}


@contextmanager
def replayed(head: Mapping[str, Any], answers: Mapping[str, Answer]) -> Iterator[Recorded]:
    """A judge that gives the answers, and fails on any other question."""
    spec = Spec.parse(head["judge"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "calls.sqlite")
        store = Store(path)
        for key, answer in answers.items():
            store.put(key, str(spec.parameters.get("model")), answer)
        store.close()
        parameters: dict[str, Any] = dict(spec.parameters)
        yield _Replayed(**parameters, path=str(path))


def placeless(judge: str) -> OpenAIJudge:
    """The judge of a spec, as it is recorded.

    Raises:
        click.UsageError: it asks no model behind a server.
    """
    openai = judge_of(judge)
    if not isinstance(openai, OpenAIJudge):
        raise click.UsageError("--judge takes a model behind a server: openai(model='…')")
    return _Placeless(**{field.name: getattr(openai, field.name) for field in fields(openai)})


def studies(folder: Path, documents: int | None) -> Iterator[tuple[RatedData, Texts]]:
    """The rated summaries that are there, all or those of so many documents."""
    for data in STUDIES:
        judged = data.references == ARTICLE or data.name == "summeval-cut"
        if judged and (folder / data.file).exists():
            texts = data.read(folder)
            chosen = set(list(dict.fromkeys(texts.item))[:documents])
            yield data, _taken(texts, [i for i, item in enumerate(texts.item) if item in chosen])


def _taken(texts: Texts, index: Sequence[int]) -> Texts:
    def take(column: Any) -> Any:
        return [column[i] for i in index]

    return Texts(
        take(texts.predictions),
        {name: take(column) for name, column in texts.columns.items()},
        {name: take(column) for name, column in texts.human.items()},
        take(texts.item),
        take(texts.system) if texts.system else None,
    )


def columns(texts: Texts) -> dict[str, Any]:
    """The metrics' columns: the summaries, and the articles or their substitutes."""
    contexts = texts.columns.get("contexts", texts.columns["references"])
    sources = ["\n\n".join(passages) for passages in contexts]
    return {"predictions": texts.predictions, "contexts": contexts, "sources": sources}


def agreement(report: Report, study: RatedData, texts: Texts) -> object:
    """How far the scores agree with people's ratings."""
    scores, better = scores_by_label(report)
    signatures, _ = sources_of(report, scores)
    return agreement_of(Scored(scores, better, signatures, study.references), study, texts)


if __name__ == "__main__":
    main()
