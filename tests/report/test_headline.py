"""The headline: each of its clauses is found again in the numbers of the ranking."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from metrichub import Hub, Ranking, Report, compare_all
from metrichub.cli.output import as_json
from metrichub.evaluation import resample
from metrichub.evaluation.significance import p_text

METRICS = ["exact_match", "token_f1", "wer", "rouge", "abstractness", "distinct"]
DOWN, UNDIRECTED = {"wer"}, {"abstractness"}
WORDS = {
    w: n
    for n, w in enumerate(
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
SAMPLES = 25


class Facts(NamedTuple):
    """The headline outputs in the JSON of a ranking, by their labels."""

    systems: list[str]
    scores: dict[str, dict[str, float]]
    better: dict[str, set[tuple[str, str]]]
    p: dict[str, dict[tuple[str, str], float]]
    withheld: dict[str, str]
    metrics: dict[str, str]

    @classmethod
    def of(cls, ranking: Ranking) -> Facts:
        read = json.loads(as_json(ranking.to_dict()))
        pairs = {(name, read["baseline"]): t for name, t in read["comparisons"].items()}
        pairs |= {(pair["system"], pair["other"]): pair["comparisons"] for pair in read["pairs"]}
        scores: dict[str, dict[str, float]] = {}
        better: dict[str, set[tuple[str, str]]] = {}
        p: dict[str, dict[tuple[str, str], float]] = {}
        metrics = {}
        for metric in METRICS:
            for output, label in OUTPUTS[metric]:
                for pair, tests in pairs.items():
                    if metric not in tests or tests[metric][output]["p"] is None:
                        continue
                    test = tests[metric][output]
                    metrics[label] = metric
                    p.setdefault(label, {})[pair] = test["p"]
                    sign = -1 if label in DOWN else 1
                    if test["p"] <= 1 - ranking.options.confidence + 1e-12:
                        won = pair if sign * test["difference"] > 0 else pair[::-1]
                        better.setdefault(label, set()).add(won)
                scores[label] = {
                    name: score[metric][output]
                    for name, score in read["scores"].items()
                    if metric in score
                }
        return cls([*ranking.systems], scores, better, p, read["withheld"], metrics)

    def beats(self, label: str, first: str, other: str) -> bool:
        return (first, other) in self.better.get(label, set())

    def best(self, label: str) -> list[str]:
        scores = self.scores[label]
        top = (min if label in DOWN else max)(scores.values())
        return [name for name, score in scores.items() if score == top]

    def lower(self, label: str) -> set[str]:
        """Who is significantly worse than all with the best score."""
        best = self.best(label)
        return {n for n in self.scores[label] if all(self.beats(label, b, n) for b in best)}

    def number(self, label: str, name: str) -> str:
        return f"{self.scores[label][name]:.3f}"


OUTPUTS = {
    "exact_match": [("score", "exact_match")],
    "token_f1": [("score", "token_f1")],
    "wer": [("score", "wer")],
    "rouge": [(name, name) for name in ("rouge1", "rouge2", "rougeL", "rougeLsum")],
    "abstractness": [("score", "abstractness")],
    "distinct": [("distinct_1", "distinct_1"), ("distinct_2", "distinct_2")],
}


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    """Systems that keep more or fewer of ten words, some of them the same as others."""
    drawn = random.Random(1)
    words = [f"w{k}" for k in range(10)]
    references = [" ".join(drawn.sample(words, drawn.randint(1, 4))) for _ in range(SAMPLES)]
    hub = Hub(METRICS)
    result = {}
    for k in range(20):
        share, more = drawn.choice([0.3, 0.6, 0.62, 0.65, 0.9]), drawn.random() < 0.2
        texts = [
            " ".join(
                [w if drawn.random() < share else "x" for w in text.split()] + ["more words"] * more
            )
            for text in references
        ]
        result[f"s{k}"] = hub.evaluate(predictions=texts, references=references, sources=references)
    return result


def names_of(text: str) -> list[str]:
    """The names in "a, b and c"."""
    return re.split(r", | and ", text)


def count_of(text: str) -> int:
    return WORDS[text] if text in WORDS else int(text)


def test_every_clause_of_random_headlines_follows_from_the_json(
    reports: dict[str, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The clauses are about the p that there is, however roughly it was drawn.
    monkeypatch.setattr(resample, "_NORMAL", 400)
    drawn = random.Random(2)
    seen: dict[str, int] = {}
    for _ in range(500):
        systems = drawn.sample([*reports], drawn.choice([2, 2, 2, 3, 3, 4, 7]))
        metrics = drawn.sample(METRICS, drawn.randint(1, 4))
        level = drawn.choice([0.8, 0.9, 0.95, 0.999])
        ranking = compare_all(
            {name: reports[name] for name in systems},
            metrics=metrics,
            confidence=level,
            resamples=40,
            trials=100,
            seed=drawn.randrange(9),
        )
        facts = Facts.of(ranking)
        # All outputs in the order of the table; rougeL and rougeLsum are equal without line breaks.
        shown = [o.label for o in ranking_columns(ranking)]
        headline = ranking.headline
        for sentence in headline.sentences:
            kind = _check(sentence, facts, shown)
            seen[kind] = seen.get(kind, 0) + 1
        without_p = re.sub(r" \(p [^)]*\)", "", headline.sentences[0]).removesuffix(".")
        assert headline.title == without_p
        assert "p " not in headline.title
    # No form is left out of the test.
    assert {*FORMS} - {*seen} == set(), seen


def ranking_columns(ranking: Ranking) -> list[Any]:
    from metrichub.report.rows import EQUAL, HEADLINES, merged_columns

    compared = {metric for tests in ranking.pairs.values() for metric in tests}
    return [
        column._replace(label=column.label.split(EQUAL)[0])
        for column in merged_columns(ranking.reports, HEADLINES)
        if column.metric in compared
    ]


def _check(sentence: str, facts: Facts, shown: list[str]) -> str:
    """The form of a sentence, every clause of which is true."""
    assert sentence.endswith(".")
    for kind, (form, holds) in FORMS.items():
        if match := re.fullmatch(form, sentence[:-1]):
            assert holds(facts, match.groupdict(), shown), (kind, sentence, facts)
            return kind
    if "; on " in sentence:
        first, two = sentence.split("; on ", 1)
        assert _check(f"{first}.", facts, shown) == "ahead"
        return _check(f"On {two}", facts, shown)
    raise AssertionError(f"no form has {sentence!r}")


def _numbers(facts: Facts, label: str, text: str) -> bool:
    """Whether names have these scores: "a 0.5, b 0.6"."""
    parts = [part.replace("(", "").replace(")", "").rsplit(" ", 1) for part in names_of(text)]
    return all(facts.number(label, name) == score for name, score in parts)


def _two(facts: Facts, m: dict[str, str], _: list[str]) -> bool:
    label = m["label"]
    down = label in DOWN
    (p,) = facts.p[label].values()
    return (
        facts.beats(label, m["a"], m["b"])
        and (m["x"], m["y"]) == (facts.number(label, m["a"]), facts.number(label, m["b"]))
        and (m["verb"] == "lower") == down
        and m["p"] == p_text(p)
    )


def _level_two(facts: Facts, m: dict[str, str], _: list[str]) -> bool:
    label = m["label"]
    (p,) = facts.p[label].values()
    numbers = [facts.number(label, name) for name in (m["a"], m["b"])]
    same = m["y"] is None and numbers[0] == numbers[1] == m["x"]
    return (
        not facts.better.get(label)
        and (same or [m["x"], m["y"]] == numbers)
        and m["p"] == p_text(p)
    )


def _level_all(facts: Facts, m: dict[str, str], shown: list[str]) -> bool:
    none = not any(facts.better.get(label) for label in shown)
    return none and count_of(m["n"]) == len(shown) and not facts.withheld


def _level_several(facts: Facts, m: dict[str, str], _: list[str]) -> bool:
    if facts.better.get(m["label"]):
        return False
    if m.get("listed"):
        return _numbers(facts, m["label"], m["listed"])
    scores = facts.scores[m["label"]].values()
    ends = (f"{min(scores):.3f}", f"{max(scores):.3f}")
    return (m["low"], m["high"]) == ends and int(m["n"]) == len(facts.systems)


def _leads(facts: Facts, m: dict[str, str], _: list[str]) -> bool:
    label = m["label"]
    best, lower = facts.best(label), facts.lower(label)
    close = {*facts.systems} - lower - {*best}
    named = names_of(m["best"])
    counted = re.fullmatch(r"(\d+) of the \d+", m["best"])
    right = int(counted[1]) == len(best) if counted else {*named} == {*best}
    right &= m["x"] == facts.number(label, best[0]) and (m["way"] == "lowest") == (label in DOWN)
    right &= facts.better.get(label, set()) != set()
    if m["ahead"]:
        ahead = m["ahead"]
        listed = ahead == "all others" or _numbers(facts, label, ahead)
        return right and not close and listed
    if m["none"]:
        return right and not lower
    return right and _group(m["close"], close) and _group(m["lower"], lower)


def _group(text: str, group: set[str]) -> bool:
    if match := re.fullmatch(r"(\w+) of the other \d+|the other (\w+)", text):
        return count_of(match[1] or match[2]) == len(group)
    return {*names_of(text)} == group


def _ahead(facts: Facts, m: dict[str, str], shown: list[str]) -> bool:
    leaders = names_of(m["who"])
    counted = re.fullmatch(r"(?:the|(\w+) of the) other (\w+) (?:metrics|scores)", m["labels"])
    if counted:
        labels = [x for x in shown[1:] if {*facts.best(x)} >= {*leaders}]
        total = count_of(counted[2])
        return count_of(counted[1] or counted[2]) <= len(labels) and total == len(shown) - 1
    for label in names_of(m["labels"]):
        others = {*facts.systems} - {*facts.best(label)}
        whom = others if m["of"] in ("all others", "both others") else {*names_of(m["of"])}
        if not {*leaders} <= {*facts.best(label)} or (m["of"] == "both others" and len(whom) != 2):
            return False
        if not all(facts.beats(label, first, other) for first in leaders for other in whom):
            return False
    return True


def _withheld(facts: Facts, m: dict[str, str], _: list[str]) -> bool:
    named = names_of(m["labels"])
    outputs = [o for o, of in facts.metrics.items() if o in named or of in named]
    all_withheld = all(facts.withheld.get(name) == m["why"] for name in named)
    return all_withheld or (
        bool(outputs) and all(facts.withheld.get(o) == m["why"] for o in outputs)
    )


def _of_others(
    holds: Callable[[Facts, str], bool],
) -> Callable[[Facts, dict[str, str], list[str]], bool]:
    def check(facts: Facts, m: dict[str, str], shown: list[str]) -> bool:
        others = shown[1:]
        true = [label for label in others if label not in UNDIRECTED and holds(facts, label)]
        text = m["labels"]
        if match := re.fullmatch(r"[Tt]he other (\w+) (?:metrics|scores)", text):
            return count_of(match[1]) == len(true) == len(others)
        if match := re.fullmatch(r"(\w+) of the other (\w+) (?:metrics|scores)", text):
            return (count_of(match[1]), count_of(match[2])) == (len(true), len(others))
        return names_of(text) == true

    return check


def _agrees(facts: Facts, label: str) -> bool:
    """Whether the one of two that is ahead somewhere is ahead by this output too."""
    return len(facts.better.get(label, ())) == 1


def _undirected(facts: Facts, m: dict[str, str], _: list[str]) -> bool:
    label = m["label"]
    if m.get("listed"):
        differs = bool(facts.better.get(label))
        return _numbers(facts, label, m["listed"]) and differs == (m["verb"] == "differs")
    scores = facts.scores[label]
    low, high = min(scores.values()), max(scores.values())
    pairs = ((m["a"], m["x"], low), (m["b"], m["y"], high))
    return all(scores[n] == end and facts.number(label, n) == shown for n, shown, end in pairs)


N = r"-?[\d.]+"
P = r"p [<=] [\d.]+"
NAMES = r"s\d+(?:(?:, | and )s\d+)*"
FORMS: dict[str, tuple[str, Callable[[Facts, dict[str, str], list[str]], bool]]] = {
    "two": (
        rf"(?P<a>\S+) scores (?P<verb>higher|lower) than (?P<b>\S+) on (?P<label>\w+)"
        rf"(?:, where less is better)?: (?P<x>{N}) against (?P<y>{N}) \((?P<p>{P})\)",
        _two,
    ),
    "level two": (
        rf"No significant difference between (?P<a>\S+) and (?P<b>\S+) on (?P<label>\w+): "
        rf"(?P<x>{N})(?: both| and (?P<y>{N})) \((?P<p>{P})\)",
        _level_two,
    ),
    "level all": (
        r"No significant difference between \S+ and \S+ on (?:any|either) of the (?P<n>\w+) "
        r"(?:metrics|scores)",
        _level_all,
    ),
    "level several": (
        rf"No significant difference on (?P<label>\w+)(?:: (?P<listed>.*)| among the (?P<n>\d+) "
        rf"systems: from (?P<low>{N}) to (?P<high>{N}))",
        _level_several,
    ),
    "leads": (
        rf"(?P<best>.+) scores? (?P<way>highest|lowest) on (?P<label>\w+) \((?P<x>{N})"
        rf"(?: both| each)?\)(?:, ahead of (?P<ahead>.*)|(?P<none>, but no other is significantly "
        rf"(?:lower|higher))|; (?P<close>.+) (?:isn't|aren't) significantly (?:lower|higher), "
        rf"(?P<lower>.+) (?:is|are))",
        _leads,
    ),
    "ahead": (rf"On (?P<labels>[^;]+?) (?P<who>{NAMES}) (?:is|are) ahead of (?P<of>[^;]+)", _ahead),
    "withheld": (r"(?P<labels>.+?) ranks? no system: (?P<why>.*)", _withheld),
    "no difference in others": (
        r"No significant difference on (?P<labels>[^:]+)",
        _of_others(lambda facts, label: not facts.better.get(label)),
    ),
    "agree": (r"(?P<labels>.+) agrees?", _of_others(_agrees)),
    "undirected two": (
        rf"(?P<label>\w+) (?P<verb>differs|doesn't differ significantly): (?P<listed>.*?) "
        rf"\({P}\); neither more nor less is better",
        _undirected,
    ),
    "undirected several": (
        rf"(?P<label>\w+) goes from (?P<x>{N}) \((?P<a>\S+)\) to (?P<y>{N}) \((?P<b>\S+)\); "
        r"neither more nor less is better",
        _undirected,
    ),
}
