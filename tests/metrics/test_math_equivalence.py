"""Math equivalence: math-verify's verdicts, and how what it can't decide is ended."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from metric_cards.math_equivalence import MathEquivalence, comparer, workers
from metric_cards.math_equivalence.workers import Comparer, Verdict, close
from metrichub import Hub
from metrichub.errors import MetricError, MissingDependency
from metrichub.text import Texts
from tests.vectors import answer_vectors

math_verify = pytest.importorskip("math_verify", reason="needs metrichub[math]")


@pytest.fixture(scope="module", autouse=True)
def _end_processes() -> Any:
    yield
    close()


READ = (False, False)


def verdicts(pairs: Any, options: Any, seconds: float) -> list[bool | None]:
    return [verdict.equal for verdict in workers.verdicts(pairs, options, seconds)]


def score(prediction: str, reference: str, **parameters: Any) -> float:
    measured = MathEquivalence(**parameters).measure(Texts([prediction]), Texts([reference]))
    return float(measured.statistics["score"][0])


@pytest.mark.parametrize("row", answer_vectors("math_equivalence"))
def test_equals_math_verify(row: dict[str, Any]) -> None:
    value = score(row["inputs"]["prediction"], row["inputs"]["reference"], **row["params"])
    assert value == row["expected"]


EXPRESSIONS = [
    *("1/2", "$\\frac{2}{4}$", "50%", "$x+1$", "$1+x$", "$\\{1,2\\}$", "$(1,2)$", "$x=3$", "3"),
    *(
        "$\\sqrt{8}$",
        "$2\\sqrt2$",
        "the answer is 3.",
        "$\\boxed{3}$ or 4",
        "yes",
        "$A$",
        "nothing",
    ),
]


def test_equals_math_verify_on_all_pairs_of_expressions() -> None:
    pairs = [(a, b) for a in EXPRESSIONS for b in EXPRESSIONS if a != b]
    read = {text: math_verify.parse(text, parsing_timeout=None) for text in EXPRESSIONS}
    official = [math_verify.verify(read[a], read[b], timeout_seconds=None) for a, b in pairs]
    assert 10 < sum(official) < len(official)
    assert verdicts(pairs, {}, 10.0) == official


@pytest.mark.parametrize("text", ["½", "yes", "-07", "", "$x$"])
def test_the_same_text_is_right_also_where_math_verify_reads_nothing(text: str) -> None:
    assert score(f" {text}\n", text) == 1


BOMBS = [
    *("$9^{9^{9^{9}}}$", "9**9**9**9", "$(10^8)!$", "$\\binom{10^9}{10^8}$", "$(x+1)^{10^6}$"),
    *("$\\sum_{n=1}^{10^9} n^n$", "$\\prod_{k=1}^{1000000} k$", "$2^{1000001}$"),
    *("$" + "{" * 100_000, "$" + "{" * 2000 + "1" + "}" * 2000 + "$", "\\boxed{" * 2000),
    "$\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}^{1000001}$",
    # What no rule sees, the processor's time ends.
    *("$1/(x^{50}+x+1)^{30}$", "$\\binom{1000000000}{100000000}$"),
]


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:20])
def test_what_takes_too_long_is_undecided_on_both_sides(bomb: str) -> None:
    result = verdicts([("$x^2+1$", bomb), (bomb, "$x^2+1$"), ("$2^3$", "8")], {}, 0.1)
    assert result == [None, None, True]


@pytest.mark.parametrize(
    "text", ["1" * 100_000, "$" + "x+" * 3000 + "1$", "[" * 100_000, "$" * 9999]
)
def test_long_replies_get_a_verdict(text: str) -> None:
    assert verdicts([("7", text)], {}, 10.0) == [False]


def test_what_is_large_and_can_be_compared_is() -> None:
    pairs = [("$2024!$", "$2024 \\cdot 2023!$"), ("$2^{2024}$", "$4^{1012}$"), ("$x^{5000}$", "1")]
    assert verdicts(pairs, {}, 10.0) == [True, True, False]
    assert verdicts([("$(-\\infty,2)$", "$x<2$")], {}, 10.0) == [False]


def test_undecided_samples_are_counted_and_have_no_score() -> None:
    report = Hub("math_equivalence(seconds=10)").evaluate(
        predictions=["$9^{9^{9^9}}$", "8", "9"], references=["7", "$2^3$", "$2^3$"]
    )
    assert report.scores() == {"math_equivalence": {"score": 0.5}}
    assert report.counts() == {"math_equivalence": {"unanswered": 1}}


def test_nothing_extracted_is_wrong() -> None:
    report = Hub("math_equivalence", extract="boxed").evaluate(
        predictions=["so it is 8", r"\boxed{8}"], references=["8", "$2^3$"]
    )
    assert report.scores() == {"math_equivalence": {"score": 0.5}}
    assert report.counts() == {"math_equivalence": {"unextracted": 1}}


@pytest.mark.parametrize("extract", [None, "boxed", "answer"])
def test_a_formula_without_its_signs_is_one(extract: str | None) -> None:
    replies = [r"$\boxed{\frac12}$", r"It is $\boxed{x+1}$.", r"$\boxed{\{2,1\}}$"]
    hub = Hub("math_equivalence", extract=extract)
    scores = hub(predictions=replies, references=["0.5", "$1+x$", r"$\{1,2\}$"])
    assert scores["math_equivalence"]["score"] == 1


NUMBERS = ["3", "12", "-5", "7"]
FORMULAS = [
    *(
        r"{a}\sqrt{{{b}}}",
        r"{a}^{{{b}}}",
        r"\frac{{{a}}}{{{b}}}",
        r"\dfrac{{x}}{{{a}}}",
        "{a}x+{b}",
    ),
    *("({a},{b})", "[{a},{b})", "{a}, {b}, 40", "y = {a}x", "{a}\\pi", r"\$1{{,}}0{b}", "x_{a}"),
    *(r"\begin{{pmatrix}} {a} \\ {b} \end{{pmatrix}}", r"{a} \text{{ cm}}", r"\text{{day {a}}}"),
    *(r"{a} \text{{ or }} {b}", "{a} - {b}i", r"x \in [{a}, {b}]", r"{a}^\circ", r"{a}\%", "{a}"),
]


def test_a_reference_without_dollar_signs_is_that_with_them() -> None:
    # By math-verify on the reference between dollar signs.
    draw = random.Random(7)
    golds = [f.format(a=draw.choice(NUMBERS), b=draw.choice(NUMBERS)) for f in FORMULAS * 3]
    replies = [rf"So it is $\boxed{{{text}}}$." for text in [*golds, *NUMBERS]]
    pairs = [(gold, draw.choice(replies)) for gold in golds for _ in range(3)]
    pairs += list(zip(golds, replies, strict=False))
    official = [
        float(
            math_verify.verify(
                math_verify.parse(f"${gold}$", parsing_timeout=None),
                math_verify.parse(reply, parsing_timeout=None),
                timeout_seconds=None,
            )
        )
        for gold, reply in pairs
    ]
    measured = MathEquivalence(seconds=10).measure(
        Texts([reply for _, reply in pairs]), Texts([gold for gold, _ in pairs])
    )
    assert len(golds) < sum(official) < len(pairs)
    assert measured.statistics["score"].tolist() == official
    assert not measured.statistics["unread"][:, 0].any()


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"),
    [
        # Half of the formula isn't the formula.
        *((r"3\sqrt{13}", r"$\boxed{3}$", 0), (r"3\sqrt{13}", r"$\boxed{3\sqrt{13}}$", 1)),
        *((r"2^{16}", r"$\boxed{2}$", 0), ("y=2x+3", r"\boxed{2}", 0), ("6 - 5i", "$5$", 0)),
        ("\\begin{pmatrix}\n1\\\\\n2\\end{pmatrix}", r"$\begin{pmatrix}1\\2\end{pmatrix}$", 1),
        # Numbers, letters and words are read as math-verify reads them without dollar signs.
        *(("1,000", "1000", 1), ("1/2", "0.5", 1), ("3 apples", "$3$", 1), ("18 dollars", "18", 1)),
        *(("10 cm^2", "$10$", 1), ("12:30", "$12:30$", 0), ("$18.90", "18.9", 1)),
        *(
            ("x", "x", 1),
            ("x", "$x$", 0),
            ("(A)", "(A)", 1),
            ("(A)", "$A$", 0),
            ("Monday", "$M$", 0),
        ),
        (r"\text{Monday}", r"\text{Monday}", 1),
        # A prediction is a formula if it is nothing else.
        *(("65536", "2^{16}", 1), ("2", "2^{16}", 0), ("1000", "gives 10^3", 1), ("5", "A) 5", 1)),
        # Beside a number, it is read as text.
        *(("18", "18 m", 1), ("$5$", "A) 5", 1), ("5", "x = 5", 1), ("p-q", "it is p-q", 0)),
        *(("6-5i", "6 - 5i", 1), ("(1, 2)", "(1,2)", 1), ("p-q", "p - q", 1)),
    ],
)
def test_a_formula_needs_no_dollar_signs(reference: str, prediction: str, expected: float) -> None:
    assert score(prediction, reference) == expected


@pytest.mark.parametrize(
    ("reference", "prediction"),
    [
        *(("6-5i", "6 - 5i"), ("(1, 2)", "(1,2)"), ("p-q", "p - q"), ("x+1", "1 + x")),
        *(("y=2x", "y = 2x"), ("$p-q$", "p - q"), ("$(1, 2)$", "(1,2)"), ("1, 2", "2, 1")),
        *(("6-5i", "6 + 5i"), ("(1, 2)", "(2, 1)"), ("p-q", "q - p"), ("[1, 2)", "(1, 2)")),
        *(("2x", "2 x"), ("3!", "3 !"), ("x>1", "x > 1"), ("{1, 2}", "{2,1}"), ("2*x", "x*2")),
    ],
)
def test_a_prediction_that_is_a_formula_is_that_between_dollar_signs(
    reference: str, prediction: str
) -> None:
    gold, answer = (
        math_verify.parse(f"${text.strip('$')}$", parsing_timeout=None)
        for text in (reference, prediction)
    )
    official = math_verify.verify(gold, answer, timeout_seconds=None)
    assert score(prediction, reference, seconds=10) == official


def test_texts_that_are_read_in_part_or_not_at_all_are_noted() -> None:
    def notes(references: list[str], predictions: list[str], extract: str = "none") -> Any:
        hub = Hub("math_equivalence", extract=extract)
        report = hub.evaluate(predictions=predictions, references=references)
        return report.notes().get("math_equivalence", [])

    good = ["3 apples", ".5", r"45 \text{ units}^2", "9 * 2 = 18\n#### 18", r"So \boxed{2}, not 3"]
    assert notes(good, ["7"] * 4 + ["2"]) == []
    # Nothing, the second number alone, another number; the same text is right whatever it is.
    assert notes(["x", "3 or 4", "2,6", r"\frac{1", "yes"], [*["$7$"] * 4, "yes"]) == [
        "4 references couldn't be read, or only in part; put formulas between $ signs"
    ]
    cut = [r"it is \frac{1", "it is 2 apples or 3"]
    assert notes(["4", "5"], cut, "after('it is')") == [
        "2 extracted answers couldn't be read, or only in part"
    ]
    assert notes(["3"], [r"so \boxed{18 dollars}"], "boxed") == []


def test_it_works_in_threads_and_leaves_the_alarm_of_its_host_alone() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    seconds: list[float] = []
    threads = [Thread(target=lambda: seconds.append(score("8", "$2^3$"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seconds == [1, 1, 1]
    assert signal.getsignal(signal.SIGALRM) == handler


def test_a_process_that_was_killed_or_has_rested_is_replaced() -> None:
    close()
    assert verdicts([("$2^3$", "8")], {}, 10.0) == [True]
    (first,) = workers._idle[10.0]
    first.end()
    assert verdicts([("$2^3$", "8")], {}, 10.0) == [True]
    (second,) = workers._idle[10.0]
    assert second is not first
    # Nobody asks any more: it ends by itself.
    assert second._process.stdin
    second._process.stdin.close()
    assert second._process.wait() == 0


def test_a_pair_whose_process_ends_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Comparer(10.0)
    ended.end()
    with pytest.raises(EOFError):
        ended.verdict(("$2^3$", "8"), {})
    verdict = Comparer.verdict

    def ending(self: Comparer, pair: Any, options: Any) -> Verdict:
        if pair[1] == "9":
            self.end()
        return verdict(self, pair, options)

    monkeypatch.setattr(Comparer, "verdict", ending)
    assert verdicts([("$2^3$", "9"), ("$2^3$", "8")], {}, 10.0) == [None, True]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_process_may_have_so_much_memory() -> None:
    asked = Comparer(10.0)
    limits = Path(f"/proc/{asked._process.pid}/limits").read_text("utf-8").splitlines()
    asked.end()
    (line,) = [line for line in limits if line.startswith("Max data size")]
    assert line.split()[3] == str(workers.MEMORY)


@pytest.mark.parametrize(
    ("error", "expected"),
    [(MemoryError(), None), (RecursionError(), None), (ValueError(), False), (TypeError(), False)],
)
def test_too_much_memory_is_undecided_and_a_failure_is_wrong(
    monkeypatch: pytest.MonkeyPatch, error: Exception, expected: bool | None
) -> None:
    def failing(*_: Any, **__: Any) -> bool:
        raise error

    monkeypatch.setattr(math_verify, "verify", failing)
    assert comparer.verdict("$x$", "$y$", {}) == (expected, READ)


def test_the_program_answers_a_line_for_a_line_and_ends_with_its_input() -> None:
    done = subprocess.run(
        [sys.executable, "-P", comparer.__file__, "10", str(workers.MEMORY)],
        input=json.dumps([5, "$2^3$", "8", {}]) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["ready", "[5, true, [false, false]]"]


def test_a_pair_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def noted(pairs: Any, *_: Any) -> list[Verdict]:
        asked.extend(pairs)
        return [Verdict(True, READ)] * len(pairs)

    monkeypatch.setattr("metric_cards.math_equivalence.verdicts", noted)
    texts = Texts(["8", "8", "9", "", "$2^3$"])
    measurement = MathEquivalence().measure(texts, Texts(["$2^3$"] * 5))
    assert asked == [("$2^3$", "8"), ("$2^3$", "9")]
    assert np.array_equal(measurement.statistics["score"], [1, 1, 1, 0, 1])


def test_without_math_verify_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("metric_cards.math_equivalence.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub\[math\]'"):
        score("8", "$2^3$")


def test_a_process_that_doesnt_start_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workers, "_PROGRAM", tmp_path / "none.py")
    with pytest.raises(MetricError, match="doesn't start") as error:
        Comparer(1.0)
    assert "\n" not in str(error.value)
