"""The search: words, weights, and what newcomers' questions find."""

from __future__ import annotations

import pytest

from metrichub.catalog.search import SearchIndex, SearchPage, search_index, terms, word_stem
from tests.commands import error, run
from tests.questions import newcomers, unseen


def addresses(question: str, *pages: SearchPage) -> list[str]:
    return [page.address for page in SearchIndex.of(pages).find(question)]


@pytest.mark.parametrize(("question", "texts"), newcomers())
def test_a_newcomer_s_question_finds_an_answer_among_three(question: str, texts: set[str]) -> None:
    assert texts & {page.address for page in search_index().find(question)[:3]}


def test_nine_of_ten_other_questions_find_an_answer_among_three() -> None:
    hits = [
        bool(expected & {page.address for page in search_index().find(question)[:3]})
        for question, expected in unseen()
    ]
    assert len(hits) == 10
    assert sum(hits) >= 9


@pytest.mark.parametrize(
    "words",
    ["copies copied copying copy", "hallucinations hallucinated hallucinating hallucination",
     "grounded groundedness grounding", "toxic toxicity", "summaries summary",
     "summarise summarization summarised", "repeats repeating repeated"],
)  # fmt: skip
def test_the_forms_of_a_word_have_one_stem(words: str) -> None:
    assert len({word_stem(word) for word in words.split()}) == 1


def test_short_words_keep_their_letters() -> None:
    # "ter", "use" and "bleu" would else be stems that other words share.
    words = ["ter", "wer", "bleu", "sing"]
    assert [word_stem(word) for word in words] == words


def test_a_title_comes_before_a_name_a_keyword_a_summary_a_tag_and_the_text() -> None:
    word = "zebra"
    pages = [
        SearchPage("x", "text", "metric", text=f"so {word}"),
        SearchPage("x", "tag", "metric", tags=[word]),
        SearchPage("x", "summary", "metric", summary=word),
        SearchPage("x", "keyword", "metric", keywords=[word]),
        SearchPage(word, "title", "metric"),
    ]
    assert addresses(word, *pages) == ["title", "keyword", "summary", "tag", "text"]


def test_any_word_counts_and_a_rarer_one_more() -> None:
    common = [SearchPage("answer", f"common{n}", "metric") for n in range(8)]
    pages = (
        *common,
        SearchPage("answer zebra", "both", "metric"),
        SearchPage("zebra", "rare", "metric"),
    )
    assert addresses("nothing answer zebra", *pages)[:3] == ["both", "rare", "common0"]
    assert len(addresses("answer zebra", *pages)) == 10


def test_nothing_is_found_only_where_no_word_matches() -> None:
    assert addresses("quagga", SearchPage("zebra", "z", "metric")) == []
    assert addresses("is the zebra quagga?", SearchPage("zebra", "z", "metric")) == ["z"]
    assert addresses("zeb", SearchPage("zebra", "z", "metric")) == ["z"]
    assert addresses("", SearchPage("zebra", "z", "metric")) == []
    # Of fillers alone a question is taken at its word.
    assert addresses("why", SearchPage("x", "x", "metric", keywords=["whys"])) == ["x"]


def test_joined_and_parted_names_find_each_other() -> None:
    assert terms("BERT score") == ("bert", "scor", "bertscor")
    assert addresses("bert score", SearchPage("BERTScore", "b", "metric")) == ["b"]
    assert addresses("exactmatch", SearchPage("x", "e", "metric", name="exact_match")) == ["e"]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("ToolCorrectnessMetric", "tool_call_f1"),
        ("ToolCallAccuracy", "tool_call_accuracy"),
        ("RoleAdherenceMetric", "role_adherence"),
        ("AgentGoalAccuracyWithReference", "goal_accuracy"),
        ("ConversationalGEval", "g_eval"),
        ("did the chatbot solve the customer's problem", "goal_accuracy"),
        ("the bot keeps asking for the same information", "knowledge_retention"),
    ],
)
def test_a_name_of_other_programs_is_read_as_words(question: str, name: str) -> None:
    assert name in [page.name for page in search_index().find(question)[:3]]


def test_capital_letters_begin_words() -> None:
    text = word_stem("roleadherencemetric")
    assert terms("RoleAdherenceMetric") == (*terms("Role Adherence"), text)
    assert terms("BERTScore") == ("bertscor",)
    assert terms("Metric") == ("metric",)


def test_what_lives_elsewhere_is_found_and_says_so() -> None:
    for asked, title in (("comet", "COMET"), ("BERT score", "BERTScore")):
        first = search_index().find(asked)[0]
        assert first.title.startswith(title)
        assert first.kind == "elsewhere" or first.name in ("bertscore", "comet")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        *(("em", "exact_match"), ("EM", "exact_match"), ("f1", "classification, token_f1")),
        *(("accuracy", "classification, exact_match"), ("rouge1", "rouge"), ("rougeL", "rouge")),
        *(("f1_score", "token_f1, classification"), ("bleu4", "bleu"), ("bleu-1", "bleu")),
        *(("precision", "classification"), ("recall", "classification"), ("mer", "wer")),
        *(("pass@1", "pass_at_k"), ("pass@k", "pass_at_k"), ("sacrebleu", "bleu")),
        *(("chrf++", "chrf"), ("bert_score", "elsewhere"), ("ppl", "elsewhere")),
        *(("macro_f1", "classification"), ("micro_f1", "multi_label"), ("sql", "elsewhere")),
    ],
)
def test_the_command_shows_what_a_name_means_first(name: str, first: str) -> None:
    lines = run("list", name, "--format", "table").stdout.splitlines()
    shown = [line.partition(":")[0] for line in lines if not line.startswith(" ")]
    assert ", ".join(shown).startswith(first)


def test_the_command_answers_a_question_in_words() -> None:
    shown = run("list", "is my RAG answer grounded?", "--format", "table")
    assert shown.exit_code == 0
    assert "\nfaithfulness: Faithfulness (supported claims)\n  Fraction of" in f"\n{shown.stdout}"
    assert run("list", "plagiarism", "check", "--format", "table").stdout.startswith("coverage: ")


def test_a_question_without_an_answer_says_so() -> None:
    result = run("list", "qqqq", "--format", "json")
    assert (result.exit_code, result.stdout) == (0, "[]\n")
    assert "no metric or guide matches" in result.stderr


@pytest.mark.parametrize(
    ("option", "tag", "hint"),
    [
        ("--task", "summarisation", "no metric has the task 'summarisation'; did you mean 'summ"),
        ("--family", "zzz", "no metric has the family 'zzz' (family: "),
    ],
)
def test_an_unknown_tag_is_named_with_those_that_exist(option: str, tag: str, hint: str) -> None:
    result = run("list", option, tag, "--format", "json")
    assert (result.exit_code, result.stdout) == (0, "[]\n")
    assert hint in result.stderr
    refused = error(run("list", "x", option, tag), 2)
    assert "a QUESTION can't be combined with filters" in refused
