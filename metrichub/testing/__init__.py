"""For tests: the contract that every metric keeps, and judges whose answers are given."""

from metrichub.judge.scripted import Recorded, Scripted
from metrichub.testing.contract import Finding, MetricContract, check, update_card

__all__ = ["Finding", "MetricContract", "Recorded", "Scripted", "check", "update_card"]
