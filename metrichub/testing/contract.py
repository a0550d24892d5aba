"""The contract that every metric keeps: three lines in a plugin's tests, or `metrichub check`.

from metrichub.testing import MetricContract

class TestShout(MetricContract):
metric = "shout"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from metrichub.catalog.card import with_blocks
from metrichub.catalog.foreign_code import is_foreign
from metrichub.catalog.registry import registry, spec_of
from metrichub.errors import MetrichubError, MissingDependency, MissingModel
from metrichub.testing import card_laws, footprint, laws
from metrichub.testing.under_test import Broken, MetricUnderTest


class Finding(NamedTuple):
    """The result of one law for a metric: `problem` is None if the law holds or wasn't run."""

    law: int
    title: str
    problem: str | None
    ran: bool = True


class MetricContract:
    """The sixteen laws as test methods; subclass it with the name of an installed metric.

    Set `columns` to ordinary samples if texts in the five canonical columns don't fit, and
    `parameters` if the defaults won't do, for example to use a small model.
    """

    metric: ClassVar[str]
    columns: ClassVar[Mapping[str, Sequence[Any]] | None] = None
    parameters: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def under_test(self) -> MetricUnderTest:
        """The metric under test."""
        return MetricUnderTest(registry().find(self.metric), self.columns, self.parameters)

    def test_law_01_folder_entry_and_card_share_one_name(self) -> None:
        """See `card_laws.one_name`."""
        card_laws.one_name(self.under_test())

    def test_law_02_the_card_is_complete_and_current(self) -> None:
        """See `card_laws.card_is_complete`."""
        card_laws.card_is_complete(self.under_test())

    def test_law_03_the_inputs_of_card_and_code_agree(self) -> None:
        """See `card_laws.inputs_agree`."""
        card_laws.inputs_agree(self.under_test())

    def test_law_04_the_outputs_of_card_and_code_agree(self) -> None:
        """See `card_laws.outputs_agree`."""
        card_laws.outputs_agree(self.under_test())

    def test_law_05_ordinary_samples_give_finite_rows(self) -> None:
        """See `laws.rows_are_finite`."""
        laws.rows_are_finite(self.under_test())

    def test_law_06_score_broadcasts(self) -> None:
        """See `laws.score_broadcasts`."""
        laws.score_broadcasts(self.under_test())

    def test_law_07_measuring_parts_is_measuring_the_whole(self) -> None:
        """See `laws.measuring_merges`."""
        laws.measuring_merges(self.under_test())

    def test_law_08_the_order_of_samples_is_irrelevant(self) -> None:
        """See `laws.order_is_irrelevant`."""
        laws.order_is_irrelevant(self.under_test())

    def test_law_09_any_text_is_valid(self) -> None:
        """See `laws.any_text_is_valid`."""
        laws.any_text_is_valid(self.under_test())

    def test_law_10_perfection_holds(self) -> None:
        """See `laws.perfection_holds`."""
        laws.perfection_holds(self.under_test())

    def test_law_11_nothing_is_changed(self) -> None:
        """See `laws.nothing_is_changed`."""
        laws.nothing_is_changed(self.under_test())

    def test_law_12_the_examples_run(self) -> None:
        """See `card_laws.examples_run`."""
        card_laws.examples_run(self.under_test())

    def test_law_13_no_samples_give_nan(self) -> None:
        """See `laws.empty_is_nan`."""
        laws.empty_is_nan(self.under_test())

    def test_law_14_nothing_heavy_loads_and_no_socket_opens(self) -> None:
        """See `footprint.nothing_heavy_loads`."""
        footprint.nothing_heavy_loads(self.under_test())

    def test_law_15_nonsense_never_pays(self) -> None:
        """See `laws.nonsense_never_pays`."""
        laws.nonsense_never_pays(self.under_test())

    def test_law_16_intervals_hold_the_score(self) -> None:
        """See `laws.intervals_hold`."""
        laws.intervals_hold(self.under_test())


def check(name: str) -> list[Finding]:
    """The result of each law for an installed metric, in order; a spec sets parameters.

    If the card can't be read, the second law says so, and no other law runs.

    Raises:
        UnknownMetric: no installed metric has this name.
        MissingDependency, MissingModel: the metric needs a package or model that isn't on this
            machine.
    """
    spec = spec_of(name)
    under_test = MetricUnderTest(registry().find(spec.metric), parameters=spec.parameters)
    numbered = list(enumerate(laws.LAWS, start=1))
    if problem := under_test.entry.problem:
        return [
            Finding(number, _title(law), problem)
            if law is card_laws.card_is_complete
            else Finding(number, _title(law), None, ran=False)
            for number, law in numbered
        ]
    return [_finding(number, law, under_test) for number, law in numbered]


def update_card(name: str) -> bool:
    """Rewrite the generated blocks of a metric's card; returns whether anything changed."""
    under_test = MetricUnderTest(registry().find(spec_of(name).metric))
    path = under_test.entry.folder / "README.md"
    old = path.read_text(encoding="utf-8")
    new = with_blocks(old, card_laws.generated(under_test))
    if new != old:
        path.write_text(new, encoding="utf-8")
        vars(under_test.entry).pop("card", None)
    return new != old


def _title(law: Any) -> str:
    title: str = law.__doc__.strip().partition("\n")[0]
    return title


def _finding(number: int, law: Any, under_test: MetricUnderTest) -> Finding:
    title = _title(law)
    try:
        law(under_test)
    except (MissingDependency, MissingModel):
        raise
    except (Broken, MetrichubError) as error:
        return Finding(number, title, str(error))
    except BaseException as error:
        if not is_foreign(error):
            raise
        return Finding(number, title, f"{type(error).__name__}: {error}")
    return Finding(number, title, None)
