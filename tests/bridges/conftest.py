"""What tests of several bridges take: modules of Hugging Face evaluate that they write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HEAD = """
import datasets
import evaluate
{imports}

class {kind}(evaluate.{base}):
    def _info(self):
        return evaluate.{base}Info(
            description="Counts wrong words. It is a test.",
            citation="@misc{{key, title={{A module}}}}",
            inputs_description="",
            license="MIT",
            features={features},
        )

    def _compute(self, {arguments}):
"""
ONE = 'datasets.Features({k: datasets.Value("string") for k in ("predictions", "references")})'

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes a module of evaluate into a folder, and gives the folder's path."""
    import evaluate

    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def module(
        name: str,
        *body: str,
        features: str = ONE,
        arguments: str = "predictions, references",
        imports: str = "",
        base: str = "Metric",
    ) -> str:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        head = HEAD.format(
            kind=name.title().replace("_", ""),
            features=features,
            arguments=arguments,
            imports=imports,
            base=base,
        )
        code = head + "\n".join(f"        {line}" for line in body) + "\n"
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        return str(folder)

    yield module
    for name in set(sys.modules) - before:
        if name.startswith("evaluate_modules"):
            del sys.modules[name]
