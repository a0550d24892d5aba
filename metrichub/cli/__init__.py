"""The command line: which commands there are, without importing any of them."""

from __future__ import annotations

from metrichub.cli.program import EXIT_STATUS, Program

__all__ = ["main"]

# In the order in which a newcomer needs them: where each is, and its line in --help.
_COMMANDS = {
    "score": ("metrichub.cli.score:score", "Score files of samples."),
    "compare": ("metrichub.cli.compare:compare", "Test systems against a baseline."),
    "agreement": (
        "metrichub.agreement.commands:agreement",
        "Measure how well metrics agree with people.",
    ),
    "criteria": ("metrichub.cli.criteria:criteria", "Propose criteria for each row, to be edited."),
    "list": ("metrichub.cli.browse:list_", "List the installed metrics, or search them."),
    "card": ("metrichub.cli.browse:card", "Show a metric's card."),
    "cite": ("metrichub.cli.browse:cite", "Print the BibTeX of metrics."),
    "new": ("metrichub.cli.author:new", "Write a new metric or plugin."),
    "check": ("metrichub.testing.commands:check", "Run the contract tests on metrics."),
    "doctor": ("metrichub.cli.doctor:doctor", "Check the installation."),
    "cache": ("metrichub.cli.cache:cache", "Show, merge or clear stored answers of judges."),
    "serve": ("metrichub.app.commands:serve", "Browse and try the metrics in a browser."),
    "site": ("metrichub.site.commands:site", "Build the site of all cards, or serve it."),
}


_HELP = """Score generated text: every metric in one call, each with its card.

Start with: metrichub score outputs.jsonl -m bleu -m rouge
"""

main = Program("metrichub", table=_COMMANDS, help=_HELP, epilog=EXIT_STATUS)
