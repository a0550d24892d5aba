"""Answers: what a reply gives as its answer, in the forms that people and models write."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.text.answers import (
    answer,
    bare_line,
    boxed,
    chosen_letter,
    folded,
    last,
    last_number,
    without_thinking,
)

LETTERS = "ABCDE"
COLOURS = ("red", "light blue", "blue")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The answer is 18.", "18"),
        ("**Answer:** 18", "18"),
        ("**Final answer: `18`**", "18"),
        ("First the answer is 3.\nNo, the answer is 4.", "4"),
        ("9 * 2 = 18\n#### 18", "18"),
        (r"so \boxed{\frac{1}{2}} is it", r"\frac{1}{2}"),
        (r"The answer is 3. Hence $\boxed{\text{4}}$.", "4"),
        (r"\boxed{3}, so the answer is 4", "4"),
        ("Answer:\n\nParis", "Paris"),
        ("The answer is 18. So she has 18 apples.", "18"),
        ("The answer is Dr. Smith.", "Dr. Smith"),
        ("The answer is (0, 1) or (1, 0)", "(0, 1) or (1, 0)"),
        ("<think>The answer is 5.</think>The answer is 6.", "6"),
        ("<think>The answer is 5.", None),
        ("答案是：18", "18"),
        ("最终答案是：42。", "42"),
        ("答案：42。因为 6 × 7。", "42"),
        ("उत्तर: 42।", "42"),
        (r"The answer is \(12\).", "12"),
        (r"\[12\]", "12"),
        (r"Answer: \[ 12 \].", "12"),
        ("The answer is:\n\\[\n12\n\\]\nas said.", "12"),
        ("The answer is\n$$\n12\n$$", "12"),
        (r"The answer is \(12\). So it is.", "12"),
        (r"The answer is \(x\) and \(y\).", r"\(x\) and \(y\)"),
        (r"\[\left[0, 1\right]\]", r"\left[0, 1\right]"),
        ("Answer: −５", "-5"),
        ("The answer is ١٨", "18"),
        ("42", "42"),
        ("I have\nno idea", None),
        ("", None),
        (r"\boxed{a{b}c", None),
        # What brackets and signs enclose stays as it is, unless it is a single thing.
        ('{"a": ["x"]}', '{"a": ["x"]}'),
        ("It is {1, 2}.\nAnswer: {1, 2}.", "{1, 2}"),
        ("(1, 2).", "(1, 2)"),
        ("(C)", "C"),
        ("[18]", "18"),
        ('Answer: "x" and "y"', '"x" and "y"'),
        ("$x^2$ and $y$", "$x^2$ and $y$"),
        ("Answer: “x” and y", "“x” and y"),
        ("Answer: x and “y”", "x and “y”"),
        ("$$x$$", "x"),
        ('Answer: "18".', "18"),
        ('She said: "The answer is 18"', "18"),
        ("$18", "18"),
        # Nothing but marks is no answer.
        ("The answer is **.**", None),
        ("The answer is", None),
        (r"\boxed{ }", None),
        ("***", None),
        ("a\nb", None),
        (r"The answer is 3. Or \boxed{4} if \boxed{5}?", "5"),
        (r"\boxed 7$ it is", "7"),
        (r"\fbox {x}", "x"),
        (r"\boxed{\textbf{a} \mathrm{b}}", "a b"),
        ("The answer is $3. It costs", "3"),
        ("The answer is 3.5. It", "3.5"),
        ("The answer is a. b", "a. b"),
        ("The answer is word. b", "word"),
        ("The answer is 3.\nB", "3"),
        ("####18\n#### 19", "19"),
        ("ANSWER = x", "x"),
        ("the answers are x", "the answers are x"),
        # Tags hold whole answers, of which the last counts.
        ("<answer>42</answer>", "42"),
        (
            "<think>1</think>\n<answer>\n 7 apples\nand 2 pears </answer> ok",
            "7 apples\nand 2 pears",
        ),
        ("<answer>1</answer> <ANSWER> (C) </ANSWER>", "C"),
        ("In <answer></answer> tags: <answer>5", "5"),
        (r"<answer>It is $\boxed{42}$.</answer>", "42"),
        ("<answer>The answer is C</answer>", "C"),
        ("<final_answer>x y</final_answer>", "x y"),
        ("[ANSWER]x[/ANSWER]", "x"),
        ("so <|begin_of_box|>42<|end_of_box|>", "42"),
        ("Answer: 42<|im_end|>", "42"),
        # JSON and objects of Python.
        ('{"why": "The answer is 3.", "answer": "4 \\"x\\" y"}', '4 "x" y'),
        ('{"answer": 42, "why": "so"}', "42"),
        ("{'final_answer': 'red fox', 'sure': 1}", "red fox"),
        ('```json\n{\n "answer": ["a", "b"]\n}\n```', '["a", "b"]'),
        # The last mark that an answer follows.
        ("The answer is (D).\n\nFinal Answer:", "D"),
        ("The answer is 5.\n\nFinal Answer: The final answer is", "5"),
        ("The answer is (C). (Note: This answer is a guess based on it.)", "C"),
        (r"The answer is 5. So $\boxed{5", "5"),
        ("This answer is 42.\nYes", "42"),
        ("Answer: 5\n\n#### Explanation\nAs 2 + 3.", "5"),
        ("### Answer\n42", "42"),
        ("**Final Answer**\n\n42 apples\n", "42 apples"),
        ("The answer to the last question is 5.", "5"),
    ],
)
def test_the_answer_is_what_follows_the_last_mark(reply: str, expected: str | None) -> None:
    assert answer(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("about $1,234.50 in all", "1234.50"),
        ("−3 or ３", "3"),
        ("it is -3", "-3"),
        ("10-3", "3"),
        ("١٨", "18"),
        ("1.5.2", "1.5"),
        ("1,2", "2"),
        ("2.5e-3 m", "2.5e-3"),
        ("5eggs", "5"),
        ("so we get 5...", "5"),
        ("x2 is", None),
        *(("70{,}000", "70000"), (r"70,\!000", "70000"), (r"is $1\,000$", "1000")),
        *((r"1{,}234{,}567.5", "1234567.5"), (r"1\,00", "00"), (r"12{,}5", "5")),
        *(("it is –5", "-5"), ("5–7", "7"), ("a – 7", "7"), ("$–.5$", "-.5")),
        ("none", None),
    ],
)
def test_the_last_number_has_no_separators_of_thousands(reply: str, expected: str | None) -> None:
    assert last_number(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Answer: B", "B"),
        ("The answer is **(C)**.", "C"),
        ("the answer is b", "B"),
        (r"\boxed{\text{(D)}}", "D"),
        ("Ｂ", "B"),
        ("C) Paris", "C"),
        ("I choose (C), since it fits", "C"),
        ("(A) is wrong, so (C)", None),
        (r"(A) fails, so \boxed{C}", "C"),
        ("(A) fails. Answer: C", "C"),
        ("The answer is A good one", None),
        ("The answer is B good one", "B"),
        ("The answer is A, good", "A"),
        ("The answer is A because it is big.", "A"),
        ("The answer is a since it is big.", "A"),
        ("Answer: a)good", "A"),
        ("Answer: apple", None),
        ("The answer is F", None),
        ("It's the best", None),
        ("(A) or (A)", "A"),
        ("(Z) is no choice, (B) is", "B"),
        ("I know", None),
        ("The answer is I think B", None),
        ("The answer is a banana", None),
        ("The answer is b banana", None),
        ("The answer is A: banana", "A"),
        ("The answer is A 3", "A"),
        ("The answer is A", "A"),
        ("The answer is AB", None),
        ("The answer is A's", None),
        (r"The answer is \text{(E)}", "E"),
        ("One line\nand (D) too", "D"),
        ("<think>(A)</think>(B)", "B"),
    ],
)
def test_a_letter_counts_alone_and_never_as_a_word(reply: str, expected: str | None) -> None:
    assert chosen_letter(reply, LETTERS) == expected


@pytest.mark.parametrize(
    "reply",
    [
        *("Answer: Option C", "The correct answer is option (C).", "Option C", "**Option C.**"),
        *("I would choose C.", "I'd go with option C because it fits.", "I'll pick (C)"),
        *('{"answer": "C"}', "{'answer': 'C'}", '{"answer": "C) Rome", "why": "A is bad"}'),
        *("### Answer\nC", "**Answer**: C", "Solution: C", "**Solution:** C", "Choice: C"),
        *(
            "The correct option is C.",
            "The best choice is (C)",
            "C is correct.",
            "So C is the answer",
        ),
        *("The answer would be C", "The answer to the question is C.", r"Answer: $\text{C}$"),
        *("<answer>C. Rome</answer>", "<|begin_of_box|>C<|end_of_box|>", r"$\boxed{\text{(C)}}$"),
        *("选C", "故选 C。", "答案：C", "正确答案为选项C", "答えはCです", "정답은 C입니다"),
        *(
            "Respuesta correcta: C",
            "La respuesta correcta es la opción C.",
            "A resposta é a opção C",
        ),
        *("Die richtige Antwort ist C.", "Antwort: C", "Réponse : C", "La bonne réponse est la C."),
        *("Правильный ответ: C", "Risposta: C", "Đáp án đúng là C", "الإجابة: C", "คำตอบ: C"),
        *("Hmm.\nA is bad.\n\nC", "Well.\n**C**", "C) Rome\n\nIt fits.", "C. Rome is.\nMore."),
        "The answer is (C).\n\n### Explanation\nNot A.\nFinal Answer:",
        *("C\n\nExplanation: The capital is Paris.", "C\nBecause (A) and (B) are small."),
        *("**C**\n\nRome is.", "(A) is wrong, (B) is wrong, so (C) must be right."),
        *("Wrong answer: A. Correct answer: C", "The wrong answer is A and the answer is C"),
    ],
)
def test_a_letter_is_read_in_the_styles_of_models(reply: str) -> None:
    assert chosen_letter(reply, LETTERS) == "C"


@pytest.mark.parametrize(
    "reply",
    [
        *(
            "A dog barked.",
            "I think so",
            "A good reason",
            "E = mc^2",
            "B cells make it",
            "C++ is old",
        ),
        *(
            "I think it is B or C",
            "Answer: B or C",
            "The answer is (A) and (B).",
            "Answer: A, B, C",
        ),
        *("A) red\nB) blue\nC) green", "We check each option:\n\nA. 27", "A) Lyon\nA) Paris"),
        *(
            "Choose B such that 1 holds",
            "Solution: Let C be a set",
            "I would not choose C.",
            "不选C",
        ),
        *(
            "The answer depends on A",
            "The answer isn't B",
            "Option A is wrong",
            "Statement A is correct",
        ),
        *("Wrong answer: A", "Wrong answer: (A)", "The wrong answer is A.", "Incorrect option: B"),
        *("Wrong answers: A, B", "Falsche Antwort: A", "错误答案：A", "A\nred\nB\nblue"),
        "A)\nred\nB) blue",
        *("I. Intro\nII. More", "(a) is 5\n(b) is 6", "Answer: none", "Answer:", "B. 2\nmore\nC."),
    ],
)
def test_no_letter_is_read_where_none_is_given(reply: str) -> None:
    assert chosen_letter(reply, LETTERS) is None


@given(st.text())
def test_folding_keeps_the_value_of_every_digit(text: str) -> None:
    values = [unicodedata.decimal(character, None) for character in text]
    digits = [int(character) for character in folded(text) if character in "0123456789"]
    assert digits == [value for value in values if value is not None]


@pytest.mark.parametrize(
    "reply",
    [
        *("{" * 100_000, r"\boxed{" * 50_000, "9" * 1_000_000, "1,234" * 200_000, "(" * 100_000),
        *("Answer:" * 100_000, "Answer: " + "**" * 100_000, "<think>" * 100_000),
        *("answer is " * 90_000, "<answer>" * 50_000, "'answer': [" * 50_000, "#### aa " * 50_000),
        *("\n*" * 100_000, "A and " * 100_000, "choose A" * 50_000, "answer to " * 50_000),
    ],
    ids=lambda reply: reply[:8],
)
def test_hostile_replies_are_read_in_linear_time(reply: str) -> None:
    # If each place looked at all others, this would take hours.
    for read in (answer, boxed, last_number, lambda text: chosen_letter(text, LETTERS)):
        read(reply)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (" \n **a.** \nb", "a"),
        ("a..", "a"),
        ("a. .", "a"),
        ("('a')", "('a')"),
        ("(a)", "a"),
        ("((a))", "((a))"),
        ("{a)", "{a)"),
        ("[]", ""),
        ("", ""),
        ("'a", "a"),
        ("a'", "a"),
        ("it's", "it's"),
        ("“a", "a"),
        ("a”", "a"),
        ("$$a$", "a"),
        ('"a" "b"', '"a" "b"'),
    ],
)
def test_what_stands_around_all_of_a_line_is_taken_off(text: str, bare: str) -> None:
    assert bare_line(text) == bare


@pytest.mark.parametrize(
    ("text", "remainder"),
    [
        ("a", "a"),
        ("<think>a</think>b", "b"),
        ("<think>a</think>b</think>c", "c"),
        ("a</thinking >b<think>c", "b"),
        ("a<THOUGHT x='1'>b", "a"),
        ("[THINK]a[/THINK]b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "b"),
        ("", ""),
    ],
)
def test_what_follows_the_last_end_of_thinking_is_left(text: str, remainder: str) -> None:
    assert without_thinking(text) == remainder


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("x", None),
        (r"\boxed{a}\boxed{b{c}}d}", "b{c}"),
        (r"\boxed{}", ""),
        (r"\boxed{{a}", None),
        (r"\boxed a$ b$", "a"),
        (r"\boxed a", "a"),
        (r"\boxed  {a}", "a"),
    ],
)
def test_a_box_holds_what_its_braces_do(text: str, content: str | None) -> None:
    assert boxed(text) == content


def test_the_last_of_none_is_none() -> None:
    assert last([]) is None
    assert last(iter([3, 4])) == 4


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ＡＺａｚ", "AZaz"),
        # Signs before, between and behind full-width letters stay, but for those between.
        ("＠", "＠"),
        ("｛", "｛"),
        ("－−﹣–", "---–"),
        ("é中", "é中"),
    ],
)
def test_folding_makes_ascii_of_letters_and_minus_signs_alone(text: str, plain: str) -> None:
    assert folded(text) == plain
    # What is known of a character is the same the second time.
    assert folded(text) == plain


@pytest.mark.parametrize(
    ("reply", "letters", "choices", "letter"),
    [
        ("The answer is **.**", "AB", ("red", ""), None),
        ("red\nit is", "AB", ("red", "blue"), "A"),
        ("It is\nnot RED-ish", "AB", ("red ish", "!"), "A"),
        ("It is\nred", "A", ("blue", "red"), None),
        ("It is\nred", "AB", ("blue", "red"), "B"),
        ("It is\nred", "AB", ("red", "red"), None),
        ("It is\nred", "AB", (), None),
        ("The answer is reddish.", "ABC", COLOURS, None),
        # "light blue" holds "blue", too.
        ("The answer is light blue.", "ABC", COLOURS, None),
        ("red or blue", "ABC", COLOURS, None),
        # What the reply says before it gives an answer doesn't count.
        ("Red or blue? The answer is red.", "ABC", COLOURS, "A"),
        ("The answer is blue.", "AB", ("red", "green", "blue"), None),
        ("The answer is blue.", "ABC", ("red", "green", "blue"), "C"),
    ],
)
def test_words_of_a_choice_stand_for_its_letter(
    reply: str, letters: str, choices: tuple[str, ...], letter: str | None
) -> None:
    assert chosen_letter(reply, letters, choices) == letter
