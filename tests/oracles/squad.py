"""The normalization of SQuAD 1.1 as its script has it."""

import re
import string


def normal(text: str) -> str:
    """Lower case, then no punctuation, then no articles, then single spaces."""
    text = text.lower().translate(dict.fromkeys(map(ord, string.punctuation)))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())
