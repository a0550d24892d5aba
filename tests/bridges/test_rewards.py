"""Metrics as rewards: by hand, in TRL's trainer with a tiny model, and as its guide shows them."""

from __future__ import annotations

import asyncio
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from metrichub import DoubtfulScore, Hub, SpecError, bridges
from metrichub.bridges.rewards import compute_score, reward, rubric_function
from tests.bridges import guide

PAGE = (guide.PAGE.parent / "REWARDS.md").read_text("utf-8")
QUESTION = [{"role": "user", "content": "Who wrote Faust?"}]
ANSWER = [{"role": "assistant", "content": "Goethe did"}]
PARTS = [{"role": "assistant", "content": [{"type": "text", "text": "Goethe did"}]}]


@pytest.mark.parametrize("prompt", ["Who wrote Faust?", QUESTION])
@pytest.mark.parametrize("completion", ["Goethe did", ANSWER, PARTS])
def test_texts_and_messages_are_rewarded_alike(prompt: Any, completion: Any) -> None:
    # One of two words is shared: precision 1/2, recall 1.
    function = guide.run("bridges.rewards.reward")
    rewards = function(prompts=[prompt], completions=[completion], answer=["Goethe"], step=[3])
    assert rewards == [pytest.approx(2 / 3)]
    assert function.__name__ == "token_f1"


def test_less_is_better_is_rewarded_by_less() -> None:
    function = reward("wer", references="answer")
    assert function(prompts=["", ""], completions=["a b", "a c"], answer=["a b", "a b"]) == [
        0,
        -0.5,
    ]


def test_a_completion_without_a_score_has_no_reward_and_is_counted() -> None:
    logged = dict[str, float]()
    function = reward("rouge", references="answer")
    with pytest.warns(DoubtfulScore):
        rewards = function(
            prompts=["", ""],
            completions=["a", "a"],
            answer=["a", "♥"],
            log_metric=logged.__setitem__,
            completion_ids=[[1], [2]],
            trainer_state=None,
        )
    assert rewards == [1, None]
    assert logged == {"rouge/unscored": 0.5}


def test_a_judge_is_awaited() -> None:
    function = reward("faithfulness", columns={"contexts": "passages"}, judge="offline")
    passages = [["A cat sat on the mat."], ["A cat sat on the mat."]]
    completions = ["A cat sat.", "The moon exploded."]
    rewards = asyncio.run(function(prompts=["", ""], completions=completions, passages=passages))
    assert rewards == [1, 0]


def test_verl_gets_the_same_keys_each_time() -> None:
    function = compute_score("rouge", unscored=-1)
    with pytest.warns(DoubtfulScore):
        scores = [
            function(data_source="x", solution_str="a", ground_truth=truth, extra_info={"index": 0})
            for truth in ("a", ["b", "a"], "♥")
        ]
    assert scores == [
        {"score": 1, "unscored": 0},
        {"score": 1, "unscored": 0},
        {"score": -1, "unscored": 1},
    ]


def test_verl_looks_other_columns_up_in_the_extra_info() -> None:
    function = compute_score("faithfulness", columns={"contexts": "passages"}, judge="offline")
    extra = {"passages": ["A cat sat on the mat."]}
    coroutine = function(
        data_source="", solution_str="A cat sat.", ground_truth="", extra_info=extra
    )
    assert asyncio.run(coroutine) == {"score": 1, "unscored": 0}


def test_verifiers_get_a_number() -> None:
    function = rubric_function("exact_match")
    states: dict[str, Any] = {"state": {}, "info": {"a": 1}, "task": "default"}
    assert function(prompt=QUESTION, completion=ANSWER, answer="Goethe did", **states) == 1
    assert function(completion="Goethe", answer="Goethe did") == 0


@pytest.mark.parametrize(
    ("metric", "output", "message"),
    [
        (["bleu", "rouge"], "score", "a reward is one metric"),
        (Hub(["bleu", "rouge"]), "score", "a reward is one metric"),
        ("abstractness", "score", "neither more nor less is better"),
        ("rouge", "rouge3", "rouge has no output 'rouge3'; did you mean"),
    ],
)
def test_what_is_no_reward_is_refused(metric: Any, output: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        reward(metric, output=output)


def test_a_doubt_is_said_once() -> None:
    function = reward("rouge", references="answer")
    arguments = {"prompts": ["", ""], "completions": ["a", "a"], "answer": ["a", "♥"]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            function(**arguments)
    texts = [str(warning.message) for warning in caught]
    assert texts
    assert len(texts) == len({*texts})


def test_the_guide_shows_what_is_returned() -> None:
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        if "trainer" in code:
            continue
        names: dict[str, Any] = {"bridges": bridges}
        *lines, shown = code.strip().splitlines()
        *setup, call = lines
        exec("\n".join(setup), names)  # our own page
        assert eval(call, names) == eval(shown.removeprefix("# "))  # our own page


@pytest.mark.torch
def test_the_guide_trains_a_tiny_model(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="needs the packages of tests/bridges/torch.txt")
    import tokenizers
    import torch
    from datasets import Dataset
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = ["<pad>", "</s>", "<unk>", "the", "a", "cat", "dog", "sat", "ran", "on", "mat"]
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    torch.manual_seed(1)
    names: dict[str, Any] = {
        "bridges": bridges,
        "GRPOTrainer": trl.GRPOTrainer,
        "GRPOConfig": trl.GRPOConfig,
        "folder": str(tmp_path),
        "model": GPT2LMHeadModel(
            GPT2Config(
                vocab_size=len(words), n_positions=64, n_embd=16, n_layer=1, n_head=2,
                bos_token_id=1, eos_token_id=1, pad_token_id=0,
            )
        ),
        "tokenizer": PreTrainedTokenizerFast(
            tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
        ),
        "questions": Dataset.from_list(
            [
                {"prompt": "the cat", "answer": "sat on the mat"},
                {"prompt": "the dog", "answer": "ran"},
            ]
        ),
        "settings": {
            "per_device_train_batch_size": 4, "num_generations": 4, "max_completion_length": 6,
            "max_steps": 2, "use_cpu": True, "bf16": False, "report_to": "none",
            "logging_steps": 1, "disable_tqdm": True,
        },
    }  # fmt: skip
    (code,) = [c for c in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "trainer" in c]
    exec(code, names)  # our own page
    steps = [step for step in names["trainer"].state.log_history if "reward" in step]
    assert len(steps) == 2
    for step in steps:
        both = step["rewards/token_f1/mean"] + 0.1 * step["rewards/wer/mean"]
        assert step["reward"] == pytest.approx(both)
        assert step["token_f1/unscored"] == 0
        assert 0 <= step["rewards/token_f1/mean"] <= 1
        assert step["rewards/wer/mean"] <= 0
