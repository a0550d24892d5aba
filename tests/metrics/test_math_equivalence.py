"""Math equivalence: math-verify's verdicts, and how what it can't decide is ended."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from metric_cards.math_equivalence import MathEquivalence, comparer, workers
from metric_cards.math_equivalence.workers import Comparer, close, verdicts
from metrichub import Hub, load_metric
from metrichub.errors import MetricError, MissingDependency, ParameterError
from metrichub.text import Texts
from tests.vectors import answer_vectors

math_verify = pytest.importorskip("math_verify", reason="needs metrichub[math]")


@pytest.fixture(scope="module", autouse=True)
def _end_processes() -> Any:
    yield
    close()


def score(prediction: str, reference: str, **parameters: Any) -> float:
    measured = MathEquivalence(**parameters).measure(Texts([prediction]), Texts([reference]))
    return float(measured.statistics["score"][0])


@pytest.mark.parametrize("row", answer_vectors("math_equivalence"))
def test_equals_math_verify(row: dict[str, Any]) -> None:
    found = score(row["inputs"]["prediction"], row["inputs"]["reference"], **row["params"])
    assert found == row["expected"]


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
    found = verdicts([("$x^2+1$", bomb), (bomb, "$x^2+1$"), ("$2^3$", "8")], {}, 0.1)
    assert found == [None, None, True]


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
    found = Hub("math_equivalence(seconds=10)")(
        predictions=["$9^{9^{9^9}}$", "8", "9"], references=["7", "$2^3$", "$2^3$"]
    )
    assert found == {"math_equivalence": {"score": 0.5, "unanswered": 1}}


def test_nothing_extracted_is_wrong() -> None:
    found = Hub("math_equivalence", extract="boxed")(
        predictions=["so it is 8", r"\boxed{8}"], references=["8", "$2^3$"]
    )
    assert found == {"math_equivalence": {"score": 0.5, "unextracted": 1}}


@pytest.mark.parametrize("extract", [None, "boxed", "answer"])
def test_a_formula_without_its_signs_is_one(extract: str | None) -> None:
    replies = [r"$\boxed{\frac12}$", r"It is $\boxed{x+1}$.", r"$\boxed{\{2,1\}}$"]
    hub = Hub("math_equivalence", extract=extract)
    scores = hub(predictions=replies, references=["0.5", "$1+x$", r"$\{1,2\}$"])
    assert scores["math_equivalence"]["score"] == 1


def test_it_works_in_threads_and_leaves_the_alarm_of_its_host_alone() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    found: list[float] = []
    threads = [Thread(target=lambda: found.append(score("8", "$2^3$"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1, 1, 1]
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

    def ending(self: Comparer, pair: Any, options: Any) -> bool | None:
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
    assert comparer.verdict("$x$", "$y$", {}) is expected


def test_the_program_answers_a_line_for_a_line_and_ends_with_its_input() -> None:
    done = subprocess.run(
        [sys.executable, "-P", comparer.__file__, "10", str(workers.MEMORY)],
        input=json.dumps([5, "$2^3$", "8", {}]) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["ready", "[5, true]"]


def test_a_pair_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def noted(pairs: Any, *_: Any) -> list[bool]:
        asked.extend(pairs)
        return [True] * len(pairs)

    monkeypatch.setattr("metric_cards.math_equivalence.verdicts", noted)
    texts = Texts(["8", "8", "9", "", "$2^3$"])
    found = MathEquivalence().measure(texts, Texts(["$2^3$"] * 5))
    assert asked == [("$2^3$", "8"), ("$2^3$", "9")]
    assert np.array_equal(found.statistics["score"], [1, 1, 1, 0, 1])


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


@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [
        ({"float_rounding": 16}, "from 0 to 15"),
        ({"strict": 1}, "True or False"),
        ({"allow_set_relation_comp": "yes"}, "True or False"),
        ({"seconds": 0}, "from 0.01 to 3600"),
    ],
)
def test_an_invalid_parameter_is_refused(parameters: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ParameterError, match=allowed):
        load_metric("math_equivalence", **parameters)
