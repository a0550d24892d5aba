"""Provenance: what a page says of its origin, and of its metrics' cards."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import metadata, version
from pathlib import Path
from typing import NamedTuple

from metrichub.catalog.registry import origin
from metrichub.evaluation.measurement import Measurement
from metrichub.metric import Metric, has_sample_scores


class Fact(NamedTuple):
    """A line of what is known of a page's origin; `whole` is shown where one points at it."""

    name: str
    text: str
    whole: str = ""
    code: bool = False


class Provenance(NamedTuple):
    """Where a page's numbers are from: the command, and files, each with its SHA-256 or "".

    `date` is by default the day of SOURCE_DATE_EPOCH, or today.
    """

    command: str = ""
    files: Sequence[tuple[str, str]] = ()
    date: str = ""

    @classmethod
    def of(cls, files: Iterable[tuple[str, str | Path]], command: str = "") -> Provenance:
        """With the hashes of files, each given by the name that is shown and its path."""
        return cls(command, [(name, _file_digest(Path(path))) for name, path in files])

    def facts(self) -> list[Fact]:
        """The files and the command, for the end of the page: they may be many and long."""
        facts = [
            Fact("file", f"{name} (SHA-256 {digest[:12]})" if digest else name, digest)
            for name, digest in self.files
        ]
        return [*facts, Fact("command", self.command, code=True)] if self.command else facts


def facts_of(systems: Mapping[str, Measurement], provenance: Provenance) -> list[Fact]:
    """When and of what the page was made, but for files and the command."""
    first = next(iter(systems.values()))
    facts = [Fact("samples", f"{first.size:,}"), Fact("date", provenance.date or _today())]
    low, high = first.items_per_sample.get("references", (1, 1))
    if high > 1:
        number = str(high) if low == high else f"{low} to {high}"
        facts.insert(1, Fact("references", f"{number} per sample"))
    if named := [name for name in systems if name]:
        if len(named) > 1:
            named[0] += " (baseline)"
        facts.append(Fact("systems" if len(named) > 1 else "system", ", ".join(named)))
    results = [result for report in systems.values() for result in report.results.values()]
    homes = [result.signature for result in results]
    ours = f"metrichub {version('metrichub')}"
    versions = (f"{s.home} {', '.join(s.versions)}" for s in homes if s.versions)
    facts.append(Fact("versions", "; ".join(dict.fromkeys((ours, *versions)))))
    # Labels hold no secrets.
    labels = "; ".join(dict.fromkeys(str(signature) for signature in homes))
    for name in ("judge", "embedder", "model", "language"):
        values = re.findall(rf"\b{name}=(?:'([^']*)'|\"([^\"]*)\")", labels)
        if chosen := dict.fromkeys(quoted or other for quoted, other in values):
            facts.append(Fact(name, ", ".join(chosen)))
    return facts


def _today() -> str:
    """The day in UTC, or that of SOURCE_DATE_EPOCH, by which builds are reproduced."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    when = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)
    return when.date().isoformat()


def _file_digest(path: Path) -> str:
    """A file's SHA-256; "" of a folder or of what isn't on this machine."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class AboutMetric(NamedTuple):
    """A metric as the page tells of it: what it measures, where its card is, how it was run.

    It has several signatures if candidates or versions differ by the system; `sentence_level` says
    that its samples are scored by a convention of their own, as sentence BLEU is.
    """

    metric: str
    name: str
    title: str
    summary: str
    link: str
    signatures: Sequence[str]
    sentence_level: bool
    bibtex: str


def metrics_of(systems: Mapping[str, Measurement]) -> list[AboutMetric]:
    """The metrics of all systems."""
    metrics = {name: r.metric for report in systems.values() for name, r in report.results.items()}
    signatures = [report.signatures() for report in systems.values()]
    return [
        AboutMetric(
            name,
            metric.card.name,
            metric.card.title,
            metric.card.summary,
            _card_address(metric),
            [*dict.fromkeys(by_metric[name] for by_metric in signatures if name in by_metric)],
            has_sample_scores(metric),
            metric.card.bibtex or "",
        )
        for name, metric in metrics.items()
    ]


def _card_address(metric: Metric) -> str:
    """Where the metric's card is shown, if its distribution names a repository on GitHub."""
    entry = origin(type(metric))
    lines = (metadata(entry.distribution).get_all("Project-URL") or []) if entry else []
    named: dict[str, str] = dict(line.split(", ", 1) for line in lines if ", " in line)
    address = named.get("Repository") or named.get("Source") or ""
    if entry is None or not address.startswith("https://github.com/"):
        return ""
    folder = entry.value.partition(":")[0].replace(".", "/")
    return f"{address}/blob/HEAD/{folder}/README.md"
