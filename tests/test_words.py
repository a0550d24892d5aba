"""The words of the field: in-house idiom that was edited out doesn't grow back."""

import ast
import re
from pathlib import Path

import pytest

import metrichub

ROOT = Path(metrichub.__file__).parents[1]

NAMES = {
    "Allowance": "ErrorBudget",
    "Tally": "UsageTracker",
    "Asked": "PromptRequest",
    "Weighing": "Sampling",
    "Kept": "StoredSamples",
    "Shelf": "SiteIndex",
    "Cut": "TokenSpans",
    "Entries": "NgramCounts",
    "ngram_entries": "ngram_counts",
    "Groups": "RaggedTexts",
    "Subject": "MetricUnderTest",
    "Explained": "WithTrace",
    "Evidence": "Trace or Passages",
    "Corridor": "Band",
    "corridor": "band",
    "Piece": "Chunk",
    "allowance": "budget",
    "tally": "tracker",
    "noting": "record_keys",
    "_told": "payload or with_progress",
    "Weighed": "Sampled",
    "Joint": "InternedIds",
    "hyp": "prediction",
    "hyps": "predictions",
    "gts": "references",
    "shelf": "index",
    "inference": "significance",
}
"""Names that code doesn't use, and the word that it uses."""

IDIOM = {
    r"say which is which": "map the columns",
    r"nobody was asked": "no judge was called",
    r"has the length of the \w+ below": "divides by the length of",
    r"(told|tells?|telling) (them )?apart": "distinguish",
    r"l(ie|ies|ay) apart": "differ by",
    r"no later call can mend": "every later call would fail",
    r"\bspares all but\b": "applies only to",
    r"so it is here\b": "this metric does the same",
    r"what it is of\b": "its denominator",
    r"is to be had\b|can't be had\b": "is available",
    r"\bfor want of\b": "without",
    r"\bby name and hash\b": "with their hashes",
    r"\bseed documents?\b": "documents that the reader hasn't seen",
    r"\bconformance (vectors?|values?)\b": "published values",
    r"\bvectors? (are|is) (not )?met\b": "reproduces",
    r"\bmeteor15-\d|\bmsttr-\d|\bflesch_\w+-0\d": "the text, not the name of a test vector",
    r"\b(reader|one) of odd input\b": "parser",
    r"\bthereof\b|\bthereby\b|\bhither\b|\bwherein\b": "plain words",
    r"\bmore \w+ failed than are\b": "than the run allows",
    r"\ba judge that wavers\b": "a judge whose answers differ",
    r"\bTell of\b": "describe",
    r"\ba word for everyone\b": "a name",
    r"\bat one's\b": "plain words",
    r"\bwhoever (can reach|starts|asks|noticed|set)\b": "anyone who, the user who",
    r"\bas it stands in every\b": "because every report shows it",
    r"\bstands there\b": "is there",
    r"\bmakes one row of\b.*\bby weights over\b": "reduces",
    r"\bgiven up\b.*\bfor good\b": "dropped",
    r"\bhow far .{0,30} apart\b": "the standard deviation",
    r"\bblank last\b": "an empty last line",
    r"\bis none of its own\b": "plain words",
    r"\bsome thirty lines\b": "about thirty lines",
}
"""Phrases that messages, cards and help don't use, and what to say instead."""


def paths(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


CODE = paths("metrichub/**/*.py", "metric_cards/**/*.py", "plugins/**/*.py")
SCORING = [path for path in CODE if "metric_cards" in path.parts or "text" in path.parts]
SAVED = ("_bases/error_rates.py", "codebleu/__init__.py", "tool_call_f1/__init__.py")
"""Where `wanted` is the name of a statistic in reports that were saved before."""
PROSE = [
    *CODE,
    *paths("*.md", "metrichub/**/*.md", "metric_cards/**/*.md", "plugins/**/*.md"),
    *paths("metrichub/**/*.txt", "metrichub/**/*.html"),
]


def found(pattern: str, files: list[Path]) -> list[str]:
    wanted = re.compile(pattern)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if wanted.search(line)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_code_uses_the_name_of_the_field(name: str) -> None:
    # As a name in code, not as a word of prose: followed or led by what only code has there.
    pattern = rf"(class|def|import|as) {name}\b|\b{name}[(\[.,:=)]|[\[(.=] ?{name}\b(?!['’\w -])"
    files = [path for path in CODE if "metrichub" in path.parts[-2:] or path.suffix == ".py"]
    assert found(pattern, files) == [], f"say {NAMES[name]}"


@pytest.mark.parametrize("path", SCORING, ids=lambda path: "/".join(path.parts[-2:]))
def test_scoring_code_calls_the_texts_by_their_names(path: Path) -> None:
    used = {n.id for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Name)}
    allowed = {"wanted"} if "/".join(path.parts[-2:]) in SAVED else set()
    assert used & {"said", "wanted"} <= allowed, "say prediction and reference"


@pytest.mark.parametrize("idiom", IDIOM)
def test_prose_uses_the_words_of_the_field(idiom: str) -> None:
    assert found(idiom, PROSE) == [], f"say {IDIOM[idiom]}"


def test_there_are_enough_words_to_keep_watch_over() -> None:
    assert len(NAMES) + len(IDIOM) >= 55
