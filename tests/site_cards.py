"""Cards of toy plugins for the tests of the cards' site, one of them hostile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metrichub.agreement.measured_studies import studies_text
from metrichub.catalog.registry import Entry
from metrichub.catalog.studies import FILE, Study, StudyValue

FRONT = """---
name: {name}
title: {title}
summary: {summary}
inputs: {inputs}
scores:
  score: {{range: [0, 1], better: {better}}}
tags: {tags}
license: MIT
{more}---
"""

# Sets a mark on the page that runs it; a page of the site must never have the mark.
RUN = "window.ran = 1"
HOSTILE = rf"""# Hostile <img src=x onerror="{RUN}">

<script>{RUN}</script>

## Heading <script>{RUN}</script> __search

<img src=x onerror="{RUN}"> <svg onload="{RUN}"><style>body{{display:none}}</style>
<iframe src="javascript:{RUN}"></iframe>

[script](javascript:{RUN}) [data](data:text/html,<script>{RUN}</script>)
[title](https://localhost "x\" onmouseover=\"{RUN}") <javascript:{RUN}>
![image](https://elsewhere.example/pixel.png)
[style](#) {{: onclick="{RUN}" style="position:fixed;inset:0" }}

{{{{ 7 * 7 }}}} {{% include "/etc/passwd" %}} --8<-- "/etc/passwd" :smile: [[wiki]] :::x

$\href{{javascript:{RUN}}}{{x}}$ $\text{{<img src=x onerror="{RUN}">}}$
$\style{{position:fixed}}{{y}}$

| <script>{RUN}</script> | `</code><script>{RUN}</script>` |
| --- | --- |
| </table><script>{RUN}</script> | &lt;script&gt;{RUN}&lt;/script&gt; |

```python {{onclick="{RUN}"}}
>>> "</code></pre><script>{RUN}</script>"
```

```"><script>{RUN}</script>
x
```

<!-- </script><script>{RUN}</script> --> searchablehostileword

## Citation

```bibtex
@misc{{x, title = {{"><script>{RUN}</script>}}}}
```
"""


def toy(  # noqa: PLR0913  # whatever a test changes of a card, by name
    site: Path,
    name: str,
    body: str = "",
    *,
    package: str = "toy_pack",
    distribution: str = "toy-dist",
    title: str = "Toy",
    summary: str = "A toy.",
    inputs: str = "[prediction]",
    better: str = "higher",
    tags: str = "{task: [testing], dimension: [novelty], family: toy}",
    more: str = "",
) -> Entry:
    """Write a toy's folder with its card, without any code; the entry that would name it."""
    folder = site / package / name
    folder.mkdir(parents=True)
    (site / package / "__init__.py").touch()
    front = FRONT.format(
        name=name, title=title, summary=summary, inputs=inputs, better=better, tags=tags, more=more
    )
    (folder / "README.md").write_text(front + (body or f"# {title}\n\n## Description\n"), "utf-8")
    return Entry(name, distribution, "1.0", f"{package}.{name}:Toy")


def study(*values: tuple[Any, ...], task: str = "testing", title: str = "toys") -> Study:
    """A study of (output, dimension, value) by tau-b of items, with a ceiling of .9."""
    results = tuple(
        StudyValue(output, dimension, "item", "tau_b", value, -0.1, 0.8, 9, 0, 0, 0.9, 0.0)
        for output, dimension, value in values
    )
    data = {"name": title, "title": title, "task": task, "systems": 2, "items": 9, "raters": 3}
    return Study(
        *("toy", "toy()", data, "no reference", "g-eval", "both"),
        *(1000, 12345, 0.95, "2026-01-01", True, results),
    )


def measured(entry: Entry, *studies: Study) -> Entry:
    """The entry, with studies beside its card."""
    (entry.folder / FILE).write_text(studies_text(entry.name, studies), encoding="utf-8")
    return entry


def hostile(site: Path) -> Entry:
    """A card whose every field tries to run something, and to read a file outside of its folder."""
    (site / "secret.md").write_text("the secret text", encoding="utf-8")
    entry = toy(
        site,
        "hostile",
        HOSTILE + "\n[out](../../secret.md) [up](../../../../../../etc/passwd)\n",
        package="toy_hostile",
        distribution="hostile-dist",
        title=f"'</title><script>{RUN}</script> \"onload=\"{RUN}'",
        summary=f"'\"><script>{RUN}</script> </script>'",
        inputs=f"['prediction<script>{RUN}</script>']",
        tags=(
            f"{{task: ['\"><script>{RUN}</script>'], dimension: ['\"> <img src=x onerror={RUN}>'],"
            f" family: '<script>{RUN}</script>', language: ['</script><script>{RUN}</script>']}}"
        ),
    )
    prompts = site / "toy_hostile" / "hostile" / "prompts"
    prompts.mkdir()
    (prompts / "ask.md").write_text(f"</pre><script>{RUN}</script>", encoding="utf-8")
    (prompts / "linked.md").symlink_to(site / "secret.md")
    attack = f"'\"><script>{RUN}</script>"
    result = study((attack, attack, 0.5), task=attack, title=attack)
    (prompts.parent / FILE).write_text(studies_text("hostile", [result]), encoding="utf-8")
    return entry
