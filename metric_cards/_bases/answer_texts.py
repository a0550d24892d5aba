"""Answer texts: short answers as the scripts of question answering normalize them."""

from __future__ import annotations

import string

from metrichub.text import Texts

_BLANKS = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))


def blanked(texts: Texts) -> Texts:
    """The texts with blanks for ASCII punctuation and four quotes, which TriviaQA drops so."""
    return texts.cached("blanked", lambda: Texts([text.translate(_BLANKS) for text in texts]))
