"""The offline judge and embedder: rules over words, and how far they agree with people."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from metrichub import Hub
from metrichub.authoring import Judge, Prompt
from metrichub.embed.offline import OfflineEmbedder
from metrichub.errors import JudgeUnavailable, ParameterError
from metrichub.judge.aggregate import cosine
from metrichub.judge.lexical import lowercase_words, negated
from metrichub.judge.offline import OfflineJudge
from metrichub.models.loop import run
from tests.vectors import corpus

JUDGE = OfflineJudge()
WORDS = ("yes", "no", "unknown")


def extract(text: str, rule: str = "sentences", limit: int | None = None) -> list[str]:
    return run(JUDGE.extract(Prompt("p", "", rule), {"text": text}, limit))


def verdict(claim: str, *contexts: str, rule: str = "supported") -> str:
    found = run(JUDGE.verify(Prompt("p", "", rule), [claim], {"contexts": contexts}, WORDS))
    return found[0].verdict


def test_it_is_a_judge() -> None:
    assert isinstance(JUDGE, Judge)
    assert JUDGE.label == "offline"


def test_claims_are_sentences_with_a_word_in_them() -> None:
    assert extract("It is old. ... It cost $3.50!\n\nMr. Lee left") == [
        "It is old.",
        "It cost $3.50!",
        "Mr. Lee left",
    ]
    assert extract(" \n ... !?") == []
    assert extract("One. Two. Three.", limit=2) == ["One.", "Two."]


def test_questions_are_closed_ones_about_each_sentence() -> None:
    assert extract("It is old. It is red!", "questions") == [
        "Is it said that It is old?",
        "Is it said that It is red?",
    ]


def test_names_are_capitalised_words_and_numbers_once_each() -> None:
    text = "Marie Curie won 2 prizes. Marie Curie left."
    assert extract(text, "names") == ["Marie Curie", "2"]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The bridge was built in 1932.", "yes"),
        ("The bridges were built in 1932.", "yes"),  # inflection
        ("The bridge was built in 1933.", "no"),  # another number
        ("The bridge was not built in 1932.", "no"),  # negation
        ("The tunnel carries 3,000 trains.", "unknown"),
        ("The ferry sank.", "unknown"),
        ("It carries 3,800 cars a day.", "yes"),  # written "3 , 800" in the source
    ],
)
def test_a_claim_is_held_against_words_numbers_and_negation(claim: str, expected: str) -> None:
    source = "The old bridge was built in 1932 . It carries 3 , 800 cars a day and 3 , 000 bikes ."
    assert verdict(claim, "Nothing of it is here.", source) == expected


def test_two_words_leave_no_room_for_undecided() -> None:
    found = run(
        JUDGE.verify(Prompt("p", "", "supported"), ["The ferry sank."], {"c": "A."}, ("yes", "no"))
    )
    assert [v.verdict for v in found] == ["no"]


def test_a_passage_covers_a_question_whose_words_it_has() -> None:
    passage = "The bridge over the river was built in 1932 by two brothers."
    assert verdict(passage, "When was the bridge built?", rule="covers") == "yes"
    assert verdict("The market sells fish.", "When was the bridge built?", rule="covers") == "no"


def test_a_negation_belongs_to_the_next_word_of_content() -> None:
    # "the" is passed over; what stands further than three words away isn't denied.
    assert negated(lowercase_words("It is not the old bridge")) == {"old"}
    assert negated(lowercase_words("He didn't of the it ever")) == set()
    assert negated(lowercase_words("They won't sell")) == {"sell"}


@pytest.mark.parametrize("ask", ["grade", "choose"])
def test_what_rules_cannot_do_is_refused_with_what_to_set(ask: str) -> None:
    calls = {
        "grade": lambda: run(JUDGE.grade(Prompt("rubric", ""), {}, (1, 5))),
        "choose": lambda: run(JUDGE.choose(Prompt("better", ""), ["a", "b"], {})),
    }
    with pytest.raises(JudgeUnavailable, match=rf"can't {ask} .*judge=\"openai\(model='\.\.\.'\)"):
        calls[ask]()


def test_a_rule_that_it_does_not_know_is_refused() -> None:
    with pytest.raises(JudgeUnavailable, match="by the rule 'magic'"):
        extract("a", "magic")
    with pytest.raises(JudgeUnavailable, match="by the rule 'magic'"):
        verdict("a", "b", rule="magic")


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_gets_verdicts_for_all_its_claims(text: str, contexts: list[str]) -> None:
    claims = extract(text)
    found = run(JUDGE.verify(Prompt("p", "", "supported"), claims, {"contexts": contexts}, WORDS))
    assert [(v.index, v.item) for v in found] == list(enumerate(claims))
    assert {v.verdict for v in found} <= set(WORDS)


@given(
    st.lists(
        st.sampled_from(["the", "cat", "sat", "on", "red", "mat", "in", "1932", "not"]), min_size=1
    )
)
def test_a_claim_supports_itself(claim: list[str]) -> None:
    # Double negation aside: the claim and the source deny the same words.
    text = " ".join(claim)
    assert verdict(text, text) == "yes"


def test_faithfulness_agrees_with_people_on_qags() -> None:
    rows = corpus("fact_qags_cnn.jsonl")
    report = Hub("faithfulness", judge="offline").evaluate(
        predictions=[row["hyp"] for row in rows], contexts=[[row["src"]] for row in rows]
    )
    scores = report.samples()["faithfulness"]["score"]
    people = [row["human_factuality"] for row in rows]
    assert spearmanr(scores, people).statistic >= 0.45


def test_offline_scoring_needs_and_loads_no_client() -> None:
    program = (
        "import sys\n"
        "sys.modules['openai'] = sys.modules['pydantic'] = None\n"
        "from metrichub import Hub\n"
        "hub = Hub('faithfulness', judge='offline')\n"
        "print(hub(predictions=['It is old.'], contexts=[['It is old.']]))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "{'faithfulness': {'score': 1.0}}\n", ran.stderr


def test_importing_the_judges_loads_nothing_heavy() -> None:
    program = (
        "import sys, metrichub.judge\n"
        "print(sorted({'asyncio', 'openai', 'pydantic', 'sqlite3', 'numpy'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "[]\n", ran.stderr


# The embedder.


def embed(*texts: str) -> np.ndarray:
    return run(OfflineEmbedder().embed(texts))


def test_vectors_have_length_one_and_an_empty_text_is_zero() -> None:
    found = embed("The cat sat.", "x", "", "...")
    assert found.shape == (4, 2048)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1, 0, 0])


def test_similar_texts_are_nearer_than_others() -> None:
    found = embed("The cat sat on the mat.", "A cat sits on the mat.", "Rates rose in March.")
    near, far = cosine(found[:1], found[1:])[0]
    assert near > 0.5
    assert far < 0.3


def test_a_vector_does_not_depend_on_its_company() -> None:
    assert np.array_equal(embed("a", "b")[0], embed("b", "a")[1])


def test_dimensions_are_checked_and_stand_in_the_label() -> None:
    assert OfflineEmbedder(dimensions=64).label == "offline(dimensions=64)"
    assert run(OfflineEmbedder(dimensions=64).embed(["a"])).shape == (1, 64)
    with pytest.raises(ParameterError, match="at least 16"):
        OfflineEmbedder(dimensions=1)
