"""An agreement becomes a study of one metric, which takes the place of the last of its kind."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrichub.agreement.agreement import Agreement, AgreementRow
from metrichub.agreement.agreement_inputs import DataFacts
from metrichub.agreement.bootstrap import Drawn
from metrichub.agreement.measured_studies import add_study, studies_text, study_of
from metrichub.catalog.studies import FILE, Study, StudyValue, read_studies

NAN = float("nan")
ROW = AgreementRow(
    metric="m",
    dimension="d",
    level="item",
    coefficient="tau_b",
    value=0.123456,
    low=-0.5,
    used=7,
    undefined=2,
    unscored=1,
)
ROWS = [
    ROW,
    replace(ROW, metric="m.part", value=0.98765),
    replace(ROW, metric="other"),
    replace(ROW, metric="human ceiling", value=0.87654),
    replace(ROW, metric="chance", value=0),
    replace(ROW, dimension="e", value=NAN),
]


def agreement_of(protocol: str | None = None) -> Agreement:
    return Agreement(
        ROWS,
        DataFacts(9, 2, 3, 4, "abc"),
        Drawn("items", 50, 7),
        0.9,
        protocol,
        [],
        signatures={"m": "m|definition:1|metrichub:1.0", "other": "other"},
    )


def study(**fields: Any) -> Study:
    data = {"name": "set", "title": "Sét"}
    study = study_of(
        agreement_of(), "m", spec="m(a=1)", data=data, references="each", date="2026-01-02"
    )
    return replace(study, **fields)


def test_a_study_has_the_values_of_its_metric_beside_ceiling_and_chance() -> None:
    assert study() == Study(
        spec="m(a=1)",
        signature="m|definition:1|metrichub:1.0",
        data={"name": "set", "title": "Sét", "systems": 2, "items": 3, "raters": 4,
              "sha256": "abc"},
        references="each",
        protocol="no named one",
        draw="items",
        draws=50,
        seed=7,
        confidence=0.9,
        date="2026-01-02",
        shown=True,
        results=(
            StudyValue("score", "d", "item", "tau_b", 0.1235, -0.5, None, 7, 2, 1, 0.8765, 0),
            StudyValue("part", "d", "item", "tau_b", 0.9877, -0.5, None, 7, 2, 1, 0.8765, 0),
            StudyValue("score", "e", "item", "tau_b", None, -0.5, None, 7, 2, 1, None, None),
        ),
    )  # fmt: skip


def test_a_study_takes_the_place_of_the_last_of_its_data_and_setting(tmp_path: Path) -> None:
    first, two = study(), study(spec="m")
    three = study(data={"name": "third"})
    assert [add_study(tmp_path, "m", of) for of in (first, two, three)] == [True] * 3
    assert read_studies(tmp_path) == (first, two, three)
    text = (tmp_path / FILE).read_text("utf-8")
    # The date and the versions of packages are no other numbers.
    for same in (study(date="2027-01-01"), study(signature="m|definition:1|metrichub:2.0")):
        assert not add_study(tmp_path, "m", same)
        assert (tmp_path / FILE).read_text("utf-8") == text
    for other in (
        study(spec="m", seed=8),
        study(spec="m", signature="m|definition:2|metrichub:1.0"),
        study(spec="m", results=first.results[:1]),
    ):
        assert add_study(tmp_path, "m", other)
        assert read_studies(tmp_path) == (first, other, three)


def test_a_file_of_studies_has_a_line_for_each_fact_and_value() -> None:
    text = studies_text("m", [study(), study(spec="m")])
    lines = text.splitlines()
    assert lines[:2] == ['{"schema": 1, "metric": "m", "studies": [', '{"spec": "m(a=1)",']
    assert lines[3].startswith('"data": {"name": "set", "title": "Sét", "systems": 2')
    at = lines.index('"results": [')
    outputs = [json.loads(line.rstrip(","))["output"] for line in lines[at + 1 : at + 4]]
    assert outputs == ["score", "part", "score"]
    assert (lines[at + 4], lines[at + 5], lines[-1]) == ("]},", '{"spec": "m",', "]}")
    first, second = json.loads(text)["studies"]
    assert (list(first), second["spec"]) == (list(vars(study())), "m")
    assert json.loads(studies_text("m", []))["studies"] == []
