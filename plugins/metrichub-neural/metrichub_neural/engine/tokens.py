"""Tokens: one model's tokenizer, the same for both engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from metrichub.errors import MissingDependency, ModelError
from metrichub.text import Flags, Integers, well_formed
from metrichub_neural.engine.flaws import CONTROL, CUT, UNKNOWN
from metrichub_neural.engine.full import libraries, quiet
from metrichub_neural.engine.settings import UNLIMITED, limit_of, read_json
from metrichub_neural.local_models import ModelFiles

_PREFIXED = ("data2vec-text", "gpt2", "ibert", "roberta", "roberta-prelayernorm")
"""Kinds of models whose words carry the space before them, the first word's too."""
_UNTYPED = {"big_bird", "TokenizersBackend"}
"""Kinds of models, and a class of tokenizers, that tell the texts of a pair apart only if asked."""
_SPECIAL = (
    *("cls_token", "sep_token", "bos_token", "eos_token", "pad_token", "unk_token", "mask_token"),
)
_USUAL = {
    "cls_token": ("[CLS]", "<s>"),
    "sep_token": ("[SEP]", "</s>"),
    "bos_token": ("<s>", "<|endoftext|>"),
    "eos_token": ("</s>", "<|endoftext|>"),
    "pad_token": ("[PAD]", "<pad>"),
    "unk_token": ("[UNK]", "<unk>", "<|endoftext|>"),
    "mask_token": ("[MASK]", "<mask>"),
}
_WORDS = (
    "vocab.json",
    "vocab.txt",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
)
"""Files of older tokenizers, which transformers makes into ones of the same library."""
_PIECES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
"""Those of them that another library has to read."""


class Encoded(NamedTuple):
    """The tokens of one text or pair of texts.

    Attributes:
        ids: The tokens, (n,).
        added: Which of them were added to the text, (n,).
        types: Which text of a pair each belongs to, (n,).
        flaws: Whether the text had more than fit, control or unknown tokens; see `engine.flaws`.
    """

    ids: Integers
    added: Flags
    types: Integers
    flaws: int


class _Shortened(NamedTuple):
    """The start of a text, the same without its last token, and how many tokens were cut off."""

    text: str
    shorter: str
    off: int


