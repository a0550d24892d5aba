"""Whisper's normalizers: what openai-whisper made of several hundred texts, and what it refuses."""

import subprocess
import sys

import pytest

from metric_cards._bases.whisper import NORMALIZERS
from metrichub import Hub, load_metric
from tests.vectors import whisper_texts


@pytest.mark.parametrize("name", NORMALIZERS)
def test_texts_become_what_openai_whisper_makes_of_them(name: str) -> None:
    rows = whisper_texts()
    found = {row["text"]: NORMALIZERS[name](row["text"]) for row in rows}
    assert found == {row["text"]: row[name] for row in rows}
    assert len(found) > 500


@pytest.mark.parametrize("zeros", [0, 3990, 4200, 5000])
def test_numbers_too_long_for_an_integer_stay_in_digits(zeros: int) -> None:
    # openai-whisper raises an error from 4,300 digits on, where Python refuses to convert them.
    number = "2" + "0" * zeros
    assert NORMALIZERS["whisper"](f"{number} dollars") == f"${number}"
    assert NORMALIZERS["whisper"](f"{number}.5 million").split()[0].startswith(number)


def test_case_and_punctuation_can_still_be_chosen() -> None:
    # "$20" keeps its sign, which isn't punctuation; "%" is, so one of three words differs.
    for punctuation, expected in ((True, 1 / 3), (False, 0)):
        metric = load_metric("wer", normalizer="whisper", punctuation=punctuation)
        found = Hub(metric)(predictions=["Up 5% now"], references=["up five now"])
        assert found["wer"]["score"] == pytest.approx(expected)


def test_the_rules_are_loaded_only_where_they_are_used() -> None:
    program = """if True:
        import sys
        from metrichub import Hub
        for spec in ("wer", "wer(whisper)"):
            Hub(spec)(predictions=["a"], references=["b"])
            print("metric_cards._bases.whisper" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr
