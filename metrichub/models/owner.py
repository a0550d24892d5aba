"""Who asks for an answer: a process of this machine, which may have ended."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from uuid import uuid4

_APART = "/"


def new_owner() -> str:
    """A name of its own for what claims answers, with the process and the machine it is in."""
    return _APART.join((uuid4().hex, str(os.getpid()), platform.node()))


def has_ended(owner: str) -> bool:
    """Whether the process of an owner is known to have ended; one elsewhere isn't known of."""
    _, _, rest = owner.partition(_APART)
    process, _, machine = rest.partition(_APART)
    # On Windows a signal would end the process instead of looking for it.
    if os.name == "nt" or machine != platform.node() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        # It is another user's.
        return False
    return _is_zombie(int(process))


def _is_zombie(process: int) -> bool:
    """Whether a process was ended and its parent hasn't taken note, as far as Linux says."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[:1] == ["Z"]
