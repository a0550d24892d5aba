"""A program that compares expressions: `comparer.py SECONDS BYTES`, a pair a line of JSON.

Each comparison runs in a fork of this process, so that one that takes more than so many seconds of
the processor, or too much memory, ends with the fork; the next fork is there at once, with sympy
loaded. It imports nothing of metrichub.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import signal
import sys
from itertools import product
from typing import Any, TextIO

IDLE = 60.0
"""Seconds without a comparison after which the program ends."""
DEEPEST = 200
"""Braces in each other that are parsed."""
BITS = 100_000.0
"""How large an integer may get."""
TERMS = 1000
"""The highest power of a sum, and the most terms of a series."""
_MARKER = re.compile(r"####|answer", re.IGNORECASE)
_WARM = (
    ("$x^2-1$", "$(x-1)(x+1)$"),
    ("$\\sin^2 x+\\cos^2 x$", "$1$"),
    ("$1<x<2$", "$(1,2)$"),
    ("3.14159", "$\\frac{\\pi}{2}$"),
)


def verdict(
    reference: str, prediction: str, options: dict[str, Any]
) -> tuple[bool | None, tuple[bool, bool]]:
    """Whether math-verify finds them equivalent, and whether each was read in part or not at all.

    The first is None if that is too much to decide.
    """
    from math_verify import parse, verify

    if max(map(_depth, (reference, prediction))) > DEEPEST:
        return None, (False, False)
    undecided = False
    expected, answer = (parse(text, parsing_timeout=None) for text in (reference, prediction))
    unread = _is_unread(reference, expected), _is_unread(prediction, answer)
    for gold, target in product(expected, answer):
        try:
            if _is_large(gold) or _is_large(target):
                undecided = True
            elif verify(gold, target, timeout_seconds=None, raise_on_error=True, **options):
                return True, unread
        except (MemoryError, RecursionError):
            undecided = True
        # What math-verify fails at counts as different, as it does there.
        except Exception:  # noqa: BLE001
            continue
    return None if undecided else False, unread


def _is_unread(text: str, parsed: list[Any]) -> bool:
    """Whether no expression was read of a text, or one that lacks digits of its answer."""
    if all(isinstance(item, str) for item in parsed):
        return True
    # Of a formula, only units are left out.
    if "$" in text or "\\" in text:
        return False
    return _digits(_MARKER.split(text)[-1]) != _digits(parsed[-1])


def _digits(text: str) -> str:
    return re.sub(r"[^0-9.]", "", text).strip("0.")


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return deepest


def _is_large(expression: Any) -> bool:
    """Whether an expression would have too large numbers or too many terms if it was evaluated."""
    import sympy

    if not isinstance(expression, sympy.Basic):
        return False
    for node in sympy.preorder_traversal(expression):
        if isinstance(node, (sympy.Sum, sympy.Product)):
            spans = [limits[2] - limits[1] for limits in node.limits if len(limits) == 3]
            if any(_bits(span) > math.log2(TERMS) for span in spans):
                return True
        elif isinstance(node, (sympy.Pow, sympy.MatPow)) and not _is_atom(node.base):
            if _bits(node.exp) > math.log2(TERMS):
                return True
        elif _bits(node) > BITS:
            return True
    return False


def _is_atom(base: Any) -> bool:
    return bool(getattr(base, "is_Symbol", False) or getattr(base, "is_number", False))


def _bits(node: Any) -> float:
    """About the logarithm to base 2 of a number's value, never evaluated; 0 if it isn't known."""
    import sympy

    if node.is_Integer:
        return float(int(node).bit_length())
    if node.is_Rational:
        return float(max(node.p.bit_length(), node.q.bit_length()))
    if node.is_Number:
        value = abs(float(node))
        return math.log2(value + 1) if math.isfinite(value) else 0.0
    parts = [_bits(part) for part in node.args if isinstance(part, sympy.Basic)]
    if isinstance(node, sympy.Pow):
        return parts[0] * math.pow(2, min(parts[1], 60))
    if isinstance(node, (sympy.factorial, sympy.binomial, sympy.gamma)):
        return math.pow(2, min(parts[0], 60))
    if isinstance(node, (sympy.Add, sympy.Mul)):
        return sum(parts)
    return 0.0


def serve(seconds: float, replies: TextIO) -> None:
    """Answer each line; a comparison that takes too long ends the process."""
    while line := _next_line():
        number, reference, prediction, options = json.loads(line)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            equal, unread = verdict(reference, prediction, options)
        except (MemoryError, RecursionError):
            equal, unread = None, (False, False)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps([number, equal, unread]), file=replies, flush=True)


def _next_line() -> str:
    """The next line, which is read in whole and nothing after it; none after a while."""
    if hasattr(os, "fork"):
        import select

        if not select.select([sys.stdin], [], [], IDLE)[0]:
            return ""
    return sys.stdin.readline()


def main(seconds: float, memory: int) -> None:
    """Answer until nobody asks."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    logging.disable(logging.CRITICAL)
    if sys.platform == "linux":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        memory = memory if most == resource.RLIM_INFINITY else min(memory, most)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # What these load and remember, every fork has.
    for pair in _WARM:
        verdict(*pair, {})
    print("ready", file=replies, flush=True)
    if not hasattr(os, "fork"):
        serve(seconds, replies)
        return
    while True:
        child = os.fork()
        if not child:
            serve(seconds, replies)
            os._exit(0)
        if not os.waitpid(child, 0)[1]:
            return
        print("null", file=replies, flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
