"""unbabel-comet's scores and seconds, run by an interpreter that has it; `benchmarks.neural` does.

    python benchmarks/official_comet.py CHECKPOINT SAMPLES REPEATS

SAMPLES is a file of JSON, a list of objects with `src`, `mt` and `ref`.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from pathlib import Path


def main(checkpoint: str, samples: str, repeats: str) -> None:
    """Print the scores, and the fastest run's seconds of the processor, as JSON."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    from comet import load_from_checkpoint

    model = load_from_checkpoint(checkpoint, local_files_only=True)
    rows = json.loads(Path(samples).read_text(encoding="utf-8"))

    def predict(part: list[dict[str, str]]) -> list[float]:
        # As the program's own command runs it on a processor, in this process alone.
        result = model.predict(part, batch_size=16, gpus=0, progress_bar=False, num_workers=1)
        return [float(score) for score in result.scores]

    predict(rows[:16])
    seconds, scores = [], []
    for _ in range(int(repeats)):
        start = time.process_time()
        scores = predict(rows)
        seconds.append(time.process_time() - start)
    print(json.dumps({"seconds": min(seconds), "scores": scores}))


if __name__ == "__main__":
    main(*sys.argv[1:])
