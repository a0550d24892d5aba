"""What a site is built from: the version of metrichub, and its repository if one is known."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from metrichub import SiteError

DISTRIBUTION = "metrichub"
# How each host shows a file of the newest commit.
_FILES = {
    "github.com": "/blob/HEAD/",
    "gitlab.com": "/-/blob/HEAD/",
    "bitbucket.org": "/src/HEAD/",
}
# The labels that PyPI knows for it, in small letters without signs.
_LABELS = ("source", "repository", "sourcecode", "github")


@dataclass(frozen=True)
class BuildInfo:
    """A build: its version, its repository's address or "", and whether others lie beside it."""

    version: str
    repository: str = ""
    beside: bool = False

    @classmethod
    def installed(cls, repository: str | None = None, *, beside: bool = False) -> BuildInfo:
        """That of the installed distribution; its metadata name the repository where nobody does.

        Raises:
            SiteError: `repository` isn't an address of the web.
        """
        from importlib.metadata import metadata

        known = metadata(DISTRIBUTION)
        address = _named(known.get_all("Project-URL") or []) if repository is None else repository
        if address and urlsplit(address).scheme not in ("http", "https"):
            raise SiteError(
                f"{address!r} isn't the address of a repository; give one with https://"
            )
        return cls(known["Version"], address.rstrip("/").removesuffix(".git"), beside)

    @property
    def repository_name(self) -> str:
        """What the link to the repository says: its owner and name."""
        return "/".join(urlsplit(self.repository).path.strip("/").split("/")[-2:]) or "Repository"

    def source(self, path: str) -> str:
        """The address of a file of the repository, or "" where nobody knows how it is shown."""
        between = _FILES.get(urlsplit(self.repository).hostname or "")
        return f"{self.repository}{between}{quote(path)}" if between and path else ""


def _named(urls: list[str]) -> str:
    """The repository among the addresses of a distribution, each "label, address"."""
    addresses = {}
    for line in urls:
        label, _, address = line.partition(",")
        addresses["".join(filter(str.isalnum, label.lower()))] = address.strip()
    return next((addresses[label] for label in _LABELS if label in addresses), "")
