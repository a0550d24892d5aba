"""The contract that every metric keeps, for the tests of whoever writes one."""

from metrichub.testing.contract import Finding, MetricContract, check, update_card

__all__ = ["Finding", "MetricContract", "check", "update_card"]
