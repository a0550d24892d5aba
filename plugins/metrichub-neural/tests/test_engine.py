"""The engine: batches by tokens, what happens where memory or precision ends, and both engines."""

from __future__ import annotations

import json
import math
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys
from metrichub_neural.engine import batching, encoder, full, machine
from metrichub_neural.engine.batching import OutOfMemory, distinct, in_batches, padded
from metrichub_neural.engine.flaws import CUT
from metrichub_neural.engine.models import forget
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.store import Store
from metrichub_neural.engine.tokens import Tokenizer, load_tokenizer
from metrichub_neural.local_models import find_model
from toys import texts, torch

from metrichub import Hub, MissingDependency, ModelError, ParameterError, load_metric


def lengths(number: int) -> list[int]:
    """Numbers of tokens as texts have them: most are short, some very long."""
    draw = random.Random(5)
    return [min(512, max(2, int(draw.lognormvariate(3.2, 0.5)))) for _ in range(number)]


def test_batches_pad_at_most_a_twentieth() -> None:
    # 2,000 texts of 2 to 512 tokens; as given in batches of 64 they would pad 1.5 times the tokens.
    numbers = lengths(2000)
    sizes = [
        len(places) * max(numbers[place] for place in places)
        for places, _ in in_batches(numbers, 4096, lambda places: None, "toy")
    ]
    assert max(sizes) <= 4096
    assert sum(sizes) <= 1.05 * sum(numbers)


def test_every_text_is_run_once_and_the_longest_first() -> None:
    numbers = lengths(300)
    places = np.concatenate([p for p, _ in in_batches(numbers, 500, lambda places: None, "toy")])
    assert sorted(places.tolist()) == list(range(300))
    assert [numbers[place] for place in places] == sorted(numbers, reverse=True)


def test_a_batch_that_does_not_fit_is_halved_and_so_are_the_next() -> None:
    sizes = []

    def run(places: np.ndarray) -> None:
        sizes.append(len(places))
        if len(places) > 3:
            raise OutOfMemory("toy")

    done = [len(places) for places, _ in in_batches([10] * 20, 160, run, "toy")]
    # 16 texts, then 8, 4 and 2, which fit; no later batch is larger.
    assert sizes[:4] == [16, 8, 4, 2]
    assert done == [2] * 10


def test_a_single_text_that_does_not_fit_is_one_line() -> None:
    def run(places: np.ndarray) -> None:
        raise OutOfMemory("toy")

    with pytest.raises(ModelError, match="toy ran out of memory with a single text of 70 tokens"):
        list(in_batches([5, 70], 50, run, "toy"))


