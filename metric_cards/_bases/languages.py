"""The language of a text as langdetect finds it, with the same result each time."""

from __future__ import annotations

from functools import cache
from typing import Any

from metrichub.errors import InputError, MissingDependency

INSTALL = "pip install 'metrichub[language]'"


def is_in(text: str, language: str, needed_by: str, *, undetected: bool) -> bool:
    """Whether a text is in a language, such as "en" or "zh-cn"; `undetected` if nothing tells.

    langdetect draws at random, so that each text is given a detector with the seed 0.

    Raises:
        MissingDependency: langdetect isn't installed.
        InputError: it doesn't know the language.
    """
    try:
        from langdetect import LangDetectException
    except ImportError:
        raise MissingDependency(needed_by, "langdetect", INSTALL) from None
    factory = _factory()
    if language not in factory.langlist:
        languages = ", ".join(sorted(factory.langlist))
        raise InputError(f"{needed_by}: langdetect doesn't know {language!r}; it knows {languages}")
    detector = factory.create()
    detector.seed = 0
    detector.append(text)
    try:
        return str(detector.detect()) == language
    except LangDetectException:
        return undetected


@cache
def _factory() -> Any:
    # Not langdetect's own, whose seed other code in the process may set.
    from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    return factory
