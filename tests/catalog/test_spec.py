"""Specs: text and parameters stand for each other, and what is no spec says so."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.catalog.spec import Spec
from metrichub.errors import SpecError

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name)
)
distributions = st.from_regex(r"[a-z0-9][a-z0-9.-]{0,6}/", fullmatch=True)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=5,
)
specs = st.builds(
    Spec,
    st.one_of(names, st.tuples(distributions, names).map("".join)),
    st.dictionaries(names, values, max_size=3),
    st.none() | names,
)


@given(specs)
def test_a_spec_is_parsed_back_from_its_text(spec: Spec) -> None:
    assert Spec.parse(str(spec)) == spec


@given(st.text() | st.text(alphabet="ab=(),'\"[]{}1*.#/ \n", max_size=12).map("f(".__add__))
def test_any_text_is_a_spec_or_a_spec_error(text: str) -> None:
    try:
        spec = Spec.parse(text)
    except SpecError:
        return
    assert Spec.parse(str(spec)) == spec


def test_blanks_around_the_parts_do_not_matter() -> None:
    assert Spec.parse("  b2=bleu ( max_order = 2 ,) ") == Spec("bleu", {"max_order": 2}, "b2")


def test_a_qualified_name_keeps_its_distribution() -> None:
    assert Spec.parse("my-dist.x/bleu(n=1)").metric == "my-dist.x/bleu"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "isn't a valid metric"),
        ("2bleu", "isn't a valid metric"),
        ("bleu(n=1", "isn't a valid metric"),
        ("a = b = bleu", "isn't a valid metric"),
        ("bleu(2)", "by name"),
        ("bleu(*[1])", "by name"),
        ("bleu(**{'n': 1})", "by name"),
        ("bleu(n=1)(n=2)", "by name"),
        ("bleu(n=1).f(n=2)", "by name"),
        ("bleu(n=1) + f(n=2)", "by name"),
        ("bleu(n=1, n=2)", "twice"),
        ("bleu(n=)", r"can't be parsed: [^(]*$"),
        ("bleu(n=4, wmt)", r"the preset comes first: bleu\(wmt, n=4\)$"),
        ("b = chrf(n=4, chrf++, m=(1, 2))", r"first: b = chrf\(chrf\+\+, n=4, m=\(1, 2\)\)$"),
        ("bleu(n=, wmt)", "can't be parsed"),
        ("bertscore(model=./m/bert, layer=2)", r"quote text, as in model='\./m/bert'$"),
        ("bertscore(model=me/tiny-bert)", r"quote text, as in model='me/tiny-bert'$"),
        ("bleu(n={[]})", "isn't a Python literal"),
        ("bleu(n=__import__('os'))", "isn't a Python literal"),
    ],
)
def test_what_is_no_spec_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Spec.parse(text)


def test_an_unquoted_word_is_answered_with_the_quoted_one() -> None:
    with pytest.raises(SpecError, match="tokenize='char'"):
        Spec.parse("bleu(tokenize=char)")


@pytest.mark.parametrize("text", ["chrf(chrf++)", "chrf('chrf++')", 'chrf( "chrf++" )'])
def test_a_preset_needs_no_quotes(text: str) -> None:
    asked = []

    def preset(metric: str, name: str) -> dict[str, object]:
        asked.append((metric, name))
        return {"word_order": 2}

    assert Spec.parse(text, preset) == Spec("chrf", {"word_order": 2})
    assert Spec.parse(f"{text[:-1]}, beta=1)", preset).parameters == {"word_order": 2, "beta": 1}
    assert asked == [("chrf", "chrf++")] * 2
