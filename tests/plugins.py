"""Distributions for tests, written to a folder that a fresh process has on its path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

CARD = """---
name: {name}
title: {name}
summary: A metric for a test.
inputs: [prediction]
scores:
  score: {{range: [0, 1], better: higher}}
tags: {{task: [testing], dimension: [novelty], family: toy}}
license: MIT
---

# {name}
"""
CODE = """
from dataclasses import dataclass
from metrichub.metric import Metric

@dataclass(frozen=True, kw_only=True)
class Toy(Metric):
    def observe(self, prediction: str) -> float:
        return float(len(prediction) > 0)
"""


def distribution(
    site: Path, name: str, entries: Sequence[str], group: str = "metrichub.metrics"
) -> None:
    """Register entry points, "shout = pack.shout:Toy", for a distribution that isn't there."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{entry}\n" for entry in entries)
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")


def metric(site: Path, package: str, name: str, *, card: str = CARD, code: str = CODE) -> None:
    """Write the folder of a metric: its code and its card."""
    folder = site / package / name
    folder.mkdir(parents=True)
    (site / package / "__init__.py").touch()
    (folder / "__init__.py").write_text(code)
    (folder / "README.md").write_text(card.format(name=name))


def environment(*sites: Path, **more: str) -> dict[str, str]:
    """The environment of a process that finds what stands in these folders."""
    path = [*map(str, sites), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **more}
