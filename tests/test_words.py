"""The words of the field: in-house idiom that was edited out doesn't grow back."""

import ast
import re
from pathlib import Path

import metrichub

ROOT = Path(metrichub.__file__).parents[1]

NAMES = {
    "Allowance": "Budget",
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
    r"\bwhoever (can reach|starts|asks|noticed|set)\b": "anyone who, the user who",
    r"\bstands there\b": "is there",
    r"\bhow far .{0,30} apart\b": "the standard deviation",
}
"""Phrases that messages, cards and help don't use, and what to say instead."""


STOCK = {
    r"\bfigures? stands?\b|\bstands? (beside|in (a|the)|with)\b": "the report contains",
    r"\basks? nobody\b": "without a network, without a judge",
    r"\btravel(s|led)? with\b": "the report keeps",
    r"\bof (it|one) install\b": "install its wheel",
    r"\bsays? before\b": "estimates",
    r"\banew\b|\bwhoever\b": "again; anyone who",
    r"\bhanded? (on|over) as\b": "passes",
}
"""Phrases that guides and other documents don't use."""


def paths(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


CODE = paths("metrichub/**/*.py", "metric_cards/**/*.py", "plugins/**/*.py")
PROSE = [
    *CODE,
    *paths("*.md", "docs/**/*.md", "metrichub/**/*.md", "metric_cards/**/*.md", "plugins/**/*.md"),
    *paths("metrichub/**/*.txt", "metrichub/**/*.html"),
]


DOCUMENTS = [
    *(path for path in paths("*.md") if path.name != "CHANGELOG.md"),
    *paths("docs/**/*.md", "plugins/*/README.md", "tests/data/README.md", "examples/README.md"),
]


def matches_of(pattern: str, files: list[Path]) -> list[str]:
    expression = re.compile(pattern)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if expression.search(line)
    ]


def test_code_uses_the_names_of_the_field() -> None:
    # As a name in code, not as a word of prose: followed or led by what only code has there.
    names = "|".join(NAMES)
    pattern = (
        rf"(class|def|import|as) ({names})\b"
        rf"|\b({names})[(\[.,:=)]"
        rf"|[\[(.=] ?({names})\b(?!['’\w -])"
    )
    assert matches_of(pattern, CODE) == [], "NAMES has the name to use instead"


def test_prose_uses_the_words_of_the_field() -> None:
    assert matches_of("|".join(IDIOM), PROSE) == [], "IDIOM has what to say instead"


def test_documents_use_no_stock_phrase() -> None:
    assert matches_of("|".join(STOCK), DOCUMENTS) == [], "STOCK has what to say instead"


IN_MESSAGES = {
    r"\bnames? no winner\b": "no winner on",
    r"\btells? .{1,40} apart\b|n't tell .{1,40} apart\b": "no significant difference between",
    r"\basks? nobody\b": "needs no judge",
    r"\bwas ended\b": "stopped",
    r"\bone an? (item|sample|error|line|row)\b": "one per …",
    r"\b[Ww]hoever\b": "the person who",
    r"\blisten at\b": "listen on",
    r"\bgoes without\b|\bgoes with\b": "needs, can't be combined with",
}
"""Phrases that messages and help texts don't use, and what to say instead."""


def messages(path: Path) -> list[tuple[int, str]]:
    """The texts in the code of a file that aren't docstrings, with their lines."""
    tree = ast.parse(path.read_text("utf-8"))
    prose = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    texts = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in prose)
    return [(text.lineno, text.value) for text in texts if isinstance(text.value, str)]


def test_messages_use_the_words_of_the_field() -> None:
    code = paths("metrichub/**/*.py", "metric_cards/**/*.py")
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}; say {IN_MESSAGES[idiom]}"
        for path in code
        for line, text in messages(path)
        for idiom in IN_MESSAGES
        if re.search(idiom, text)
    ]
    assert wrong == []


def test_code_says_is_not() -> None:
    isnt = r"(?<!here )\b(is|are|was|were|be) no (?!longer|more)\w"
    assert matches_of(isnt, CODE) == [], "say isn't a (valid) …"
