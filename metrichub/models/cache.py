"""Where calls and models are kept."""

from __future__ import annotations

import os


def cache_folder() -> str:
    """Where calls and models are kept: METRICHUB_CACHE, or else the platform's place for it."""
    import platformdirs

    return os.environ.get("METRICHUB_CACHE") or platformdirs.user_cache_dir("metrichub")
