"""The report as one HTML file: scores with intervals and tests, plots, and every sample to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub.evaluation.resample import SEED

if TYPE_CHECKING:
    from metrichub.evaluation.measurement import Measurement
    from metrichub.report.html.provenance import Provenance
    from metrichub.report.ranking import Ranking

EXPLAINED = 100
"""Samples that a metric without a judge explains: the first, the lowest and the highest."""

SIZE = 64_000_000
"""Bytes of texts and explanations that a file holds at most, before they are deflated."""


def write(  # noqa: PLR0913  # the options of one call, each by its name
    path: str | Path,
    systems: Mapping[str, Measurement],
    *,
    ids: Sequence[Any] | None = None,
    confidence: float = 0.95,
    resamples: int = 1000,
    trials: int = 10_000,
    seed: int = SEED,
    cluster: str | None = "auto",
    human: str | Iterable[str] | None = None,
    agreement: Any = None,
    title: str | None = None,
    by: str | None = None,
    provenance: Provenance | None = None,
    explained: int = EXPLAINED,
    size: int = SIZE,
    progress: Callable[[str, int, int | None], object] | None = None,
    ranking: Ranking[Any] | None = None,
) -> None:
    """Write the reports of one or several systems as one HTML file that needs no other.

    Several systems are tested against the first, on the same samples. `ids` name the samples;
    else their column `id` does, if the first report has it.
    `cluster` names a column whose samples of one value are drawn and swapped together; by default,
    the answers to one question are.
    `human` names the columns of people's ratings that the scores are compared with; else those
    of the report that hold numbers, lists of numbers or yes and no, which the page then names.
    `agreement` is what was measured of these ratings, or of preferences, and is shown as it is.
    `title` stands above the answer, which is the title otherwise; `by` names a column whose values
    are slices whatever it holds; `provenance` says what the page can't know by itself.
    Each metric without a judge explains the first `explained` samples, and as many with the
    lowest and the highest scores; judges' explanations are there for all. Texts and explanations
    take `size` bytes at most before they are deflated; where they would take more, the page says
    how many are there.
    `progress` is told what is being done ("testing", "explaining", "reading", "drawing",
    "writing"), how many samples are done, and of how many; None where they aren't counted.
    `ranking` is what `compare_all` gave for these systems and options, if it is known already.

    Raises:
        ReportError: no system, a pooled report, systems that can't be compared, or no such column
            of ratings or slices.
    """
    from metrichub.data.files import check_folder, write_text
    from metrichub.evaluation.significance import SignificanceOptions
    from metrichub.report.html.document import PageOptions, report_page
    from metrichub.report.html.records import PageLimits

    check_folder(path)
    if ids is None:
        ids = next((report.metadata.get("id") for report in systems.values()), None)
    options = SignificanceOptions(confidence, resamples, trials, seed, cluster)
    limits = PageLimits(explained, size)
    tell = progress or (lambda *_: None)
    shown = PageOptions(ids, human, agreement, title, by, provenance)
    text = report_page(systems, shown, options, limits, tell, ranking)
    tell("writing", 0, None)
    write_text(path, text)
