"""Presets of the cards: each is held by the program that it is named after, or by its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from metric_cards._bases.ptb import words_by_chunk
from metric_cards.meteor.wordnet import open_wordnet
from metrichub import Hub, load_metric
from metrichub.catalog.registry import registry
from metrichub.errors import MissingDependency, SpecError
from metrichub.testing import Scripted
from tests.metrics.test_per_turn import script
from tests.vectors import (
    DATA,
    SUMMEVAL,
    answer_vectors,
    scripted,
    texts,
    vectors,
    whisper_texts,
)


def score(spec: str, output: str = "score", **columns: Any) -> float:
    return float(Hub(f"m = {spec}")(**columns)["m"][output])


def held_by(
    spec: str,
    official: Callable[[list[str], list[list[str]]], float],
    output: str = "score",
    size: int | None = None,
) -> None:
    """The corpus score on real summaries equals a program's."""
    predictions, references = (column[:size] for column in texts(SUMMEVAL, 9))
    value = score(spec, output, predictions=predictions, references=references)
    assert value == pytest.approx(official(predictions, references), abs=1e-9)


def held_by_vectors(spec: str, *names: str, key: str | None = None) -> None:
    for parameter in vectors(*names):
        row = parameter.values[0]
        columns = {
            name: row[name] for name in ("predictions", "references", "sources") if name in row
        }
        expected = row["expected"][key] if key else row["expected"]
        if spec.startswith("cider") and len(row["predictions"]) == 1:
            continue  # Nothing weighs: their 0 of any prediction is no score here.
        result = score(spec, **columns) * row["params"].get("scale", 1)
        assert result == pytest.approx(expected, abs=max(row["tolerance"], 1e-9)), row["id"]


def held_by_answers(spec: str, name: str, key: str | None = None, **params: Any) -> None:
    """The vectors of a program, those that were made with some of its parameters, one by one."""
    rows = [parameter.values[0] for parameter in answer_vectors(name)]
    rows = [row for row in rows if params.items() <= row["params"].items()]
    assert rows
    for row in rows:
        inputs, expected = row["inputs"], row["expected"]
        references = [inputs["references"] if "references" in inputs else inputs["reference"]]
        value = score(spec, predictions=[inputs["prediction"]], references=references)
        assert value == pytest.approx(expected[key] if key else expected, abs=1e-12), inputs


def bbh() -> None:
    # By hand, with the switches of the task: no dot at the end, commas, breaks, backslashes and
    # quotation marks, whatever the case.
    pairs = {('"Valid, yes\n', "valid yes."): 1, ("\\(A\\)", "(a)"): 1, ("(A)", "a"): 0}
    for (prediction, reference), expected in pairs.items():
        value = score("exact_match(bbh)", predictions=[prediction], references=[reference])
        assert value == expected


def _streams(references: list[list[str]]) -> list[list[str]]:
    return [list(stream) for stream in zip(*references, strict=True)]


def bleu_wmt() -> None:
    from sacrebleu.metrics.bleu import BLEU

    held_by("bleu(wmt)", lambda p, r: BLEU().corpus_score(p, _streams(r)).score / 100)


def bleu_evaluate() -> None:
    vectored = [parameter.values[0] for parameter in vectors("bleu_evaluate")]
    rows = [(row["predictions"], row["references"], row["expected"]) for row in vectored]
    # What evaluate's bleu.py at a7dd338 gives for the cut of SummEval.
    summaries = {"bleu": 0.23749767946530045, "length_ratio": 2.4497469269703545}
    for predictions, references, expected in [*rows, (*texts(SUMMEVAL), summaries)]:
        scores = Hub("bleu(evaluate)")(predictions=predictions, references=references)["bleu"]
        for ours, theirs in (("score", "bleu"), ("length_ratio", "length_ratio")):
            assert scores[ours] == pytest.approx(expected[theirs], abs=1e-12)
        for order, precision in enumerate(expected.get("precisions", ()), 1):
            assert scores[f"precision_{order}"] == pytest.approx(precision, abs=1e-12)


def chrf_plus_plus() -> None:
    from sacrebleu.metrics.chrf import CHRF

    official = CHRF(word_order=2)
    held_by("chrf(chrf++)", lambda p, r: official.corpus_score(p, _streams(r)).score / 100)


def ter_tercom() -> None:
    # sacrebleu's TER is Tercom, rewritten.
    from sacrebleu.metrics.ter import TER

    # Its search for shifts takes a second a summary.
    held_by("ter(tercom)", lambda p, r: TER().corpus_score(p, _streams(r)).score / 100, size=3)


def rouge_coco() -> None:
    # Its words are cider's, which that card compares with PTBTokenizer.
    from pycocoevalcap.rouge.rouge import Rouge

    def official(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        def captions(texts: Sequence[str]) -> list[str]:
            return [" ".join(words_by_chunk(text)) for text in texts]

        pairs = zip(predictions, references, strict=True)
        results = [Rouge().calc_score(captions([text]), captions(group)) for text, group in pairs]
        return sum(results) / len(results)

    held_by("rouge(coco)", official)


def rouge_score() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])

    def official(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        pairs = zip(references, predictions, strict=True)
        fmeasures = [scorer.score_multi(group, text)["rougeL"].fmeasure for group, text in pairs]
        return sum(fmeasures) / len(fmeasures)

    held_by("rouge(rouge-score)", official, "rougeL")


def letters_of_whisper() -> None:
    """The rate is jiwer's of the graphemes of what openai-whisper made of real texts."""
    import jiwer
    import regex

    def letters(text: str) -> str:
        return " ".join(regex.findall(r"\X", text))

    rows = whisper_texts()
    raw = [row["text"] for row in rows]
    normal = [letters(row["whisper-basic"]) for row in rows]
    spec = "cer(whisper-letters, marks='official')"
    value = score(spec, predictions=raw[1:], references=raw[:-1])
    assert value == pytest.approx(jiwer.wer(normal[:-1], normal[1:]), abs=1e-12)


def error_rate(metric: str, name: str) -> None:
    """The rate of texts against their neighbours is jiwer's of what openai-whisper made of them."""
    import jiwer

    every = whisper_texts()
    # By default, samples are unscored that lose the vowel marks of scripts which have such.
    without = [row for row in every if max(row["text"], default="") < "\u0590"]
    assert len(without) > 400
    for rows, spec in (
        (every, f"{metric}({name}, marks='official')"),
        (without, f"{metric}({name})"),
    ):
        raw, normal = [row["text"] for row in rows], [row[name] for row in rows]
        value = score(spec, predictions=raw[1:], references=raw[:-1])
        official = getattr(jiwer, metric)(normal[:-1], normal[1:])
        assert value == pytest.approx(official, abs=1e-12)


def ranking_trec() -> None:
    # What trec_eval gives each query, in the order of its ties.
    for parameter in answer_vectors("ranking per query"):
        row = parameter.values[0]
        ((query, expected),) = row["expected"].items()
        columns = {
            "retrieved": [row["inputs"]["run"][query]],
            "relevant": [row["inputs"]["qrels"][query]],
        }
        names = {"score": "map", "rr": "recip_rank", "ndcg": "ndcg", "ndcg_3": "ndcg_cut_3"}
        for ours, theirs in names.items():
            value = score("ranking(trec, mode='ap')", ours, **columns)
            assert value == pytest.approx(expected[theirs]), (row["note"], ours)


def aspect(preset: str) -> None:
    # ragas's AspectCritic with one answer: its verdict is the score, 1 for yes.
    row = vectors("aspect_critic")[0].values[0]
    words = ["yes" if verdict else "no" for verdict in row["scripted"]["verdicts"]]
    hub = Hub(load_metric(f"aspect({preset})", judge=Scripted({"aspect": words})))
    scores = hub(predictions=[row["inputs"]["response"]])["aspect"]
    assert scores == {"score": row["expected"]["score"]}


def policy(preset: str, metric: str) -> None:
    # deepeval's score for the items and verdicts that its model was made to give.
    row = vectors(metric)[0].values[0]
    passages, words = scripted(row)
    judge = Scripted({"passages": passages, "violates": words})
    hub = Hub(load_metric(f"policy_compliance({preset})", value="as there", judge=judge))
    scores = hub(predictions=[row["inputs"]["actual_output"]])["policy_compliance"]
    assert scores["score"] == row["expected"]["score"]


def per_turn(preset: str, kind: str, score: float | None = None) -> None:
    # deepeval's score for the verdicts that its model was made to give.
    row = vectors(kind)[0].values[0]
    hub = Hub(load_metric(f"per_turn({preset})", judge=Scripted(script(row)[1])))
    expected = row["expected"]["score"] if score is None else score
    assert hub([row["inputs"]])["per_turn"]["score"] == pytest.approx(expected)


HELD: dict[tuple[str, str], Callable[[], None]] = {
    **{
        ("aspect", preset): partial(aspect, preset)
        for preset in (
            *("coherence", "conciseness", "correctness", "harmfulness", "maliciousness"),
        )
    },
    ("bleu", "evaluate"): bleu_evaluate,
    ("bleu", "wmt"): bleu_wmt,
    ("cer", "whisper"): lambda: error_rate("cer", "whisper"),
    ("cer", "whisper-basic"): lambda: error_rate("cer", "whisper-basic"),
    ("cer", "whisper-letters"): letters_of_whisper,
    ("chrf", "chrf++"): chrf_plus_plus,
    ("cider", "coco"): lambda: held_by_vectors("cider(coco)", "cider_d", key="score"),
    ("exact_match", "bbh"): bbh,
    ("exact_match", "gsm8k"): lambda: held_by_answers(
        "exact_match(gsm8k)",
        "exact_match (lm-eval)",
        regexes_to_ignore=[",", "\\$", "(?s).*#### ", "\\.$"],
    ),
    ("exact_match", "helm-exact"): lambda: held_by_answers(
        "exact_match(helm-exact)", "helm exact_match"
    ),
    ("exact_match", "helm-quasi"): lambda: held_by_answers(
        "exact_match(helm-quasi)", "helm quasi_exact_match"
    ),
    ("exact_match", "helm-prefix"): lambda: held_by_answers(
        "exact_match(helm-prefix)", "helm prefix_exact_match"
    ),
    ("exact_match", "helm-quasi-prefix"): lambda: held_by_answers(
        "exact_match(helm-quasi-prefix)", "helm quasi_prefix_exact_match"
    ),
    ("exact_match", "inspect"): lambda: held_by_answers(
        "exact_match(inspect)",
        "match (inspect)",
        "score",
        numeric=False,
        location="end",
    ),
    ("exact_match", "nq"): lambda: held_by_answers(
        "exact_match(nq)",
        "exact_match (lm-eval)",
        regexes_to_ignore=["\\b(?:The |the |An |A |The |a |an )"],
    ),
    ("exact_match", "squad"): lambda: held_by_vectors(
        "exact_match(squad)", "squad", key="exact_match"
    ),
    ("meteor", "evaluate"): lambda: held_by_vectors("meteor(evaluate)", "meteor_nltk"),
    ("per_turn", "context_precision"): lambda: per_turn(
        "context_precision", "turn_contextual_precision"
    ),
    ("per_turn", "context_recall"): lambda: per_turn("context_recall", "turn_contextual_recall"),
    ("per_turn", "contextual_relevancy"): lambda: per_turn(
        "contextual_relevancy", "turn_contextual_relevancy"
    ),
    # Of the verdicts yes and borderline, which deepeval counts as yes, and no: (1/2 + 0) / 2.
    ("per_turn", "faithfulness"): lambda: per_turn("faithfulness", "turn_faithfulness", 0.25),
    ("policy_compliance", "misuse"): lambda: policy("misuse", "misuse"),
    ("policy_compliance", "non_advice"): lambda: policy("non_advice", "non_advice"),
    # It has no metric of leaked prompts; that of leaked details has the formula.
    ("policy_compliance", "prompt_leakage"): lambda: policy("prompt_leakage", "pii_leakage"),
    ("policy_compliance", "role_violation"): lambda: policy("role_violation", "role_violation"),
    ("ranking", "trec"): ranking_trec,
    ("rouge", "coco"): rouge_coco,
    ("rouge", "rouge-score"): rouge_score,
    ("sari", "easse"): lambda: held_by_vectors("sari(easse)", "sari_easse"),
    ("sari", "evaluate"): lambda: held_by_vectors("sari(evaluate)", "sari_hf"),
    ("sari", "xu2016"): lambda: held_by_vectors("sari(xu2016)", "sari_xu2016"),
    ("ter", "tercom"): ter_tercom,
    ("exact_match", "triviaqa"): lambda: held_by_answers("exact_match(triviaqa)", "triviaqa", "em"),
    ("token_f1", "helm"): lambda: held_by_answers("token_f1(helm)", "helm f1_score"),
    ("token_f1", "triviaqa"): lambda: held_by_answers("token_f1(triviaqa)", "triviaqa", "f1"),
    ("token_f1", "squad"): lambda: held_by_vectors("token_f1(squad)", "squad", key="f1"),
    ("wer", "whisper"): lambda: error_rate("wer", "whisper"),
    ("wer", "whisper-basic"): lambda: error_rate("wer", "whisper-basic"),
}


@pytest.fixture
def wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An excerpt of WordNet with all synsets of the vectors' words, where nltk looks for it."""
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "wordnet").symlink_to(DATA / "wordnet")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    open_wordnet.cache_clear()
    yield
    open_wordnet.cache_clear()


