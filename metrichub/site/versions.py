"""Sites of several versions side by side: a folder each, and a list that their pages offer."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from metrichub.site.build import Built, build_site, is_site
from metrichub.site.build_info import BuildInfo

LIST = "versions.json"
# What marks a folder as one of versions: a site of one version would replace them all.
_MARK = ".metrichub-versions"
_START = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>metrichub</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">metrichub {newest}</a>
"""


def build_version(out: Path, info: BuildInfo, **options: Any) -> Built:
    """Build the site of a version in a folder of `out` that has its name, beside other versions.

    The file versions.json lists the versions, the newest first, and index.html leads to the newest
    that isn't a pre-release. Takes the other options of `build_site`.

    Raises:
        FileExistsError: `out` holds something other than such a folder.
        SiteError: as `build_site`.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / _MARK).exists():
        raise FileExistsError(
            errno.EEXIST, "has no versions of a site; choose an empty or a new folder", str(out)
        )
    built = build_site(out / info.version, info=info, **options)
    (out / _MARK).touch()
    known = _versions(out)
    newest = next((name for name in known if not Version(name).is_prerelease), known[0])
    listed = [
        {"version": name, "title": name, "aliases": ["latest"] * (name == newest)} for name in known
    ]
    (out / LIST).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (out / "index.html").write_text(_START.format(newest=newest), encoding="utf-8")
    return built


def _versions(out: Path) -> list[str]:
    """The names of the folders with a site of a version, the newest first."""
    versions = {}
    for folder in out.iterdir():
        try:
            version = Version(folder.name)
        except InvalidVersion:
            continue
        if is_site(folder):
            versions[folder.name] = version
    return sorted(versions, key=lambda name: versions[name], reverse=True)
