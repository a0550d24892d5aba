"""The offline judge and embedder: rules over words, and how far they agree with people."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from metrichub import Hub, load_metric
from metrichub.authoring import Prompt, WeighedVerdict
from metrichub.errors import JudgeUnavailable, ParameterError
from metrichub.judge.aggregate import cosine
from metrichub.judge.offline import OfflineJudge
from metrichub.judge.offline_rules import lowercase_words, negated
from metrichub.models.embedders import OfflineEmbedder
from metrichub.models.loop import run
from tests.vectors import corpus

JUDGE = OfflineJudge()
WORDS = ("yes", "no", "unknown")


def extract(text: str, rule: str = "sentences", limit: int | None = None) -> list[str]:
    return run(JUDGE.extract(Prompt("p", "", rule), {"text": text}, limit))


def judged(claim: str, *contexts: str, words: tuple[str, ...] = WORDS) -> WeighedVerdict:
    result = run(JUDGE.verify(Prompt("p", "", "supported"), [claim], {"contexts": contexts}, words))
    assert isinstance(result[0], WeighedVerdict)
    return result[0]


def verdict(claim: str, *contexts: str, rule: str = "supported") -> str:
    result = run(JUDGE.verify(Prompt("p", "", rule), [claim], {"contexts": contexts}, WORDS))
    return result[0].verdict


def test_its_label_names_the_version_of_its_rules_and_is_a_spec_of_it() -> None:
    assert JUDGE.label == "offline(version=3)"
    metric = load_metric("faithfulness", judge=JUDGE.label)
    assert metric.label() == "faithfulness(judge='offline(version=3)', idk=0.0)"
    with pytest.raises(ParameterError, match="version"):
        load_metric("faithfulness", judge="offline(version=1)")


def test_claims_are_sentences_with_a_word_in_them() -> None:
    assert extract("It is old. ... It cost $3.50!\n\nMr. Lee left") == [
        "It is old.",
        "It cost $3.50!",
        "Mr. Lee left",
    ]
    assert extract(" \n ... !?") == []
    assert extract("One. Two. Three.", limit=2) == ["One.", "Two."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is old. It is red!", ["It is old?", "It is red?"]),
        ("Die Brücke ist alt.", ["Die Brücke ist alt?"]),
        ("桥很长。它建于1912年。", ["桥很长？", "它建于1912年？"]),
    ],
)
def test_questions_are_the_sentences_themselves(text: str, expected: list[str]) -> None:
    assert extract(text, "questions") == expected


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


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("It cost 5000 dollars.", "It cost $5,000.", "yes"),
        ("It cost $5,000.", "It cost 5000 dollars.", "yes"),
        ("It cost $5 million.", "It cost 5 million dollars.", "yes"),
        ("It cost €4,000.", "It cost 4000 dollars.", "unknown"),
        ("Prices fell 7.8%.", "Prices fell 7.8 per cent.", "yes"),
        ("Prices fell 7.8 per cent .", "Prices fell 7 . 8 per cent . They rose .", "yes"),
        ("Two women saw the buses.", "Two woman saw the bus.", "yes"),
        ("The cities grew.", "The city grew.", "yes"),
        # A year, or a number of the same things, of another clause.
        ("Profits doubled in 2020.", "Profits doubled in 2019, and 2020 was quiet.", "no"),
        ("Profits doubled in 2019.", "Profits doubled in 2019, and 2020 was quiet.", "yes"),
        ("Profits doubled in 2020.", "In 2020, profits doubled.", "yes"),
        ("Profits doubled in 2020.", "Profits doubled in 2019 and 2020.", "yes"),
        ("He scored 2 goals.", "He scored 3 goals and missed 2 games.", "no"),
        ("It sold 2,000 bikes.", "It sold 3,000 cars and 2,000 bikes.", "yes"),
        # Negation in Chinese.
        ("这座桥不是红色的。", "这座桥是红色的。", "no"),
        ("这座桥是红色的。", "这座桥不是红色的。", "no"),
        ("桥没有倒塌。", "桥倒塌了。", "no"),
        ("桥没有倒塌。", "桥没有倒塌。", "yes"),
        # "However" is written with a negation, but it denies nothing.
        ("不过桥很长。", "桥很长。", "unknown"),
        ("利润在2020年翻了一番。", "利润在2019年翻了一番，2020年平淡。", "no"),
        # One of two sentences with the same words denies them, the other doesn't.
        ("The bridge is red.", "The bridge is not red. The bridge is red.", "yes"),
        ("The bridge is not red.", "The bridge is not red. The bridge is red.", "yes"),
    ],
)
def test_amounts_plurals_clauses_and_negation(claim: str, source: str, expected: str) -> None:
    assert verdict(claim, source) == expected


@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        ("It was -5 degrees.", "It was 5 degrees.", False),
        ("It was −5 degrees.", "It was -5 degrees.", True),
        ("It lost -$5.", "It lost $-5.", True),
        ("It lost -$5.", "It lost $5.", False),
        ("气温为-5度。", "气温为5度。", False),
        ("气温为-5度。", "气温为－5度。", True),
        # No sign, but a dash between two words or numbers.
        ("Covid-19 came.", "Covid 19 came.", True),
        ("They won 2-1.", "They won 1-2.", False),
        ("They won 2-1.", "They won 2–1.", True),
        ("They won 2-1.", "They won 2 - 1.", True),
        ("Born on 2019-05-03.", "Born on 2019-03-05.", False),
        ("It weighs 5.0 kg.", "It weighs 5 kg.", True),
        ("It cost $2.50.", "It cost $2.5.", True),
        ("It is 0.5.", "It is .5.", True),
        ("It is 0.5.", "It is 5.", False),
        # A thousand in German.
        ("Es kostet 1.000 Euro.", "Es kostet 1 Euro.", False),
        ("It opens at 09:00.", "It opens at 9:00.", True),
        ("It opens at 09:30.", "It opens at 9:03.", False),
        ("It was on 05 May.", "It was on 5 May.", True),
        ("Agent 007 came.", "Agent 7 came.", False),
        ("It is version 1.2.0.", "It is version 1.2.", False),
        ("It cost １２３ dollars.", "It cost 123 dollars.", True),
        ("它建于１９３２年。", "它建于1932年。", True),
        ("它涨了５％。", "它涨了5%。", True),
        ("它在９：００开门。", "它在9:00开门。", True),
        ("यह १९३२ में बना।", "यह 1932 में बना।", True),
    ],
)
def test_numbers_are_the_same_however_they_are_written(first: str, other: str, same: bool) -> None:
    for claim, source in ((first, other), (other, first)):
        assert verdict(claim, source) == ("yes" if same else "no")


def test_a_score_that_stands_somewhere_as_claimed_is_no_clash() -> None:
    games = "They won 1-2 on Monday. They won 2-1 on Sunday."
    assert verdict("They won 2-1 on Sunday.", games) == "yes"
    # A draw is the same both ways.
    assert verdict("It ended 1-1.", "It ended 1-1.") == "yes"


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        ("The old bridge was built in 1932.", 1.0),
        # Of bridge, built, 1932 all are there, of five pairs of words all but "the bridge".
        ("The bridge was built in 1932.", (2 * 3 / 3 + 4 / 5) / 3),
        # Of old, tunnel, built one sentence has two; of three pairs "the old" is there.
        ("The old tunnel built.", (2 * 2 / 3 + 1 / 3) / 3),
        ("Ferries sank.", 0.0),
    ],
)
def test_a_claim_is_supported_by_the_share_of_it_that_is_there(claim: str, share: float) -> None:
    verdict = judged(claim, "The old bridge was built in 1932.")
    assert verdict.weights == pytest.approx({"yes": share, "unknown": 1 - share})
    assert verdict.verdict == ("yes" if share >= 0.8 else "unknown")


def test_a_claim_that_clashes_is_wholly_denied() -> None:
    verdict = judged("The old bridge was built in 1933.", "The old bridge was built in 1932.")
    assert (verdict.verdict, verdict.weights) == ("no", {"no": 1.0})


def test_two_words_leave_no_room_for_undecided() -> None:
    verdict = judged("The ferry sank.", "A ferry.", words=("yes", "no"))
    # Of ferry and sank one is there, of the pairs none.
    assert (verdict.verdict, verdict.weights) == ("no", pytest.approx({"yes": 1 / 3, "no": 2 / 3}))


def test_scores_count_the_share_of_each_claim() -> None:
    hub = Hub(["faithfulness", "lenient = faithfulness(idk=1.0)", "hallucination"], judge="offline")
    scores = hub(
        predictions=["The bridge was built in 1932. It was built in 1950. Ferries sank."],
        contexts=[["The old bridge was built in 1932."]],
    )
    share = (2 * 3 / 3 + 4 / 5) / 3
    assert scores["faithfulness"]["score"] == pytest.approx(share / 3)
    # What is neither there nor denied counts where it is to count: one claim of three is denied.
    assert scores["lenient"]["score"] == pytest.approx(2 / 3)
    assert scores["hallucination"] == pytest.approx(
        {"score": 1 - share / 3, "contradicted": 1 / 3, "unsupported": (2 - share) / 3}
    )


COPIES = [
    "The bridge is long.",
    "The bridge opened in 1912. It carries two railway tracks.",
    "He said no. He did not say it. He said it!",
    "桥很长。",
    "这座桥很长。它建于1912年。它不是红色的。",
    "Der 3. Oktober ist ein Feiertag. Das ist so.",
]


@pytest.mark.parametrize("text", COPIES)
def test_a_summary_that_equals_its_source_scores_1(text: str) -> None:
    hub = Hub(["summarization", "summarization_score", "faithfulness"], judge="offline")
    scores = hub(predictions=[text], sources=[text], contexts=[[text]])
    assert scores["summarization"] == {"score": 1, "alignment": 1, "coverage": 1, "passed": 1}
    assert scores["summarization_score"]["qa"] == 1
    assert scores["faithfulness"]["score"] == 1


@given(st.text() | st.text("ab不没 1,.$%5nt' not\n。-−0:０：–为是"))
def test_any_text_supports_its_own_sentences_and_answers_its_own_questions(text: str) -> None:
    for rule in ("sentences", "questions"):
        for item in extract(text, rule):
            assert judged(item, text).weights == {"yes": 1, "unknown": 0}


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
    with pytest.raises(JudgeUnavailable, match=r"can't answer .*judge=\"openai\(model='\.\.\.'\)"):
        calls[ask]()


def test_a_rule_that_it_does_not_know_is_refused() -> None:
    with pytest.raises(JudgeUnavailable, match="by the rule 'magic'"):
        extract("a", "magic")
    with pytest.raises(JudgeUnavailable, match="by the rule 'magic'"):
        verdict("a", "b", rule="magic")


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_gets_verdicts_for_all_its_claims(text: str, contexts: list[str]) -> None:
    claims = extract(text)
    result = run(JUDGE.verify(Prompt("p", "", "supported"), claims, {"contexts": contexts}, WORDS))
    assert [(v.index, v.item) for v in result] == list(enumerate(claims))
    assert {v.verdict for v in result} <= set(WORDS)


def test_faithfulness_agrees_with_people_on_qags() -> None:
    rows = corpus("fact_qags_cnn.jsonl")
    report = Hub("faithfulness", judge="offline").evaluate(
        predictions=[row["hyp"] for row in rows], contexts=[[row["src"]] for row in rows]
    )
    scores = report.samples()["faithfulness"]["score"]
    people = [row["human_factuality"] for row in rows]
    assert spearmanr(scores, people).statistic >= 0.5


def test_offline_scoring_needs_and_loads_no_client() -> None:
    program = (
        "import sys\n"
        "sys.modules['openai'] = None\n"
        "from metrichub import Hub\n"
        "hub = Hub('faithfulness', judge='offline')\n"
        "print(hub(predictions=['It is old.'], contexts=[['It is old.']]))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "{'faithfulness': {'score': 1.0}}\n", ran.stderr


# The embedder.


def embed(*texts: str) -> np.ndarray:
    return run(OfflineEmbedder().embed(texts))


def test_vectors_have_length_one_and_an_empty_text_is_zero() -> None:
    result = embed("The cat sat.", "x", "", "...")
    assert result.shape == (4, 2048)
    assert np.linalg.norm(result, axis=1) == pytest.approx([1, 1, 0, 0])


def test_similar_texts_are_nearer_than_others() -> None:
    result = embed("The cat sat on the mat.", "A cat sits on the mat.", "Rates rose in March.")
    near, far = cosine(result[:1], result[1:])[0]
    assert near > 0.5
    assert far < 0.3


def test_a_vector_does_not_depend_on_its_company() -> None:
    assert np.array_equal(embed("a", "b")[0], embed("b", "a")[1])


def test_dimensions_are_checked_and_stand_in_the_label() -> None:
    assert OfflineEmbedder(dimensions=64).label == "offline(dimensions=64)"
    assert run(OfflineEmbedder(dimensions=64).embed(["a"])).shape == (1, 64)
    with pytest.raises(ParameterError, match="at least 16"):
        OfflineEmbedder(dimensions=1)