class Tokenizer:
    """One model's tokenizer.

    Attributes:
        limit: How many tokens a text may have, with those that are added to it.
        gives_types: Whether a model that takes it is told which text of a pair a token is of.
        special: The ids of special tokens by what they are for, such as "cls_token".

    Raises:
        ModelError: it has tokens that the model has no vectors for.
    """

    def __init__(
        self,
        backend: Any,
        config: Mapping[str, Any],
        files: ModelFiles,
        special: Mapping[str, int] | None = None,
    ) -> None:
        self._backend, self._cut = backend, dict[tuple[int, str], Any]()
        backend.no_padding()
        size, most = config.get("vocab_size"), max(backend.get_vocab().values(), default=0)
        if isinstance(size, int) and most >= size:
            word = backend.id_to_token(most)
            raise ModelError(
                f"the tokenizer in {files.folder} isn't of its model, which has vectors for {size} "
                f"tokens: {word!r} is number {most}"
            )
        settings = read_json(files, "tokenizer_config.json")
        self.limit = limit_of(files, config)
        if self.limit < UNLIMITED:
            backend.enable_truncation(self.limit)
        else:
            backend.no_truncation()
        untyped = _UNTYPED & {config.get("model_type"), settings.get("tokenizer_class")}
        inputs = settings.get("model_input_names", [] if untyped else ["token_type_ids"])
        self.gives_types = "token_type_ids" in inputs
        named = {**read_json(files, "special_tokens_map.json"), **settings}
        texts = {name: _content(named.get(name)) for name in _SPECIAL}
        ids = {name: backend.token_to_id(text) for name, text in texts.items() if text}
        special_ids = {name: number for name, number in ids.items() if number is not None}
        if not special_ids and special is None:
            special_ids = _usual(backend)
        self.special: dict[str, int] = {**special_ids, **(special or {})}
        # Which no text can become, unless a model has one token for several of them.
        added = backend.get_added_tokens_decoder().items()
        control = {number for number, token in added if token.special}
        named_ids = {number for name, number in self.special.items() if name != "unk_token"}
        # GPT-2's is the end token, and stands for no text.
        self._unknown = {self.special.get("unk_token")} - named_ids
        self._control = (control | named_ids) - self._unknown
        self._padding = config.get("pad_token_id")
        self._prefix = " " if config.get("model_type") in _PREFIXED else ""

    @property
    def padding(self) -> int:
        """The id that batches are filled up with, by which decoders find a text's end."""
        given = self._padding
        return given if isinstance(given, int) and given >= 0 else self.special.get("pad_token", 0)

    def token(self, text: str) -> int | None:
        """The id of a text that is a token by itself; None if it isn't one."""
        number: int | None = self._backend.token_to_id(text)
        return number

    @property
    def end(self) -> str:
        """The token that ends a text, as it stands in texts; "" if there is none."""
        number = self.special.get("eos_token", self.special.get("sep_token"))
        return "" if number is None else str(self._backend.id_to_token(number))

    @property
    def frame(self) -> Integers:
        """The ids that are added to an empty text."""
        return self.encode([""])[0].ids

    def encode(self, texts: Sequence[str], limit: int | None = None) -> list[Encoded]:
        """The tokens of each text, without the white space around it; at most `limit` if given."""
        stripped = [text.strip() for text in texts]
        ready = [f"{self._prefix}{text}" if text else "" for text in stripped]
        return self.encode_as_given(ready, limit)

    def encode_as_given(
        self, texts: Sequence[str], limit: int | None = None, inserted: int = 0
    ) -> list[Encoded]:
        """The tokens of each text with the white space that it has, as classifiers read it.

        A `limit` replaces the model's own. So many of a text's control tokens were `inserted`.
        """
        ready = [well_formed(text) for text in texts]
        backend = self._cutting(limit) if limit else self._backend
        return [self._encoded(encoding, inserted) for encoding in backend.encode_batch(ready)]

    def spans(self, texts: Sequence[str], limit: int) -> list[list[tuple[int, int]]]:
        """Where each token of `encode_as_given` starts and ends; those that were added, at 0."""
        ready = [well_formed(text) for text in texts]
        return [encoding.offsets for encoding in self._cutting(limit).encode_batch(ready)]

    def encode_pairs(
        self,
        pairs: Iterable[tuple[str, str]],
        limit: int | None = None,
        *,
        only_first: bool = False,
    ) -> list[Encoded]:
        """The tokens of each pair of texts together, at most `limit` if given.

        The longer text of a pair is cut; or, with `only_first`, the first, unless the second alone
        has too many tokens.
        """
        listed = list(pairs)
        short = {text: self._shortened(text) for pair in listed for text in pair}
        ready = [_with_the_odd_token(short[first], short[second]) for first, second in listed]
        most = min(limit or self.limit, self.limit)
        backend = self._backend if most == self.limit else self._cutting(most)
        encodings = backend.encode_batch(ready)
        cut = [place for place, encoding in enumerate(encodings) if encoding.overflowing]
        if only_first and cut:
            backend = self._cutting(most, "only_first")
            room = most - backend.num_special_tokens_to_add(True)
            for place, second in zip(cut, self.bare([ready[at][1] for at in cut]), strict=True):
                if len(second) < room:
                    encodings[place] = backend.encode(*ready[place])
        return [self._encoded(encoding) for encoding in encodings]

    def flaws_of(self, ids: Sequence[int], inserted: int = 0) -> int:
        """CONTROL, if more control tokens are among these than were inserted, and UNKNOWN."""
        control = sum(map(self._control.__contains__, ids)) > inserted
        return CONTROL * control | UNKNOWN * (not self._unknown.isdisjoint(ids))

    def _encoded(self, encoding: Any, inserted: int = 0) -> Encoded:
        ids, added = encoding.ids, np.array(encoding.special_tokens_mask, np.bool_)
        flaws = self.flaws_of(ids, inserted + int(np.count_nonzero(added)))
        flaws |= CUT * bool(encoding.overflowing)
        types = np.array(encoding.type_ids, np.int64)
        return Encoded(np.array(ids, np.int64), added, types, flaws)

    def _shortened(self, text: str) -> _Shortened:
        """As much of a text as the model could take if it were alone.

        The library pairs every part of one text that is cut off with every part of the other.
        """
        text = well_formed(text)
        if len(text) <= self.limit:
            return _Shortened(text, text, 0)
        encoding = self._cutting(self.limit).encode(text, add_special_tokens=False)
        if not encoding.overflowing:
            return _Shortened(text, text, 0)
        ends = [end for _, end in encoding.offsets]
        off = sum(len(part.ids) for part in encoding.overflowing)
        return _Shortened(text[: ends[-1]], text[: ends[-2]], off)

    def names(self, ids: Integers) -> list[str]:
        """The tokens' names in the vocabulary, such as "##ing"."""
        return [self._backend.id_to_token(number) for number in ids.tolist()]

    def bare(self, texts: Sequence[str]) -> list[Integers]:
        """The tokens of each text as it is, none added and none cut."""
        ready = [well_formed(text) for text in texts]
        encodings = self._bare.encode_batch(ready, add_special_tokens=False)
        return [np.array(encoding.ids, np.int64) for encoding in encodings]

    def pieces(self, words: Sequence[str]) -> list[Integers]:
        """The tokens of each word as it stands behind another one in a text."""
        return self.bare([f"{self._prefix}{word}" for word in words])

    def _cutting(self, limit: int, strategy: str = "longest_first") -> Any:
        """The same tokenizer with another limit, or another way to cut pairs, made once."""
        if (limit, strategy) not in self._cut:
            again = type(self._backend).from_str(self._backend.to_str())
            again.enable_truncation(limit, strategy=strategy)
            self._cut[limit, strategy] = again
        return self._cut[limit, strategy]

    @cached_property
    def _bare(self) -> Any:
        """The same tokenizer without truncation, so that no thread sees the other's setting."""
        again = type(self._backend).from_str(self._backend.to_str())
        again.no_truncation()
        return again