@pytest.mark.usefixtures("wordnet")
@pytest.mark.parametrize("name", [pytest.param(name, id="-".join(name)) for name in HELD])
def test_a_preset_gives_the_numbers_of_its_program(name: tuple[str, str]) -> None:
    HELD[name]()


def test_every_preset_is_held_by_a_program_or_by_values() -> None:
    ours = [entry for entry in registry().entries if entry.distribution == "metrichub"]
    result = {(entry.name, preset) for entry in ours for preset in entry.card.presets}
    assert result == HELD.keys()


def test_a_preset_is_the_parameters_that_it_sets() -> None:
    options = registry().find("sari").card.presets["xu2016"]
    expected = load_metric("sari", **options)
    for spec in ("sari(xu2016)", "sari('xu2016')", "metrichub/sari( xu2016 )"):
        assert load_metric(spec) == expected
    # A parameter beside it wins, from the spec or as an argument.
    assert load_metric("sari(xu2016, lowercase=False)").lowercase is False
    assert load_metric("sari(xu2016)", lowercase=False).lowercase is False


def test_a_signature_shows_what_a_preset_sets() -> None:
    # No word of the preset's own: a report stays comparable with one that names the parameters.
    assert load_metric("sari(evaluate)").label() == load_metric("sari", variant="hf").label()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bleu(wtm)", "bleu has no preset 'wtm'; did you mean 'wmt'"),
        ("ribes(whisper)", "ribes has no preset 'whisper' .it has none."),
        ("bleu(wmt, wmt)", "by name"),
        ("meteor(1.5)", "by name"),
    ],
)
def test_what_is_no_preset_is_refused(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load_metric(spec)


def test_a_preset_whose_data_is_missing_refuses_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_wordnet.cache_clear()
    monkeypatch.setattr("metric_cards.meteor.wordnet._usual_places", lambda: iter([tmp_path]))
    with pytest.raises(MissingDependency, match=r"^[^\n]*nltk\.downloader wordnet[^\n]*$"):
        Hub("meteor(evaluate)")(predictions=["a"], references=["b"])
    open_wordnet.cache_clear()
