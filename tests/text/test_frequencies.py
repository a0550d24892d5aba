"""The sparse n-gram vectors of a corpus, against counters of one text at a time."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metrichub.text import Texts
from metrichub.text.ngrams.frequencies import ngram_counts

TEXTS = st.lists(
    st.one_of(st.lists(st.sampled_from("aabc"), max_size=12).map(" ".join), st.text(max_size=12)),
    max_size=6,
)


def grams(text, n):
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


@given(TEXTS)
def test_entries_are_the_counts_of_every_text(texts):
    for n, entries in enumerate(ngram_counts(Texts(texts).tokens("whitespace"), 5), start=1):
        counts = [grams(text, n) for text in texts]
        every = entries.all()
        number = (np.cumsum(every.starts) - 1).tolist()
        number_of = Counter()
        for gram, text, count in zip(
            number, every.text.tolist(), every.count.tolist(), strict=True
        ):
            number_of[gram] += 1
            assert count in counts[text].values()
        expected = Counter(gram for count in counts for gram in count)
        assert sorted(number_of.values()) == sorted(expected.values())
        total = np.bincount(every.text, every.count, len(texts)).tolist()
        assert total == [count.total() for count in counts]
        once = {g for g, c in sum(counts, Counter()).items() if c == 1}
        assert Counter(entries.single.tolist()) == Counter(
            text for text, count in enumerate(counts) for gram in count if gram in once
        )


@given(TEXTS)
def test_limits_split_n_grams_by_group(texts):
    group = np.arange(len(texts)) // 2
    for n, entries in enumerate(ngram_counts(Texts(texts).tokens("whitespace"), 3), start=1):
        every = entries.all()
        limits = every.limits(group)
        together = [
            sum(map(grams, texts[i : i + 2], [n, n]), Counter()) for i in range(0, len(texts), 2)
        ]
        assert len(limits) - 1 == sum(map(len, together))
        sums = [int(every.count[a:b].sum()) for a, b in pairwise(limits)]
        assert sorted(sums) == sorted(c for counter in together for c in counter.values())
