"""Formulas of cards in a terminal: plain text that means what the formula does."""

from __future__ import annotations

import re

import pytest

from metrichub.catalog.registry import registry
from metrichub.cli.formulas import formula_text, with_formulas
from tests.cli.test_terminal import on_terminal


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{a + b}{2 \cdot c}", "(a + b) / (2 · c)"),
        (r"\frac{1}{N} \sum_{i=1}^{N} p_i", "1/N ∑ᵢ₌₁^N pᵢ"),
        (r"\frac{|S_{\text{needed}}|}{|S(c)|}", "|S_needed| / |S(c)|"),
        (r"\frac{S+D}{H}", "(S+D) / H"),
        # What follows the logarithm is in it whole, and a longer root has brackets.
        (r"\log_2 \frac{\#(a, b)}{\#(a)}", "log₂ (#(a, b)/#(a))"),
        (r"\sqrt{0.5} \sqrt{2N}", "√0.5 √(2N)"),
        (r"\big(1,\, e^{1 - r/c}\big)", "(1, e^(1 - r/c))"),
        (r"r \not\models c, \nexists p \ne q", "r ⊭ c, ∄ p ≠ q"),
        (r"\left|\{ g \in G_n \}\right|", "|{g ∈ Gₙ}|"),
        (r"\bar L_r + \overline{\ell}(s)", "L̄ᵣ + ℓ̄(s)"),
        (r"P = 1, \qquad R = 2", "P = 1\nR = 2"),
        (r"\tfrac12 w", "1/2 w"),
        (r"\frac{1", r"\frac{1"),
    ],
)
def test_a_formula_is_a_line_of_text(latex: str, text: str) -> None:
    assert formula_text(latex) == text


def test_no_card_shows_latex() -> None:
    entries = [entry for entry in registry().entries if not entry.problem]
    assert entries
    for entry in entries:
        shown = with_formulas(entry.card.body)
        code = re.compile(r"^```(?!text).*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
        prose = code.sub("", shown)
        assert not re.search(r"\\[a-zA-Z]{2,}|\$\$", prose), entry.name


def test_code_and_money_stay_as_they_are() -> None:
    text = 'It costs $5 or "$" or `$x$`, and\n\n```\n$y$\n```\n\nbut $x_1$ is x.\n'
    assert with_formulas(text) == text.replace("$x_1$", "x₁")
    assert with_formulas("$a_b * c_d$") == r"a\_b \* c\_d"


def test_the_card_on_a_terminal_has_its_formula_in_a_line() -> None:
    shown, _ = on_terminal("card", "chrf", "--full", NO_COLOR="1", COLUMNS="80")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    # (1 + b^2) P R / (b^2 P + R), as the card has it.
    assert "chrF = (1 + β²) (chrP · chrR) / (β² chrP + chrR)" in plain