def test_progress_is_told_by_tokens(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(encoder, "budget", lambda: 48)
    sizes: list[int] = []
    predictions, references = ["cat " * 46] * 4, ["cat " * 46, "dog " * 46, "a", "mat " * 46]
    metric = load_metric("bertscore", model=str(bert), layer=2)
    columns = {"predictions": predictions, "references": references}
    Hub(metric).evaluate(columns, progress=sizes.append)
    # Three texts of 48 tokens and one of 3, a batch each: 48, 96, 144 and 147 of 147 tokens, of
    # which 4 samples make 1, 2, 3 and 4.
    assert sizes == [1, 1, 1, 1]


def test_padding_is_hidden_by_the_mask() -> None:
    ids, mask = padded([np.array([5, 6, 7]), np.array([8])], 9)
    assert ids.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_distinct_items_and_their_places() -> None:
    items, places = distinct(["b", "a", "b"])
    assert items == ["b", "a"]
    assert places.tolist() == [0, 1, 0]


def test_16_bits_that_overflow_are_made_again_in_32(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = toys.write_model(tmp_path / "bert")
    path = folder / "model.safetensors"
    weights = load_file(path)
    # The numbers after it are up to three times as large, beyond the 65,504 that 16 bits hold.
    weights["embeddings.LayerNorm.weight"] *= 4e4
    save_file(weights, path, {"format": "pt"})
    both = {"predictions": ["a cat sat"], "references": ["the dog sat on it"]}
    scores = [
        Hub(load_metric("bertscore", model=str(folder), layer=2, dtype=dtype))(**both)["bertscore"]
        for dtype in ("float32", "float16")
    ]
    # The weights themselves were rounded to 16 bits.
    assert scores[0]["score"] == pytest.approx(scores[1]["score"], abs=0.01)


def test_memory_that_runs_out_is_told_from_other_errors(bert: Path) -> None:
    model = full.load_model("AutoModel", encoder.find_model(str(bert), needed_by="test"), "float32")
    runner = full.TorchModel(model, "toy")

    def fails(message: str) -> Callable[[object], object]:
        def forward(_: object) -> object:
            raise RuntimeError(message)

        return forward

    for message in (
        "CUDA out of memory. Tried",
        "DefaultCPUAllocator: can't allocate memory: you",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling",
    ):
        with pytest.raises(OutOfMemory):
            runner.run(fails(message))
    for message in ("shapes differ", "unknown setting of the allocator", "can't be reallocated"):
        with pytest.raises(RuntimeError, match=message):
            runner.run(fails(message))


def test_memory_that_runs_out_as_numbers_get_32_bits_is_told(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = full.load_model("AutoModel", encoder.find_model(str(bert), needed_by="test"), "float16")
    runner = full.TorchModel(model, "toy")

    def widen(model: Any) -> None:
        next(model.parameters()).data = next(model.parameters()).data.float()
        raise torch.OutOfMemoryError("CUDA out of memory. Tried")

    monkeypatch.setattr(type(model), "float", widen)
    with pytest.raises(OutOfMemory):
        runner.run(lambda _: torch.full((1,), torch.inf))
    assert {weight.dtype for weight in model.parameters()} == {torch.float16}


@pytest.mark.parametrize(
    ("chosen", "gpu", "device"),
    [
        (None, None, "cpu"),
        (None, "backends.mps", "mps"),
        (None, "xpu", "xpu"),
        ("cpu", "xpu", "cpu"),
    ],
)
def test_the_device_is_the_chosen_one_or_a_gpu(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, gpu: str | None, device: str
) -> None:
    if chosen:
        monkeypatch.setenv("METRICHUB_DEVICE", chosen)
    for kind in ("cuda", "backends.mps", "xpu"):
        monkeypatch.setattr(f"torch.{kind}.is_available", lambda kind=kind: kind == gpu)
    assert machine.device.__wrapped__() == device


def test_doctors_line_has_the_memory_where_the_system_tells_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "device", lambda: "cpu")
    for memory, line in ((2e8, "cpu, 0.2 GB for models"), (math.inf, "cpu")):
        monkeypatch.setattr(machine, "model_memory", lambda memory=memory: memory)
        assert machine.description() == line


@pytest.mark.parametrize("chosen", ["gpu", "cuda:99"])
def test_a_device_that_is_none_of_the_machine_is_refused_by_the_name_of_the_variable(
    monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    monkeypatch.setenv("METRICHUB_DEVICE", chosen)
    with pytest.raises(ModelError, match=f"METRICHUB_DEVICE={chosen} .*: choose cpu"):
        machine.device.__wrapped__()


# The store.


def test_values_are_made_once_and_the_oldest_leave_first() -> None:
    tried: list[str] = []

    def make(names: list[str]) -> list[np.ndarray]:
        tried.extend(names)
        return [np.array([text.upper()], "S1") for text in names]

    store = Store(capacity=3)
    assert store.get(["a", "b", "a"], make) == [b"A", b"B", b"A"]
    assert store.get(["c", "a"], make) == [b"C", b"A"]
    assert tried == ["a", "b", "c"]
    # "b" was used least recently.
    assert store.get(["d"], make) == [b"D"]
    assert store.get(["a", "b"], make) == [b"A", b"B"]
    assert tried == ["a", "b", "c", "d", "b"]
    assert len(store) == 3


def test_one_call_gets_all_that_it_asks_for_however_much_it_is() -> None:
    store = Store(capacity=1)
    make = lambda texts: [np.array([text], "S1") for text in texts]
    assert store.get(["a", "b", "c"], make) == [b"a", b"b", b"c"]
    assert len(store) == 1


@pytest.mark.parametrize("device", ["cpu", "cpu:0"])
def test_portions_are_made_of_what_was_encoded_and_progress_goes_on(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "device", lambda: device)
    monkeypatch.setattr("metrichub_neural.engine.store.portion", lambda: 4)
    done: list[float] = []
    monkeypatch.setattr(batching, "report_progress", done.append)
    inputs = texts(18, 5)

    def make(lengths: list[int]) -> list[np.ndarray]:
        values = {}
        run = lambda places: [lengths[place] for place in places]
        for places, batch in batching.in_batches(lengths, 40, run, "toy"):
            values.update(zip(places.tolist(), batch, strict=True))
        return [np.array(values[place]) for place in range(len(lengths))]

    values = Store().get(inputs, make, lambda portion: [len(text) for text in portion])
    assert values == [len(text) for text in inputs]
    assert done == sorted(done)
    assert len(done) > 5
    assert done[-1] == pytest.approx(1)


def test_references_metrics_and_systems_share_the_vectors(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    seen: list[int] = []
    forward = full.TorchEncoder.forward

    def counted(self: full.TorchEncoder, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        seen.append(len(ids))
        return forward(self, ids, mask)

    monkeypatch.setattr(full.TorchEncoder, "forward", counted)
    both = [
        load_metric(f"bertscore(model='{bert}', layer=2)"),
        f"b = bertscore(model='{bert}', layer=2)",
    ]
    for system in (["a cat", "a dog"], ["a cat", "the mat"]):
        Hub(both).evaluate(predictions=system, references=[["it is", "it rains"], ["it is"]])
    # a cat, a dog, it is, it rains, the mat.
    assert sum(seen) == 5


# The tokenizer.


@pytest.fixture
def tokenizer(bert: Path) -> Tokenizer:
    files = encoder.find_model(str(bert), needed_by="test")
    return load_tokenizer(files, read_config(files))


def test_any_text_has_tokens_and_the_frame_is_known(tokenizer: Tokenizer) -> None:
    encoded = tokenizer.encode(["", " a cat\n", "\ud800 lone", "word " * 10_000])
    assert encoded[0].ids.tolist() == tokenizer.frame.tolist() == [2, 3]
    assert encoded[1].ids.tolist()[0::3] == [2, 3]
    assert encoded[1].added.tolist() == [True, False, False, True]
    assert [row.flaws for row in encoded] == [0, 0, 0, CUT]
    assert [len(row.ids) for row in encoded][3] == tokenizer.limit == toys.LIMIT


@pytest.mark.parametrize("kind", ["roberta", "ibert", "data2vec-text", "roberta-prelayernorm"])
def test_the_limit_leaves_out_the_positions_before_the_first(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # RoBERTa's positions start after that of the padding, so that 50 hold 48 tokens.
    monkeypatch.setitem(toys.ARCHITECTURES, kind, toys.ARCHITECTURES["roberta"])
    folder = toys.write_model(tmp_path / kind, kind, limit=int(1e30))
    assert toys.ARCHITECTURES["roberta"]["max_position_embeddings"] == toys.LIMIT + 2
    files = encoder.find_model(str(folder), needed_by="test")
    assert load_tokenizer(files, read_config(files)).limit == toys.LIMIT
    metric = load_metric("bertscore", model=str(folder), layer=2)
    assert Hub(metric)(predictions=["cat " * 90], references=["dog"])["bertscore"]["score"] < 1


def test_pairs_are_cut_together_and_keep_their_types(tokenizer: Tokenizer) -> None:
    (encoded,) = tokenizer.encode_pairs([("a cat", "it is")])
    assert encoded.types.tolist() == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("numbers", [(90, 70), (70, 90), (90, 90), (90, 3), (3, 90), (49, 48)])
def test_pairs_keep_the_tokens_that_the_library_keeps(
    tokenizer: Tokenizer, bert: Path, numbers: tuple[int, int]
) -> None:
    first, second = (" ".join(texts(12, 5)).split()[:number] for number in numbers)
    backend = toys.tokenizers.Tokenizer.from_file(str(bert / "tokenizer.json"))
    backend.enable_truncation(toys.LIMIT)
    pair = " ".join(first), " ".join(second)
    assert tokenizer.encode_pairs([pair])[0].ids.tolist() == backend.encode(*pair).ids


def test_a_model_without_a_tokenizer_is_one_line(bert: Path, tmp_path: Path) -> None:
    shutil.copytree(bert, tmp_path / "bert")
    (tmp_path / "bert/tokenizer.json").unlink()
    metric = load_metric("bertscore", model=str(tmp_path / "bert"), layer=2)
    with pytest.raises(ModelError, match=r"bert has no tokenizer\.json"):
        Hub(metric)(predictions=["a"], references=["a"])
    (tmp_path / "bert/tokenizer.json").write_text("{")
    with pytest.raises(ModelError, match=r"tokenizer\.json can't be read"):
        Hub(metric)(predictions=["a"], references=["a"])


def test_a_tokenizer_with_more_tokens_than_vectors_is_refused(bert: Path) -> None:
    files = encoder.find_model(str(bert), needed_by="test")
    with pytest.raises(ModelError, match=r"has vectors for 50 tokens: .+ is number 106"):
        load_tokenizer(files, {**read_config(files), "vocab_size": 50})


def test_weights_that_would_be_left_out_and_those_that_are_no_numbers_are_refused(
    tmp_path: Path,
) -> None:
    from safetensors.torch import load_file, save_file

    folder = toys.write_model(tmp_path / "bert", auto="AutoModelForMaskedLM")
    config = json.loads((folder / "config.json").read_text())
    metric = load_metric("bertscore", model=str(folder), layer=2)
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    with pytest.raises(ModelError, match=r"bert\.encoder\.layer\.2\..*more layers than its config"):
        Hub(metric)(predictions=["a"], references=["b"])
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    distances = "bert.encoder.layer.1.attention.self.distance_embedding.weight"
    more = {**weights, distances: toys.torch.ones(9, 8)}
    save_file(more, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=rf"{distances}, which transformers 5 leaves out"):
        Hub(metric)(predictions=["a"], references=["b"])
    weights["bert.encoder.layer.1.output.dense.bias"][3] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"aren't finite in torch.float32: encoder\.layer\.1"):
        Hub(metric)(predictions=["a"], references=["b"])


# Processes and devices.


def test_workers_share_the_machine_and_give_the_same(bert: Path) -> None:
    stream = [
        {"predictions": [p], "references": [r]} for p, r in zip(texts(6), texts(6, 9), strict=True)
    ]
    hub = Hub(load_metric("bertscore", model=str(bert), layer=2))
    first, two = (hub.evaluate(iter(stream), workers=n) for n in (1, 2))
    assert first.scores()["bertscore"]["score"] == pytest.approx(
        two.scores()["bertscore"]["score"], abs=1e-5
    )
    assert first.signatures() == two.signatures()
    assert machine.threads() is None


def test_one_process_measures_on_a_gpu(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = load_metric("bertscore", model=str(bert), layer=2)
    assert not metric.one_process()
    monkeypatch.setattr("metrichub_neural.engine.metric.device", lambda: "cuda")
    assert metric.one_process()


def test_threads_are_shared_by_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "processes", lambda: 4)
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 9)
    assert machine.threads() == 2


# The light engine.


def test_an_onnx_file_gives_the_last_layer_in_32_bits(onnx: Path) -> None:
    for options in ({"layer": 5}, {"layer": 6, "dtype": "float16"}):
        metric = load_metric("bertscore", model=str(onnx), **options)
        with pytest.raises(ParameterError, match="ONNX file"):
            Hub(metric)(predictions=["a"], references=["a"])
    assert load_metric("bertscore", model=str(onnx), layer=6).requires()[-1] == "onnxruntime>=1.20"


def test_half_an_onnx_file_is_one_line(onnx: Path, tmp_path: Path) -> None:
    folder = tmp_path / "half"
    shutil.copytree(onnx, folder)
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:9000])
    with pytest.raises(ModelError, match="half can't be read from") as caught:
        Hub(load_metric("bertscore", model=str(folder), layer=6))(
            predictions=["a"], references=["a"]
        )
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("config", "weights", "says"),
    [
        ({"intermediate_size": 99}, None, "its weights have other shapes than its config.json"),
        (
            {"model_type": "odd", "auto_map": {"AutoConfig": "odd.Config", "AutoModel": "odd.M"}},
            None,
            "it needs code of its own, and no model's code is run here",
        ),
        ({}, b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"),
        ({}, b"", "model.safetensors is empty; download the weights again"),
    ],
)
def test_weights_that_cannot_be_read_are_said_in_words(
    bert: Path, tmp_path: Path, config: dict[str, Any], weights: bytes | None, says: str
) -> None:
    folder = shutil.copytree(bert, tmp_path / "model")
    content = json.loads((folder / "config.json").read_text()) | config
    (folder / "config.json").write_text(json.dumps(content))
    if weights is not None:
        (folder / "model.safetensors").write_bytes(weights)
    with pytest.raises(ModelError, match=says) as caught:
        full.load_model("AutoModel", find_model(str(folder), needed_by="test"), "float32")
    assert "above report" not in str(caught.value)


def test_parts_of_weights_without_an_index_are_named(bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert, tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    with pytest.raises(ModelError, match=r"1-of-00002\.safetensors, and no model\.safe"):
        full.load_model("AutoModel", find_model(str(folder), needed_by="test"), "float32")


def test_a_missing_torch_is_said_with_its_extra(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub-neural\[torch\]'"):
        Hub(load_metric("bertscore", model=str(bert), layer=2))(predictions=["a"], references=["a"])


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2", "t5"])
def test_special_tokens_are_known_where_no_file_names_them(kind: str, tmp_path: Path) -> None:
    # As on the hub for bert-base-uncased, distilbert, roberta-large and gpt2.
    pieces = {
        "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        "roberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        "gpt2": ["<|endoftext|>"],
        "t5": ["<pad>", "</s>", "<unk>"],
    }[kind]
    frames = {"bert": "[CLS] $A [SEP]", "roberta": "<s> $A </s>", "gpt2": "$A", "t5": "$A </s>"}
    ids = {piece: number for number, piece in enumerate([*pieces, "cat"])}
    backend = toys.tokenizers.Tokenizer(toys.tokenizers.models.WordLevel(ids, unk_token=pieces[0]))
    backend.post_processor = toys.tokenizers.processors.TemplateProcessing(
        single=frames[kind], special_tokens=[(piece, ids[piece]) for piece in pieces]
    )
    backend.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text('{"model_max_length": 512}')
    files = find_model(str(tmp_path), needed_by="test", weights=False)
    special = load_tokenizer(files, {"model_type": kind}).special
    both = ("cls_token", "sep_token")
    assert {name: special.get(name) for name in both} == {
        "bert": {"cls_token": 2, "sep_token": 3},
        "roberta": {"cls_token": 0, "sep_token": 2},
        "gpt2": dict.fromkeys(both),
        "t5": dict.fromkeys(both),
    }[kind]
    assert special.get("bos_token") == {"roberta": 0, "gpt2": 0}.get(kind)
