"""Official programs at their own defaults, each given raw text as its documentation says."""

from __future__ import annotations

import ast
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.exact_others import program
from benchmarks.exact_overlap import Found, Official, averaged, ptb_tokens, rouge_score
from benchmarks.exact_texts import Corpus

_MTEVAL = "mteval-v13a.pl"


def evaluates(folder: Path | None, name: str, output: str, pooled: bool = False) -> Official:
    """A metric of Hugging Face evaluate, loaded from a checkout; the mean unless it is pooled."""
    # Else each load is reported over the network.
    os.environ["HF_EVALUATE_OFFLINE"] = "1"
    import evaluate
    import nltk

    place = (folder or Path()) / "evaluate" / "metrics" / name
    if folder is None or not place.is_dir():
        raise ModuleNotFoundError(f"no {name} in the folder of --programs", name=name)
    # METEOR downloads WordNet and Punkt each time: here, nltk has them.
    with patch.object(nltk, "download"):
        compute = evaluate.load(str(place))._compute  # noqa: SLF001

    def score(predictions: list[str], references: list[Any]) -> float:
        return float(compute(predictions=predictions, references=references)[output])

    def official(corpus: Corpus) -> Found:
        single = name == "exact_match"
        references = corpus.first if single else corpus.references
        pairs = list(zip(corpus.predictions, references, strict=True))
        result = averaged([{"score": score([first], [other])} for first, other in pairs])
        if pooled:
            result = result._replace(corpus={"score": score(corpus.predictions, references)})
        return result

    return official


def sari_easse(folder: Path | None) -> Official:
    """EASSE's `corpus_sari` of the corpus, and of each sample alone."""
    module = package_of(folder, "easse", "easse.sari")

    def stats(rows: Iterable[tuple[str, str, list[str]]]) -> Any:
        """The counts of samples with equally many references."""
        sources, predictions, references = zip(*rows, strict=True)
        clean = module.utils_prep.normalize
        streams = [[clean(text) for text in stream] for stream in zip(*references, strict=True)]
        texts = ([clean(text) for text in column] for column in (sources, predictions))
        return np.array(module.compute_ngram_stats(*texts, streams))

    def official(corpus: Corpus) -> Found:
        rows = list(zip(corpus.sources, corpus.predictions, corpus.references, strict=True))
        each = [module.corpus_sari([s], [p], [[r] for r in group]) / 100 for s, p, group in rows]
        # It takes equally many references of all samples: others are counted apart and added up.
        sizes = defaultdict(list)
        for row in rows:
            sizes[len(row[2])].append(row)
        if len(sizes) == 1:
            streams = [list(stream) for stream in zip(*corpus.references, strict=True)]
            total = module.corpus_sari(corpus.sources, corpus.predictions, streams) / 100
        else:
            total = sum(module.compute_macro_sari(*sum(map(stats, sizes.values())))) / 3
        return Found({"score": each}, {"score": float(total)})

    return official


def cider_coco() -> Official:
    """CIDEr as COCOEvalCap computes it: its PTBTokenizer, in Java, then the scorer."""
    from pycocoevalcap.cider.cider import Cider

    def official(corpus: Corpus) -> Found:
        predictions = dict(enumerate(ptb_tokens([[text] for text in corpus.predictions])))
        references = dict(enumerate(ptb_tokens(corpus.references)))
        total, each = Cider().compute_score(references, predictions)
        return Found({"score": [float(score) for score in each]}, {"score": float(total)})

    return official


def mteval(folder: Path | None) -> Official:
    """NIST of mteval-v13a.pl with case kept (-c), printed with twelve digits instead of four."""
    if folder is None or not (folder / _MTEVAL).is_file():
        raise ModuleNotFoundError(f"no {_MTEVAL} in the folder of --programs", name=_MTEVAL)
    script = (folder / _MTEVAL).read_text(encoding="utf-8")
    script = script.replace("= %.4f", "= %.12f").replace("= %2.4f", "= %.12f")

    def official(corpus: Corpus) -> Found:
        with TemporaryDirectory() as place:
            path = Path(place)
            (path / _MTEVAL).write_text(script, encoding="utf-8")
            streams = list(zip(*corpus.references, strict=True))
            sets = {"src": [("", "src", corpus.first)], "tst": [("x", "tst", corpus.predictions)]}
            sets["ref"] = [(f"r{i}", "ref", list(stream)) for i, stream in enumerate(streams)]
            arguments = ["-n", "-c", "-d", "2"]
            for kind, parts in sets.items():
                (path / kind).write_text("\n".join(_sgml(*part) for part in parts), "utf-8")
                arguments += [f"-{kind[0]}", str(path / kind)]
            command = ["perl", str(path / _MTEVAL), *arguments]
            printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        named = {
            int(number): float(score)
            for score, number in re.findall(r"using 5-grams = (\S+) .* on segment (\d+)", printed)
        }
        total = re.search(r"^NIST score = (\S+)", printed, re.MULTILINE)
        assert total is not None, printed
        each = [named[number + 1] for number in range(len(corpus.predictions))]
        return Found({"score": each}, {"score": float(total[1])})

    return official


