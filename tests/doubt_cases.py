"""Inputs whose scores mislead, with the words of the note that says so; and some that don't."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Columns = Mapping[str, Any]


class Case(NamedTuple):
    """Columns, the metrics that score them, and what a note says; it `informs` or doubts."""

    name: str
    metrics: tuple[str, ...]
    columns: Columns
    words: str
    informs: bool = False


_WHO = (
    "The baker", "Our neighbour", "A young sailor", "The old teacher", "My sister",
    "The night guard", "A tired nurse", "The new mayor",
)  # fmt: skip
_DID = (
    ("found", "discovered"), ("sold", "gave away"), ("painted", "decorated"),
    ("lost", "misplaced"), ("repaired", "mended"),
)  # fmt: skip
_WHAT = (
    "a wooden boat", "the blue bicycle", "two silver spoons", "an unsigned letter",
    "the broken clock", "a map of the coast", "seven old coins",
)  # fmt: skip
_WHERE = (
    "near the harbour", "behind the town hall", "in the attic, of all places",
    "during the storm", "before anyone else woke up", "after the concert",
    "on the way to the station", "under a heap of leaves", "without a word",
)  # fmt: skip
SIZE = 40


def _sentences(kind: int, size: int) -> list[str]:
    """So many sentences, no two alike; those of kind 1 say in other words what those of 0 say."""
    return [
        f"{_WHO[i % 8]} {_DID[i % 5][kind]} {_WHAT[i % 7]} {_WHERE[(i + kind * (i % 3)) % 9]}."
        for i in range(size)
    ]


OUTPUTS, KNOWN = _sentences(0, SIZE), _sentences(1, SIZE)
ASKED = [
    f"What did {who.lower()} do {_WHERE[i % 9]}, if anything?"
    for i, who in enumerate(_WHO * (SIZE // 8))
]
GERMAN = [
    f"{who} hat {what} {where}."
    for who in ("Der Bäcker", "Unsere Nachbarin", "Ein junger Seemann", "Die alte Lehrerin")
    for what in ("das Fahrrad", "zwei Löffel", "einen Brief", "die Uhr", "ein Boot")
    for where in ("am Hafen verloren", "nach dem Konzert verkauft")
]
FRENCH = [
    f"{who} a {what} {where}."
    for who in ("Le boulanger", "Notre voisine", "Un jeune marin", "La vieille institutrice")
    for what in (
        "perdu le vélo",
        "vendu deux cuillères",
        "trouvé une lettre",
        "réparé l'horloge",
        "peint un bateau",
    )
    for where in ("près du port", "après le concert")
]
SPANISH = [
    f"{who} {what} {where}."
    for who in ("El panadero", "Nuestra vecina", "Un joven marinero", "La vieja maestra")
    for what in (
        "perdió la bicicleta",
        "vendió dos cucharas",
        "encontró una carta",
        "arregló el reloj",
        "pintó un barco",
    )
    for where in ("cerca del puerto", "después del concierto")
]
RUSSIAN = [
    f"{who} {what} {where}."
    for who in ("Пекарь", "Наша соседка", "Молодой моряк", "Старая учительница")
    for what in (
        "потерял велосипед",
        "продал две ложки",
        "нашёл письмо",
        "починил часы",
        "покрасил лодку",
    )
    for where in ("у порта", "после концерта")
]
NAMES = [
    f"{first} {last}"
    for first in ("Ada", "Bruno", "Clara", "David", "Elena")
    for last in ("Byron", "Castell", "Dupont", "Engel", "Fuchs", "Grant", "Hofer", "Ivanov")
]
LABELS = ["positive", "negative", "neutral", "positive", "negative"] * 8
GUESSED = ["positive", "negative", "positive", "positive", "neutral"] * 8
PLACES = [f"place {i}" for i in range(SIZE)]


def pairs(
    edit: Callable[[str], str] = str,
    outputs: Sequence[str] = OUTPUTS,
    targets: Sequence[str] = KNOWN,
    step: int = 1,
    **more: Sequence[Any],
) -> Columns:
    """Outputs, each of `step` edited, beside references."""
    edited = [edit(text) if i % step == 0 else text for i, text in enumerate(outputs)]
    return {"predictions": edited, "references": [*targets], **more}


def _row(prediction: str, reference: str, times: int = 1) -> Columns:
    return {"predictions": [prediction] * times, "references": [reference] * times}


def _answers(edit: Callable[[str], str]) -> Columns:
    return pairs(edit, NAMES, NAMES)


def _numbers(edit: Callable[[str], str]) -> Columns:
    numbers = [str(17 * i + 3) for i in range(SIZE)]
    return pairs(edit, numbers, numbers)


def _labels(edit: Callable[[str], str]) -> Columns:
    return pairs(edit, GUESSED, LABELS)


def _ranked(edit: Callable[[str], str]) -> Columns:
    near = [[f"doc-{(i + k) % SIZE}" for k in range(5)] for i in range(SIZE)]
    return {
        "retrieved": [[edit(name) for name in names] for names in near],
        "relevant": [[f"doc-{i}"] for i in range(SIZE)],
    }


def _in_pieces(mark: str, before: bool) -> Callable[[str], str]:
    def edit(text: str) -> str:
        words = text.split()
        return " ".join(
            f"{mark}{word}" if before else f"{word[:2]}{mark} {word[2:]}" for word in words
        )

    return edit


def _tokenized(text: str) -> str:
    return text.replace(",", " ,").replace(".", " .")


MT, QA = ("bleu", "chrf", "wer"), ("exact_match", "token_f1")
ECHOED = [f"{asked} {text}" for asked, text in zip(ASKED, OUTPUTS, strict=True)]
MOSTLY_KNOWN = [text if i % 5 else OUTPUTS[i] for i, text in enumerate(KNOWN)]
HALF_SPANISH = [text if i % 2 else OUTPUTS[i] for i, text in enumerate(SPANISH)]
FEWER_KNOWN = [text if i % 3 else "" for i, text in enumerate(KNOWN)]
FOUR_TIMES = {name: [*values] * 4 for name, values in pairs().items()}
TEN_MORE = {name: [*values, *values[:1] * 10] for name, values in pairs().items()}

REPORTED = (
    Case("BLEU of two words", ("bleu",), _row("Harbour Plaza", "Harbour Plaza"), "effective_order"),
    Case("ROUGE of Chinese", ("rouge",), pairs(str, ["今天天气很好"], ["今天天气很好"]), "unicode"),
    Case("choices that normalization deletes", ("token_f1",),
         pairs(str, ["A", "B", "A"], ["A", "B", "A"]), "normaliz"),
    Case("signs that normalization deletes", ("exact_match(squad)",),
         pairs(str, ["-5", "1.5", "C"], ["5", "15", "C++"]), "normaliz"),
    Case("CIDEr of one caption", ("cider",), _row("the cat in the hat", "the cat in the hat"),
         "unscored", informs=True),
    Case("vowel marks that Whisper drops", ("wer(whisper)",), _row("मेरा दिल", "मेरी दाल"),
         "vowel marks", informs=True),
    Case("ligatures and circled numbers", ("wer",),
         _row("\ufb01nd the \ufb01rst \ufb01le ①", "find the first file 1", 3), "NFKC"),
    Case("half-width kana", ("cer",), _row("ｱﾒﾘｶ １２３", "アメリカ 123", 3), "NFKC"),
    Case("Romanian with cedillas", ("wer",), _row("ţara şi oraşul", "țara și orașul", 3),
         "cedillas"),
    Case("curly quotes", ("wer",), _row("I don’t know, “maybe”", 'I don\'t know, "maybe"', 3),
         "quotes"),
    Case("zero-width space", ("exact_match",), _row("red\u200bfox", "redfox", 3), "zero-width"),
    Case("byte order mark in a text", ("exact_match",), _row("red \ufefffox", "red fox", 3),
         "zero-width"),
    Case("soft hyphen", ("wer",), _row("red un\u00adlikely fox", "red unlikely fox", 3),
         "zero-width"),
    Case("line break at the end", ("exact_match",), _answers(lambda t: f"{t}\n"), "strip"),
    Case("blank before", ("exact_match",), _answers(lambda t: f" {t}"), "strip"),
    Case("case and punctuation in speech", ("wer",), _row("hello, world. how are you?",
         "Hello world how are you", 5), "punctuation"),
    Case("blanks in Chinese", ("cer",), _row("今天 天气 好", "今天天气好", 5), "strip|blank|space"),
    Case("marks of Pegasus", ("rouge",), pairs(lambda t: f"{t}<n>{t}"), "<n>"),
    Case("tokenized", MT, pairs(_tokenized), "predictions are tokenized"),
    Case("labels in another case", ("classification",), _labels(str.title), "labels"),
    Case("every row four times", MT, FOUR_TIMES, "repeat"),
    Case("thinking", MT, pairs(lambda t: f"<think>\nLet me see.\n</think>\n\n{t}"), "thought"),
    Case("half of the outputs empty", MT, pairs(lambda t: "", step=2), "predictions are empty"),
    Case("all outputs alike", MT, pairs(lambda t: OUTPUTS[0]), "begin with the same words"),
    Case("padding", MT, pairs(lambda t: f"<pad> {t} </s>"), "special tokens"),
    Case("pieces of BPE", MT, pairs(_in_pieces("@@", before=False)), "pieces"),
    Case("pieces of SentencePiece", MT, pairs(_in_pieces("▁", before=True)), "pieces"),
    Case("escaped apostrophes", MT, pairs(lambda t: t.replace("the ", "the &apos;")), "entities"),
    Case("fences", MT, pairs(lambda t: f"```\n{t}\n```"), "fence"),
    Case("the prompt before the output", MT,
         pairs(outputs=ECHOED, questions=ASKED), "begin with"),
    Case("nan in a fifth of the rows", MT, pairs(lambda t: "nan", step=5), "missing"),
    Case("outputs copied from the source", MT, pairs(outputs=GERMAN, sources=GERMAN), "source"),
    Case("references that are the sources", ("sari",), {"predictions": OUTPUTS, "sources": KNOWN,
         "references": [[t] for t in KNOWN]}, "source"),
    Case("predictions that are the references", MT, pairs(outputs=KNOWN), "equal"),
    Case("outputs shifted by a row", MT, pairs(outputs=[*OUTPUTS[1:], OUTPUTS[0]]),
         "row before or after"),
    Case("ids of another scheme", ("ranking",), _ranked(lambda name: name[4:]), "ids"),
    Case("readability of German", ("readability",), {"predictions": GERMAN}, "another language"),
    Case("readability of Vietnamese", ("readability",),
         {"predictions": ["Hôm nay trời đẹp quá và tôi muốn đi chơi với bạn bè của tôi."] * 5},
         "another language"),
    Case("numbers for labels of text", ("classification",), {"predictions": [1, 0, 1, 1, 0] * 4,
         "references": ["1.0", "0.0", "1.0", "1.0", "0.0"] * 4}, "labels"),
    Case("numbers that overflow", ("recorded(column='x')",), {"x": [1e308] * 6}, "too large",
         informs=True),
    Case("references without a word", ("wer",), pairs(targets=[""] * SIZE), "references are empty"),
    Case("whole replies for numbers", ("exact_match",),
         _numbers(lambda t: f"First we add, and then the answer is {t}, I believe."), "worst"),
    Case("diversity of three words", ("ttr",), {"predictions": ["the red fox"] * 3}, "fewer than"),
    Case("one output with a loop", ("wer",), pairs(outputs=[f"{OUTPUTS[0]} {'and so on ' * 200}",
         *OUTPUTS[1:]]), "of all errors"),
)  # fmt: skip
"""What people reported of this and of other programs."""

OWN = (
    Case("one row many times", MT, TEN_MORE, "repeat"),
    Case("blank outputs", MT, pairs(lambda t: " \n", step=3), "predictions are empty"),
    Case("one refusal for a third", MT,
         pairs(lambda t: "I'm sorry, I can't help with that.", step=3), "same words"),
    Case("refusals that differ in a number", MT,
         pairs(outputs=[f"Error {i}: the request could not be completed." for i in range(SIZE)]),
         "same"),
    Case("most predictions are references", MT, pairs(outputs=MOSTLY_KNOWN), "equal"),
    Case("the question as answer", ("rouge", "token_f1"), pairs(outputs=ASKED, questions=ASKED),
         "question"),
    Case("question and answer in lines", ("rouge",),
         pairs(outputs=[text.replace("? ", "?\n\n") for text in ECHOED], questions=ASKED),
         "begin with"),
    Case("shifted the other way", MT, pairs(outputs=[OUTPUTS[-1], *OUTPUTS[:-1]]),
         "row before or after"),
    Case("shifted from the middle on", MT, pairs(outputs=[*OUTPUTS[:20], *OUTPUTS[21:],
         OUTPUTS[20]]), "row before or after"),
    Case("tokenized references", MT, pairs(targets=[_tokenized(t) for t in KNOWN]),
         "references are tokenized"),
    Case("reasoning in other tags", MT, pairs(lambda t: f"<reasoning>So.</reasoning>{t}"),
         "thought"),
    Case("thinking that doesn't end", MT, pairs(lambda t: f"<think>\nWell, {t}"), "thought"),
    Case("thinking without its beginning", MT, pairs(lambda t: f"Well.\n</think>\n\n{t}"),
         "thought"),
    Case("the channel of an analysis", MT,
         pairs(lambda t: f"<|channel|>analysis<|message|>Well.<|end|>{t}"), "thought"),
    Case("<|endoftext|>", MT, pairs(lambda t: f"{t}<|endoftext|>"), "special tokens"),
    Case("<|eot_id|>", QA, _answers(lambda t: f"{t}<|eot_id|>"), "special tokens"),
    Case("[CLS] and [SEP]", MT, pairs(lambda t: f"[CLS] {t} [SEP]"), "special tokens"),
    Case("[/INST]", MT, pairs(lambda t: f"[/INST] {t}"), "special tokens"),
    Case("unknown words", MT, pairs(lambda t: t.replace("the ", "<unk> ")), "special tokens"),
    Case("pieces of WordPiece", MT, pairs(_in_pieces(" ##x", before=False)), "pieces"),
    Case("pieces of bytes", MT, pairs(_in_pieces("Ġ", before=True)), "pieces"),
    Case("numeric entities", MT, pairs(lambda t: t.replace("the ", "the &#39;")), "entities"),
    Case("JSON in a fence", ("json_validity",), {"predictions": ['```json\n{"a": 1}\n```'] * 20},
         "worst"),
    Case("null as text", QA, _answers(lambda t: "null"), "missing"),
    Case("<NA> in a quarter of the rows", MT, pairs(lambda t: "<NA>", step=4), "missing"),
    Case("Russian outputs", MT, pairs(outputs=RUSSIAN), "script"),
    Case("Chinese answers", QA, _answers(lambda t: "我不知道这个人的名字"), "script"),
    Case("German outputs", MT, pairs(outputs=GERMAN), "language"),
    Case("French outputs", MT, pairs(outputs=FRENCH), "language"),
    Case("Spanish outputs in half of the rows", MT, pairs(outputs=HALF_SPANISH),
         "language"),
    Case("cut off at thirty characters", MT, pairs(lambda t: t[:30]), "same length"),
    Case("cut off at six words", MT, pairs(lambda t: " ".join(t.split()[:6])), "same length"),
    Case("a third of the references empty", MT, pairs(targets=FEWER_KNOWN),
         "references are empty"),
    Case("one reference for all", MT, pairs(targets=[KNOWN[0]] * SIZE),
         "references begin with the same words"),
    Case("numbered labels", ("classification",), _labels(lambda t: f"LABEL_{len(t) % 3}"),
         "labels"),
    Case("truth values for words", ("classification",),
         pairs(str, ["True", "False"] * 20, ["yes", "no"] * 20), "labels"),
    Case("labels with a point", ("classification",), _labels(lambda t: f"{t}."), "labels"),
    Case("ids with a suffix", ("ranking",), _ranked(lambda name: f"{name}.txt"), "ids"),
    Case("keywords that are ids", ("keyword_coverage",), {"predictions": OUTPUTS,
         "keywords": [[f"kw-{i}"] for i in range(SIZE)]}, "keyword"),
    Case("full-width answers", QA,
         _answers(lambda t: "".join(chr(ord(c) + 0xFEE0) if c > " " else c for c in t)), "NFKC"),
    Case("composed and decomposed letters", ("wer",), _row("un cafe\u0301 noir",
         "un caf\u00e9 noir", 5), "Unicode forms"),
    Case("dashes", ("exact_match",), _row("1939–1945", "1939-1945", 5), "dashes"),
    Case("line breaks within answers", ("exact_match",), _answers(lambda t: t.replace(" ", "\n")),
         "lines"),
    Case("escaped line breaks", ("rouge",), pairs(lambda t: f"{t}\\n{t}"), "line break"),
    Case("upper case", ("exact_match",), _answers(str.upper), "lower case"),
    Case("points after answers", ("exact_match",), _answers(lambda t: f"{t}."), "punctuation"),
    Case("bold answers", ("exact_match",), _numbers(lambda t: f"**{t}**"), "punctuation"),
    Case("answers with a prefix", ("exact_match",), _numbers(lambda t: f"Answer: {t}"),
         "begin with a word"),
    Case("invisible letters within words", ("wer",), _row("the \u2060red fox ran",
         "the red fox ran", 5), "zero-width"),
    Case("a mean of infinity", ("recorded(column='x', better='higher')",),
         {"x": [1.0, 2.0, 3.0, 4.0, 5.0, float("inf")]}, "inf", informs=True),
)  # fmt: skip
"""More of each kind."""

DOUBTFUL = (*REPORTED, *OWN)

SOUND = (
    Case("good translations", MT, pairs(), ""),
    Case("a single good sample", ("wer", "chrf"), _row("the red fox ran home",
         "the red fox ran off"), ""),
    Case("labels that repeat", ("classification", "exact_match"), _labels(str), ""),
    Case("yes to most questions", ("exact_match",), pairs(str, ["yes"] * 30 + ["no"] * 10,
         ["yes"] * 25 + ["no"] * 15), ""),
    Case("names that are right", QA, _answers(str), ""),
    Case("numbers that are right", ("exact_match", "numeric_match"), _numbers(str), ""),
    Case("texts that are tokenized alike", MT, pairs(_tokenized,
         targets=[_tokenized(t) for t in KNOWN]), ""),
    Case("marks in both columns", MT, pairs(lambda t: f"<b>{t}</b> &amp; more",
         targets=[f"<b>{t}</b> &amp; more" for t in KNOWN]), ""),
    Case("code in fences on both sides", ("bleu", "edit_similarity"),
         pairs(lambda t: f"```\nprint({t!r})\n```",
         targets=[f"```\nprint({t!r})\n```" for t in KNOWN]), ""),
    Case("texts about thinking", MT, pairs(lambda t: f"I think that {t}",
         targets=[f"I believe that {t}" for t in KNOWN]), ""),
    Case("Russian for Russian", ("bleu", "chrf"),
         pairs(outputs=RUSSIAN, targets=[t.replace("нашёл", "увидел") for t in RUSSIAN]), ""),
    Case("a loanword in other letters", ("wer",), pairs(lambda t: f"{t} (Привет)", step=20), ""),
    Case("unanswered questions that have no answer", ("squad_v2",), {"predictions": ["",
         *NAMES[1:30], *[""] * 10], "references": [[], *([name] for name in NAMES[1:30]),
         *[[] for _ in range(10)]]}, ""),
    Case("ids that meet", ("ranking",), _ranked(str), ""),
    Case("summaries that begin with their article", ("rouge",), {"predictions": OUTPUTS,
         "references": [f"{t} It was late." for t in OUTPUTS],
         "sources": [f"{t} Nobody saw it, and {k}" for t, k in zip(OUTPUTS, KNOWN, strict=True)]},
         ""),
    Case("short but good answers of people called Nan", QA, pairs(str, [*NAMES[:38], "Nan", "Nan"],
         [*NAMES[:38], "Nan", "Nan"]), ""),
)  # fmt: skip
"""Inputs that raise no doubt, though each looks a little like one above."""
