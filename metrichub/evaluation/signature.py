"""Signatures: what was measured, by which definition, and by whose code of which version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_FORM = (
    r"(?P<label>.*?)(\|definition:(?P<definition>\d+))?\|(?P<home>[^|:]+):(?P<code>[^|]+)"
    r"\|reduce:(?P<reduction>[^|]*)(\|repeats:(?P<repeats>\d+))?"
)
_LOCAL = "local"


@dataclass(frozen=True)
class Signature:
    """How one metric measured: "bleu(max_order=4)|definition:1|metrichub:0.1.0|reduce:best".

    All but `versions` decides what is comparable. `home` is the distribution that brings the
    metric, or "local:module" for one that isn't installed, which has no version; a report merged
    from several versions' has them all, "metrichub:0.1.0,0.2.0". `repeats` is 0 for a single run.
    """

    label: str
    definition: int
    home: str
    versions: tuple[str, ...]
    reduction: str
    repeats: int = 0

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that a text is; one without a definition is of the first.

        Raises:
            ValueError: the text is no signature.
        """
        found = re.fullmatch(_FORM, text, re.DOTALL)
        if not found:
            raise ValueError(f"{text!r} isn't a valid signature")
        home, code = found["home"], found["code"]
        local = home == _LOCAL
        return cls(
            found["label"],
            int(found["definition"] or 1),
            f"{home}:{code}" if local else home,
            () if local else tuple(code.split(",")),
            found["reduction"],
            int(found["repeats"] or 0),
        )

    @classmethod
    def joined(cls, parts: Sequence[Signature]) -> Signature:
        """The signature of parts that are comparable, with the versions of all."""
        versions = dict.fromkeys(version for part in parts for version in part.versions)
        return replace(parts[0], versions=tuple(versions))

    def agrees(self, other: Signature) -> bool:
        """Whether both measured the same in the same way, whatever their versions."""
        return replace(self, versions=()) == replace(other, versions=())

    def __str__(self) -> str:
        home = f"{self.home}:{','.join(self.versions)}" if self.versions else self.home
        repeats = f"|repeats:{self.repeats}" if self.repeats else ""
        return f"{self.label}|definition:{self.definition}|{home}|reduce:{self.reduction}{repeats}"