def _sgml(system: str, kind: str, texts: list[str]) -> str:
    segments = (
        f'<seg id="{number}">{escape(" ".join(text.splitlines()), quote=False)}</seg>'
        for number, text in enumerate(texts, start=1)
    )
    languages = 'setid="s" srclang="any" trglang="en"'
    head = f'<{kind}set {languages} refid="{system}">\n<doc docid="d" sysid="{system}">'
    return "\n".join((head, *segments, f"</doc>\n</{kind}set>"))


def self_bleu_texygen(folder: Path | None) -> Official:
    """Self-BLEU of Texygen: nltk's words, three orders, the first 500 texts."""
    module = package_of((folder or Path()) / "Texygen", "utils/metrics/SelfBleu.py")

    def official(corpus: Corpus) -> Found:
        with TemporaryDirectory() as place:
            path = Path(place) / "texts"
            lines = (" ".join(text.split()) for text in corpus.predictions)
            path.write_text("\n".join(lines), encoding="utf-8")
            return Found({}, {"bleu_3": float(module.SelfBleu(str(path)).get_score())})

    return official


def redundancy(folder: Path | None, outputs: Sequence[str]) -> Official:
    """The ratios and NID of Xiao and Carenini's script, one file a text; `nan` where it has none.

    Its corpus scores divide by the skipped files too, so they aren't compared.
    """
    from nltk import ngrams, word_tokenize
    from nltk.corpus import stopwords
    from scipy.stats import entropy

    vectorizer = import_module("sklearn.feature_extraction.text").CountVectorizer
    symbols = {"ngrams": ngrams, "word_tokenize": word_tokenize, "stopwords": stopwords}
    symbols |= {"entropy": entropy, "CountVectorizer": vectorizer, "np": np}
    score = excerpt(
        folder, "redundancy/utils.py", "get_redundancy_scores", symbols | {"print": _silent}
    )
    names = ("unr_1", "unr_2", "unr_3", "score")

    def official(corpus: Corpus) -> Found:
        rows = []
        with TemporaryDirectory() as place:
            path = Path(place) / "text"
            for text in corpus.predictions:
                path.write_text(text, encoding="utf-8")
                try:
                    result = score([str(path)])
                except ValueError:  # no word that counts
                    result = [[]] * len(names)
                rows.append([values[0] if values else np.nan for values in result])
        table = dict(zip(names, zip(*rows, strict=True), strict=True))
        return Found({name: table[name] for name in outputs}, {})

    return official


def repetition(folder: Path | None) -> Official:
    """Three of the ratios of Fu et al.'s script, of words between spaces as it takes them."""
    module = program(folder, "eval_metrics.py")

    def scores_of(text: str) -> dict[str, float]:
        words = text.split()
        result = {"rep_w": module.get_rep(words) / len(words), "rep_r": module.get_repc(words)}
        return {**result, "seq_rep": module.get_seq_rep_n(words)}

    return lambda corpus: averaged([scores_of(text) for text in corpus.predictions])


def metricverse_aun(folder: Path | None) -> Official:
    """AUN of nlg-metricverse, which pools the counts of a corpus."""
    from nltk import ngrams

    unique = excerpt(folder, "nlgmetricverse/utils/data_structure.py", "remove_duplicates", {})
    score = excerpt(
        folder, "nlgmetricverse/metrics/aun/aun_planet.py", "__compute_average_unique_ngram",
        {"ngrams": ngrams, "remove_duplicates": unique},
    )  # fmt: skip

    def official(corpus: Corpus) -> Found:
        each = [score([text], 1) if text.split() else np.nan for text in corpus.predictions]
        return Found({"score": each}, {"score": score(corpus.predictions, 1)})

    return official


def metricverse_abstractness(folder: Path | None) -> Official:
    """Abstractness of nlg-metricverse, with one reference."""
    from nltk import ngrams

    path = "nlgmetricverse/metrics/abstractness/abstractness_planet.py"
    score = excerpt(folder, path, "__compute_abstractness", {"ngrams": ngrams})

    def official(corpus: Corpus) -> Found:
        pairs = list(zip(corpus.first, corpus.predictions, strict=True))
        each = [score([reference], [prediction], 1) for reference, prediction in pairs]
        return Found({"score": each}, {"score": score(corpus.first, corpus.predictions, 1)})

    return official