def load_tokenizer(files: ModelFiles, config: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer of a model's tokenizer.json, or of the files that came before it.

    Raises:
        MissingDependency: only transformers reads its files, and isn't installed.
        ModelError: there is no such file, or it can't be read.
    """
    from tokenizers import Tokenizer as Backend

    path = files.file("tokenizer.json")
    if path is None and files.file(*_WORDS):
        return rebuilt_tokenizer(files, config)
    if path is None:
        raise ModelError(f"{files.name} has no tokenizer.json in {files.folder}")
    try:
        backend = Backend.from_file(str(path))
    # The library raises a bare Exception for whatever is wrong with a file.
    except Exception as error:
        raise ModelError(f"{path} can't be read: {error}") from error
    return Tokenizer(backend, config, files)


def rebuilt_tokenizer(files: ModelFiles, config: Mapping[str, Any], **more: Any) -> Tokenizer:
    """The tokenizer that transformers makes of a model's files.

    Raises:
        MissingDependency: transformers isn't installed.
        ModelError: the files can't be read.
    """
    if files.file(*_PIECES) and find_spec("sentencepiece") is None:
        raise MissingDependency(f"the tokenizer of {files.name}", "sentencepiece")
    _, transformers = libraries(f"{files.name}, which has no tokenizer.json")
    pieces = files.file("spm.model")
    # By its own name, as BLEURT's configuration is of a kind that transformers doesn't know.
    auto = "DebertaV2Tokenizer" if pieces else "AutoTokenizer"
    try:
        with quiet():
            tokenizer = getattr(transformers, auto).from_pretrained(
                str(files.folder), local_files_only=True, trust_remote_code=False, **more
            )
            backend = tokenizer.backend_tokenizer
            if pieces:
                backend.normalizer = _normalizer(pieces)
    except ImportError:
        raise
    # Whatever the libraries raise for files that are cut off, or of an unknown kind.
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"the tokenizer in {files.folder} can't be read: {reason}") from error
    special = {name: getattr(tokenizer, f"{name}_id") for name in _SPECIAL}
    special_ids = {name: number for name, number in special.items() if number is not None}
    return Tokenizer(backend, config, files, special_ids)


def _normalizer(pieces: Path) -> Any:
    """The normalization of SentencePiece before it splits a text; transformers 5 leaves it out."""
    from tokenizers import Regex, normalizers

    # Its stubs know no message of it.
    messages: Any = import_module("sentencepiece.sentencepiece_model_pb2")
    model = messages.ModelProto()
    model.ParseFromString(pieces.read_bytes())
    rules = model.normalizer_spec.precompiled_charsmap
    mapped = [normalizers.Precompiled(rules)] if rules else []
    spaces = [normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    return normalizers.Sequence([*mapped, *spaces])


def _usual(backend: Any) -> dict[str, int]:
    """The special tokens of a tokenizer whose files name none, as those of bert-base-uncased.

    Without transformers' classes, they are known by what such tokens are called.
    """
    frame = backend.encode("").ids
    usual: dict[str, int] = {}
    for name, texts in _USUAL.items():
        ids = [number for text in texts if (number := backend.token_to_id(text)) is not None]
        # T5 ends a text with a token, and begins it with none.
        framing = name in ("cls_token", "sep_token")
        if ids and (not framing or (len(frame) > 1 and ids[0] in frame)):
            usual[name] = ids[0]
    return usual


def _with_the_odd_token(first: _Shortened, second: _Shortened) -> tuple[str, str]:
    """Both texts, the longer with more tokens, as it keeps one more where their number is odd."""
    if first.off > second.off:
        return first.text, second.shorter
    return (first.text if first.off == second.off else first.shorter), second.text


def _content(token: object) -> str | None:
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else None
