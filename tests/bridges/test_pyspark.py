"""A Spark frame, measured by real Python workers of Spark on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import metrichub
from metrichub import Hub, InputError, Report
from metrichub.bridges import pyspark as bridge
from tests.bridges import guide
from tests.bridges.hosts import needs
from tests.machines import OnMachines, Rows, rounded, rows, run_guide, table

pytestmark = needs("pyspark", "pyspark", "pyarrow")

from pyspark.sql import DataFrame, SparkSession  # noqa: E402  # after the skip

TYPES = "id string, `group` bigint, prediction string, refs array<string>, part bigint"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """Two workers that see the tests' own metrics, and try a task four times as clusters do."""
    paths = [str(Path(metrichub.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    variables = {"PYSPARK_PYTHON": sys.executable, "OPENBLAS_NUM_THREADS": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**variables, "PYTHONPATH": os.pathsep.join(paths).strip(":")}.items():
            patch.setenv(name, value)
        settings = {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.driver.memory": "1g",
        }
        session = SparkSession.builder.master("local[2,4]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def frame(spark: SparkSession, parts: Sequence[Rows]) -> DataFrame:
    """The rows, each part in a partition of its own, also the empty ones."""
    context = spark.sparkContext
    result = context.parallelize(list(enumerate(parts)), len(parts)).flatMap(
        lambda part: [(*row.values(), part[0]) for row in part[1]]
    )
    return spark.createDataFrame(result, TYPES)


@pytest.fixture(scope="class")
def session(request: pytest.FixtureRequest, spark: SparkSession) -> None:
    request.cls.spark = spark


@pytest.mark.usefixtures("session")
class TestSpark(OnMachines):
    """The claims, on Spark."""

    spark: SparkSession

    def evaluate(self, hub: Any, parts: Sequence[Rows], key: Any = "id", **options: Any) -> Report:
        return bridge.evaluate_dataframe(hub, frame(self.spark, parts), key, **options)


def test_the_partitions_are_those_of_the_tests(spark: SparkSession) -> None:
    result = frame(spark, [rows(3), [], rows(2, 3)]).rdd.glom().collect()
    assert [len(part) for part in result] == [3, 0, 2]


def test_names_with_dots_and_spaces_are_read(spark: SparkSession) -> None:
    from pyspark.sql import functions

    odd = frame(spark, [rows(4)]).select(
        functions.col("prediction").alias("my text"),
        functions.col("refs").alias("the.gold"),
        functions.col("id").alias("the`key"),
    )
    columns = {"predictions": "my text", "references": "the.gold"}
    report = bridge.evaluate_dataframe("bleu", odd, key="the`key", columns=columns)
    assert report["bleu"] == Hub("bleu").evaluate(rows(4))["bleu"]


def test_frames_of_any_origin_are_read(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow.parquet

    for i in range(2):
        pyarrow.parquet.write_table(table(rows(5, 5 * i)), tmp_path / f"{i}.parquet")
    report = bridge.evaluate_dataframe("bleu", spark.read.parquet(str(tmp_path)))
    assert report["bleu"] == Hub("bleu").evaluate(rows(10))["bleu"]


def test_a_hub_names_the_line_that_scores_a_frame(spark: SparkSession) -> None:
    message = r"bridges\.pyspark\.evaluate_dataframe\(hub, data, key='id'\)"
    with pytest.raises(InputError, match=message):
        Hub("bleu").evaluate(frame(spark, [rows(2)]))  # type: ignore[arg-type]  # on purpose


def test_other_data_is_refused() -> None:
    with pytest.raises(InputError, match=r"pass a pyspark\.sql\.DataFrame, not \[\]"):
        bridge.evaluate_dataframe("bleu", [])


def test_the_lines_of_the_guides_run(spark: SparkSession) -> None:
    inputs = frame(spark, [rows(3), rows(4, 3)])
    expected = rounded(Hub(["bleu", "rouge"])(rows(7)))
    for run in (guide.run, run_guide):
        assert rounded(run("bridges.pyspark", frame=inputs).scores()) == expected