def carburacy(folder: Path | None) -> Official:
    """The authors' script with rouge-score's F1 in it, and without emissions."""
    path = "carburacy.py"
    part = excerpt(folder, path, "compute_carburacy_train_test", {"math": __import__("math")})
    merge = excerpt(folder, path, "compute_carburacy_from_train_test", {})
    names = {"compute_carburacy_train_test": part, "compute_carburacy_from_train_test": merge}
    score = excerpt(folder, path, "compute_carburacy", names)
    types = ("rouge1", "rouge2", "rougeL")
    rouge = rouge_score(types, stemmer=False)

    def numbers(scores: Sequence[float]) -> float:
        effectiveness = statistics.fmean(scores) / (1 + statistics.pvariance(scores))
        return float(score(effectiveness, 0, 0, 10, 1, 100)[0]) if effectiveness else 0.0

    def official(corpus: Corpus) -> Found:
        result = rouge(corpus._replace(references=[[text] for text in corpus.first]))
        rows = zip(*(result.samples[name] for name in types), strict=True)
        totals = numbers([result.corpus[name] for name in types])
        return Found({"score": [numbers(row) for row in rows]}, {"score": totals})

    return official


def lexicalrichness() -> Official:
    """The indices of lexicalrichness with its own preprocessing and tokenizer."""
    from lexicalrichness import LexicalRichness

    def scores_of(text: str) -> dict[str, float]:
        value = LexicalRichness(text)
        named = {"score": value.ttr, "root_ttr": value.rttr, "corrected_ttr": value.cttr}
        enough = value.words >= 42
        named |= {"log_ttr": value.Herdan, "mtld": value.mtld()}
        named["hdd"] = value.hdd() if enough else np.nan
        return named | {"yule_k": value.yulek, "yule_i": value.yulei, "simpson_d": value.simpsond}

    def official(corpus: Corpus) -> Found:
        samples = averaged([scores_of(text) for text in corpus.predictions]).samples
        return Found(samples, {name: float(np.nanmean(samples[name])) for name in samples})

    return official


def textstat() -> Official:
    """The nine formulas of textstat, one text at a time."""
    import textstat as package

    names = {"score": "flesch_reading_ease", "flesch_kincaid_grade": "flesch_kincaid_grade"}
    names |= {"gunning_fog": "gunning_fog", "coleman_liau": "coleman_liau_index"}
    names |= {"ari": "automated_readability_index", "smog": "smog_index", "lix": "lix"}
    names |= {"rix": "rix", "dale_chall": "dale_chall_readability_score"}

    def scores_of(text: str) -> dict[str, float]:
        return {ours: float(getattr(package, name)(text)) for ours, name in names.items()}

    def official(corpus: Corpus) -> Found:
        return Found(averaged([scores_of(text) for text in corpus.predictions]).samples, {})

    return official


def excerpt(
    folder: Path | None, path: str, function: str, available: dict[str, Any]
) -> Callable[..., Any]:
    """One function of a program whose other imports aren't needed, with the names that it uses.

    Raises:
        ModuleNotFoundError: the program isn't there.
    """
    place = (folder or Path()) / path
    if folder is None or not place.is_file():
        raise ModuleNotFoundError(f"no {path} in the folder of --programs", name=path)
    tree = ast.parse(place.read_text(encoding="utf-8"))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    node = next(node for node in nodes if node.name == function)
    node.decorator_list = []
    names = dict(available)
    exec(compile(ast.Module([node], []), str(place), "exec"), names)
    called: Callable[..., Any] = names[function]
    return called


def package_of(folder: Path | None, name: str, module: str = "") -> Any:
    """A program that imports others of its folder."""
    if folder is None or not (folder / name).exists():
        raise ModuleNotFoundError(f"no {name} in the folder of --programs", name=name)
    sys.path.insert(0, str(folder))
    try:
        return import_module(module or name.removesuffix(".py").replace("/", "."))
    finally:
        sys.path.remove(str(folder))


def _silent(*values: object) -> None:
    """Takes what the script prints."""


def remembered(make: Callable[[Path | None], Official]) -> Callable[[Path | None], Official]:
    """The same official program for several rows, which scores each corpus once."""
    scores: dict[tuple[str, int], Found] = {}

    def measured(folder: Path | None) -> Official:
        official = make(folder)

        def score(corpus: Corpus) -> Found:
            key = (corpus.name, len(corpus.predictions))
            if key not in scores:
                scores[key] = official(corpus)
            return scores[key]

        return score

    return measured


meteor = remembered(partial(evaluates, name="meteor", output="meteor"))
