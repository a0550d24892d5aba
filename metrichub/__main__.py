"""`python -m metrichub`: the command line."""

from __future__ import annotations

import os
import sys


def start() -> None:
    """Run the command line; Ctrl-C ends it quietly even while its modules are imported."""
    # Numpy's threads wait for one another longer than the products of a comparison take.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from metrichub.cli import main
    except KeyboardInterrupt:
        sys.stderr.write("metrichub: interrupted\n")
        sys.exit(130)
    try:
        main(prog_name="metrichub")
    except SystemExit as end:
        if end.code == 130:
            # What was measured would be taken apart object by object, which takes seconds.
            sys.stdout.flush()
            os._exit(130)
        raise


if __name__ == "__main__":
    start()
