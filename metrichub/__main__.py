"""`python -m metrichub`: the command line."""

from __future__ import annotations

from metrichub.cli import main

main(prog_name="metrichub")
