"""bert-score on a RoBERTa with the installed transformers, beside metrichub-neural.

    pip install --no-deps bert-score==0.3.13
    python -m benchmarks.prefix_space [--pairs 60]

Before RoBERTa's first word there is a space, as before every other word; bert-score asks the
tokenizer for it with each text. The tokenizers of transformers 5 ignore that, so that the first
word becomes other tokens. With a tokenizer that was loaded with the space, bert-score gives the
numbers of metrichub. Weights are random, the same for all.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from metrichub import Hub, load_metric

TEXTS = Path(__file__).resolve().parents[1] / "tests/data/summeval_outputs.jsonl"
LAYER, WORDS = 3, 2_000
OUTPUTS = ("precision", "recall", "score")


@click.command()
@click.option("--pairs", default=60, show_default=True, help="Pairs of outputs of SummEval.")
def main(pairs: int) -> None:
    """Print the largest differences of precision, recall and F1 from metrichub's."""
    import transformers

    predictions, references = drawn(pairs)
    table = Table("bert-score 0.3.13", *OUTPUTS, title=f"transformers {transformers.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "roberta", [*predictions, *references])
        metric = load_metric("bertscore", model=str(path), layer=LAYER)
        report = Hub(metric).evaluate(predictions=predictions, references=references)
        ours = np.array([report.samples()["bertscore"][name] for name in OUTPUTS])
        for name, space in (("as it is", False), ("its tokenizer loaded with the space", True)):
            theirs = by_bert_score(path, predictions, references, space=space)
            table.add_row(name, *(f"{value:.1e}" for value in np.abs(theirs - ours).max(axis=1)))
    Console(width=100).print(table)


def by_bert_score(
    folder: Path, predictions: Sequence[str], references: Sequence[str], *, space: bool
) -> NDArray[np.float64]:
    """Precision, recall and F1 of each pair, (3, N); each alone, so that no padding matters."""
    import transformers
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(folder), num_layers=LAYER, device="cpu")
    if space:
        load = transformers.AutoTokenizer.from_pretrained
        # The package makes it like that, but without the space.
        scorer._tokenizer = load(str(folder), add_prefix_space=True)  # noqa: SLF001
    pairs = zip(predictions, references, strict=True)
    scores = [[float(value[0]) for value in scorer.score([text], [other])] for text, other in pairs]
    return np.array(scores).T


def drawn(pairs: int) -> tuple[list[str], list[str]]:
    """First sentences of summaries, and of others of the same articles."""
    lines = TEXTS.read_text(encoding="utf-8").split("\n")
    texts = [json.loads(line)["hyp"].split(" . ")[0] for line in lines if line]
    return texts[:pairs], texts[1 : pairs + 1]


def written(folder: Path, texts: Sequence[str]) -> Path:
    """A RoBERTa with random weights, in the files that roberta-large is published in."""
    import tokenizers
    import torch
    import transformers

    folder.mkdir()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(
        texts, vocab_size=WORDS, special_tokens=special, show_progress=False
    )
    trained.save_model(str(folder))
    settings = {"tokenizer_class": "RobertaTokenizer", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=WORDS,
        hidden_size=64,
        num_hidden_layers=LAYER,
        num_attention_heads=4,
        intermediate_size=256,
        max_position_embeddings=514,
        initializer_range=0.2,
    )
    transformers.RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main()
