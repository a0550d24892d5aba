"""A hub as `compute_metrics` of a real trainer, with a tiny model that is made here."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, MissingColumn
from metrichub.bridges.transformers import compute_metrics
from tests.bridges import guide
from tests.bridges.hosts import needs

pytestmark = needs("torch", "torch", "transformers", "accelerate")

import torch  # noqa: E402  # after the skip
import transformers  # noqa: E402

transformers.logging.set_verbosity_error()
WORDS = ["<pad>", "</s>", "<unk>", "the", "a", "cat", "dog", "sat", "ran", "on", "mat", "rains"]
METRICS = ["bleu", "rouge", "wer", "distinct"]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    import tokenizers

    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(3)
    size = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    config = transformers.T5Config(
        vocab_size=len(WORDS), **size, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1
    )
    model = transformers.T5ForConditionalGeneration(config)
    # It says each word once, where an untrained model would say one for ever, or none.
    model.generation_config.update(suppress_tokens=[0, 1, 2], no_repeat_ngram_size=1)
    return model


@pytest.fixture(scope="module")
def samples() -> list[dict[str, list[int]]]:
    """Eleven samples of uneven lengths; the batches of four are uneven too."""
    draw = random.Random(1)
    return [
        {
            "input_ids": [*draw.choices(range(3, len(WORDS)), k=3 + i % 4), 1],
            "labels": [*draw.choices(range(3, len(WORDS)), k=2 + i % 5), 1],
        }
        for i in range(11)
    ]


def trainer(model: Any, tokenizer: Any, compute: Any, tmp_path: Path, **more: Any) -> Any:
    kind = more.pop("kind", "Seq2Seq")
    options = {"predict_with_generate": True, "generation_max_length": 8} if kind else {}
    arguments = getattr(transformers, f"{kind}TrainingArguments")(
        output_dir=str(tmp_path), per_device_eval_batch_size=4, report_to="none",
        use_cpu=True, disable_tqdm=True, **options, **more,
    )  # fmt: skip
    return getattr(transformers, f"{kind}Trainer")(
        model=model, args=arguments, processing_class=tokenizer, compute_metrics=compute,
        data_collator=transformers.DataCollatorForSeq2Seq(tokenizer, model=model),
    )  # fmt: skip


def decoded(tokenizer: Any, rows: Any) -> list[str]:
    texts = [" ".join(WORDS[i] for i in row if i >= 3) for row in np.asarray(rows).tolist()]
    # By hand what the tokenizer does, but for unknown words, which no sample has.
    assert texts == [t.strip() for t in tokenizer.batch_decode(
        [[i for i in row if i >= 0] for row in np.asarray(rows).tolist()], skip_special_tokens=True
    )]  # fmt: skip
    return texts


def expected(tokenizer: Any, result: Any) -> dict[str, float]:
    scores = Hub(METRICS)(
        predictions=decoded(tokenizer, result.predictions),
        references=decoded(tokenizer, result.label_ids),
    )
    return {f"eval_{name}": values["score"] for name, values in scores.items()}


def test_a_trainer_shows_the_scores_of_the_decoded_texts(
    model: Any, tokenizer: Any, samples: Any, tmp_path: Path
) -> None:
    compute = compute_metrics(METRICS, tokenizer, outputs="score")
    training = trainer(model, tokenizer, compute, tmp_path)
    texts = expected(tokenizer, training.predict(samples))
    shown = training.evaluate(samples)
    assert {name: shown[name] for name in texts} == texts
    assert 0 < shown["eval_rouge"] < 1 < shown["eval_wer"]
    # What the trainer keeps of it is the same.
    assert {name: training.state.log_history[-1][name] for name in texts} == texts


def test_batch_after_batch_gives_the_same_and_nothing_stays(
    model: Any, tokenizer: Any, samples: Any, tmp_path: Path
) -> None:
    training = trainer(model, tokenizer, compute_metrics(METRICS, tokenizer), tmp_path)
    compute = compute_metrics(METRICS, tokenizer)
    parts = trainer(model, tokenizer, compute, tmp_path, batch_eval_metrics=True)
    scores = {
        n: v for n, v in training.evaluate(samples).items() if set(n.split("_")) & set(METRICS)
    }
    assert len(scores) > 4
    for _ in range(2):
        report = parts.evaluate(samples)
        assert {name: report[name] for name in scores} == scores


def test_batches_that_are_kept_apart_are_read(
    model: Any, tokenizer: Any, samples: Any, tmp_path: Path
) -> None:
    compute = compute_metrics("wer", tokenizer, outputs="score")
    report = trainer(model, tokenizer, compute, tmp_path).evaluate(samples)
    apart = trainer(model, tokenizer, compute, tmp_path, eval_do_concat_batches=False)
    assert apart.evaluate(samples)["eval_wer"] == report["eval_wer"]


def test_logits_in_a_tuple_are_read_as_their_likeliest_tokens(
    model: Any, tokenizer: Any, samples: Any, tmp_path: Path
) -> None:
    compute = compute_metrics("wer", tokenizer, outputs="score")
    training = trainer(model, tokenizer, compute, tmp_path, kind="")
    result = training.predict(samples)
    assert isinstance(result.predictions, tuple)
    likeliest = result.predictions[0].argmax(-1)
    texts = {"predictions": decoded(tokenizer, likeliest)}
    texts["references"] = decoded(tokenizer, result.label_ids)
    score = Hub("wer")(**texts)["wer"]["score"]
    assert training.evaluate(samples)["eval_wer"] == score
    # As the guide advises, to keep no logits of the whole set.
    training.preprocess_logits_for_metrics = lambda logits, _: logits[0].argmax(-1)
    assert training.evaluate(samples)["eval_wer"] == score


@pytest.mark.parametrize("batches", [False, True])
def test_inputs_are_the_sources(
    model: Any, tokenizer: Any, samples: Any, tmp_path: Path, batches: bool
) -> None:
    compute = compute_metrics("coverage", tokenizer)
    options = {"include_for_metrics": ["inputs"], "batch_eval_metrics": batches}
    training = trainer(model, tokenizer, compute, tmp_path, **options)
    generated = trainer(model, tokenizer, None, tmp_path).predict(samples).predictions
    sources = [" ".join(WORDS[i] for i in s["input_ids"] if i >= 3) for s in samples]
    score = Hub("coverage")(predictions=decoded(tokenizer, generated), sources=sources)
    coverage = training.evaluate(samples)["eval_coverage"]
    assert coverage == pytest.approx(score["coverage"]["score"], nan_ok=True)


def test_without_inputs_the_column_that_is_missing_is_named(tokenizer: Any) -> None:
    compute = compute_metrics("coverage", tokenizer)
    ids = np.array([[3, 4, 1]])
    with pytest.raises(MissingColumn, match="coverage needs the column 'sources'"):
        compute(transformers.EvalPrediction(predictions=ids, label_ids=ids))


def test_ids_that_are_no_tokens_are_left_out(tokenizer: Any) -> None:
    compute = compute_metrics("exact_match", tokenizer)
    predicted = np.array([[3, 5, 1, -100, -100], [4, 6, 999, 7, 1]])
    labels = np.array([[-100, 3, 5, 1, -100], [4, 6, 7, 1, -100]])
    result = compute(transformers.EvalPrediction(predictions=predicted, label_ids=labels))
    assert result == {"exact_match": 1.0}
    tensors = (torch.tensor(predicted),), torch.tensor(labels)
    result = compute(transformers.EvalPrediction(predictions=tensors[0], label_ids=tensors[1]))
    assert result == {"exact_match": 1.0}


def test_half_precision_logits_are_read(tokenizer: Any) -> None:
    logits = torch.nn.functional.one_hot(torch.tensor([[3, 5, 1]]), len(WORDS)).bfloat16()
    compute = compute_metrics("exact_match", tokenizer)
    ids = torch.tensor([[3, 5, 1]])
    result = compute(transformers.EvalPrediction(predictions=logits, label_ids=ids))
    assert result == {"exact_match": 1.0}


def test_no_score_stays_nan(tokenizer: Any) -> None:
    compute = compute_metrics("rouge", tokenizer, outputs="score")
    labels = np.array([[1, -100]])
    result = compute(transformers.EvalPrediction(predictions=np.array([[3, 1]]), label_ids=labels))
    assert math.isnan(result["rouge"]) == math.isnan(
        Hub("rouge")(predictions=["the"], references=[""])["rouge"]["score"]
    )


def test_the_line_of_the_guide(model: Any, tokenizer: Any, samples: Any, tmp_path: Path) -> None:
    arguments = transformers.Seq2SeqTrainingArguments(
        output_dir=str(tmp_path), predict_with_generate=True, report_to="none", use_cpu=True,
        disable_tqdm=True, generation_max_length=8,
    )  # fmt: skip
    collator = transformers.DataCollatorForSeq2Seq(tokenizer, model=model)
    result = guide.run(
        "bridges.transformers",
        Seq2SeqTrainer=transformers.Seq2SeqTrainer,
        tokenizer=tokenizer,
        given={"model": model, "args": arguments, "data_collator": collator,
               "processing_class": tokenizer},
    )  # fmt: skip
    assert {"eval_bleu", "eval_rouge", "eval_rouge_rouge1"} <= set(result.evaluate(samples))


def test_whisper_normalizers_equal_those_of_transformers() -> None:
    from transformers.models.whisper import english_normalizer as official

    from metric_cards._bases.whisper import NORMALIZERS, _spellings
    from tests.vectors import whisper_texts

    english = official.EnglishTextNormalizer(_spellings())
    for text in (row["text"] for row in whisper_texts()):
        assert NORMALIZERS["whisper"](text) == english(text)
        assert NORMALIZERS["whisper-basic"](text) == official.BasicTextNormalizer()(text)
