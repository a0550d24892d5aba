"""CodeBLEU equals codebleu 0.7.0."""

import ast
import logging
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import MissingDependency
from tests.oracles.text_twins import any_text
from tests.vectors import vectors

codebleu = pytest.importorskip("codebleu", reason="needs metrichub[codebleu]")
pytest.importorskip("tree_sitter_python", reason="needs metrichub[codebleu]")

NAMES = {
    "score": "codebleu",
    "ngram_match": "ngram_match_score",
    "weighted_ngram_match": "weighted_ngram_match_score",
    "syntax_match": "syntax_match_score",
    "dataflow_match": "dataflow_match_score",
}
LANGUAGES = ["c", "c_sharp", "cpp", "go", "java", "javascript", "php", "python", "ruby", "rust"]
LINES = ("x = y", "y = x + 1", "return x", "f ( x , y )", "# note", "if x : y = 2", "pass", '"s"')
programs = st.lists(st.sampled_from(LINES), max_size=6).map(
    lambda lines: "def f ( x ) :\n    " + "\n    ".join(lines or ["pass"])
)


@pytest.fixture(autouse=True)
def _quiet():
    """codebleu warns for every corpus without a data flow."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def scores(predictions, references, **parameters):
    hub = Hub(load_metric("codebleu", **parameters))
    return hub(predictions=predictions, references=references)["codebleu"]


def official(predictions, references, language="python", **parameters):
    result = codebleu.calc_codebleu(references, predictions, language, **parameters)
    return {ours: result[theirs] for ours, theirs in NAMES.items()}


def functions():
    """The functions of this project without a loop, each with one of its lines left out."""
    home = Path(__file__).resolve().parents[2] / "metrichub"
    for path in sorted(home.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            loops = (ast.For, ast.While, ast.comprehension)
            if isinstance(node, ast.FunctionDef) and not any(
                isinstance(inner, loops) for inner in ast.walk(node)
            ):
                code = ast.get_source_segment(source, node)
                lines = code.split("\n")
                yield "\n".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :]), code


@pytest.mark.parametrize("row", vectors("codebleu"))
def test_the_published_values_are_met(row):
    result = scores(row["predictions"], row["references"], language=row["params"]["lang"])
    expected = row["expected"]
    if not isinstance(expected, dict):
        expected = {"codebleu": expected}
    for ours, theirs in NAMES.items():
        if theirs in expected:
            assert result[ours] == pytest.approx(expected[theirs], abs=row["tolerance"])
    assert result["score"] == pytest.approx(
        official(row["predictions"], row["references"], row["params"]["lang"])["score"]
    )


@given(st.lists(st.tuples(programs, st.lists(programs, min_size=1, max_size=3)), min_size=1,
                max_size=4))  # fmt: skip
def test_any_program_scores_as_in_codebleu(rows):
    predictions, references = [row[0] for row in rows], [row[1] for row in rows]
    assert scores(predictions, references) == pytest.approx(official(predictions, references))


@settings(max_examples=40)
@given(any_text, st.lists(any_text, min_size=1, max_size=2), st.sampled_from(LANGUAGES))
def test_any_text_scores_as_in_codebleu(prediction, references, language):
    texts = [prediction, *references]
    result = scores([prediction], [references], language=language)
    if not any("\ud800" <= c <= "\udfff" for text in texts for c in text):
        assert result == pytest.approx(official([prediction], [references], language))


def test_real_functions_score_as_in_codebleu():
    pairs = list(functions())[:150]
    report = Hub("codebleu").evaluate(
        predictions=[pair[0] for pair in pairs], references=[pair[1] for pair in pairs]
    )
    for row, (prediction, reference) in enumerate(pairs):
        result = {name: values[row] for name, values in report.samples()["codebleu"].items()}
        assert result == pytest.approx(official([prediction], [[reference]])), prediction
    expected = official([pair[0] for pair in pairs], [[pair[1]] for pair in pairs])
    assert report.scores()["codebleu"] == pytest.approx(expected)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_parser_and_keywords(language):
    prediction, reference = "int f ( int x ) { return x ; }", "int f ( int y ) { return y + 1 ; }"
    result = scores([prediction], [[reference]], language=language)
    assert result == pytest.approx(official([prediction], [[reference]], language))


def test_the_weights_weigh_the_parts():
    pair = (
        ["def bar ( y , x ) :\n    a = x * x\n    return a"],
        [["def foo ( x ) :\n    return x"]],
    )
    weights = (0.1, 0.2, 0.3, 0.4)
    assert scores(*pair, weights=weights) == pytest.approx(official(*pair, weights=weights))


def test_a_lost_data_flow_is_worth_one_or_nothing():
    # The reference's flow is x <- x; the prediction has none. The other parts are 0: no word is
    # shared, and no subtree.
    lost = (["pass"], [["def foo ( x ) :\n    return x"]])
    assert scores(*lost)["score"] == pytest.approx(0.25)
    assert scores(*lost, no_dataflow="nothing")["score"] == 0
    # Without any flow in the reference the other three share the weight: all 1.
    none = (["import a . b . c"], [["import a . b . c"]])
    assert scores(*none, no_dataflow="nothing")["score"] == pytest.approx(1)
    assert scores(*none, no_dataflow="nothing")["dataflow_match"] == 0


def test_merged_sources_stand_in_the_order_of_the_text():
    # In the loop, d takes its value from b, then from c: whatever the hash seed, b comes first.
    code = "def f ( a , c , b ) :\n    for i in a :\n        d = b\n        b = c\n        c = d"
    from metric_cards.codebleu.programs import reader

    result = reader("python")
    steps = result._steps(code, result._root(code))
    for step in steps:
        places = [step.places[step.sources.index(name)] for name in step.sources]
        assert places == sorted(places)


def test_without_codebleu_the_error_says_what_to_install(monkeypatch):
    from metric_cards.codebleu.programs import Reader

    monkeypatch.setitem(sys.modules, "codebleu", None)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub\[codebleu\]'"):
        Reader("python")
