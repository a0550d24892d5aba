"""What the Markdown of the site's pages adds, and what no author gets through it."""

from __future__ import annotations

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from markdown import markdown

from metrichub.site.markdown_rules import TAGS, MarkdownRules


def html(text: str) -> str:
    extensions = [
        *("def_list", "tables", "pymdownx.arithmatex", "pymdownx.highlight"),
        *("pymdownx.superfences", MarkdownRules()),
    ]
    configs = {"pymdownx.arithmatex": {"generic": True}}
    return markdown(text, extensions=extensions, extension_configs=configs)


@pytest.mark.parametrize(
    "text",
    [
        "<script>window.ran = 1</script>",
        'x <img src="x" onerror="f()"> <b>y</b>',
        "<div markdown>\n\n*x*\n\n</div>",
        "<svg onload=f()><style>a{}</style>",
    ],
)
def test_html_stays_text(text: str) -> None:
    shown = html(text)
    assert "&lt;" in shown
    assert not any(f"<{tag}" in shown for tag in ("script", "img", "b>", "div", "svg", "style"))


@pytest.mark.parametrize("address", ["javascript:f()", "JavaScript:f()", "data:text/html,x", "x:y"])
def test_a_link_leads_to_a_file_or_the_web_or_nowhere(address: str) -> None:
    assert html(f"[x]({address})") == "<p><a>x</a></p>"
    assert html(f"[x][1]\n\n[1]: {address}") == "<p><a>x</a></p>"
    assert "href" not in html(f"<{address}>")


@pytest.mark.parametrize("address", ["https://a.example/b?c#d", "../b/README.md#c", "#c"])
def test_other_links_are_kept(address: str) -> None:
    assert html(f"[x]({address})") == f'<p><a href="{address}">x</a></p>'


@pytest.mark.parametrize("address", ["https://a.example/b.png", "//a.example/b.png", "/b.png"])
def test_a_picture_from_elsewhere_is_its_description(address: str) -> None:
    assert html(f"![a cat]({address})") == "<p><span>a cat</span></p>"


def test_a_picture_of_the_site_is_shown() -> None:
    assert html("![a](assets/b.png)") == '<p><img alt="a" src="assets/b.png" /></p>'


def test_formulas_are_mathml() -> None:
    shown = html("The $\\frac{a}{b}$ of\n\n$$\\sum_i x_i$$\n")
    assert "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>" in shown
    assert '<math display="block">' in shown
    assert "arithmatex" not in shown


@pytest.mark.parametrize(
    "tex", ["\\href{javascript:f()}{x}", "\\text{<img src=x onerror=f()>}", "\\style{color:red}{y}"]
)
def test_a_formula_sets_no_link_no_tag_and_no_style(tex: str) -> None:
    shown = html(f"${tex}$")
    assert not any(bad in shown for bad in ("href=", "<img", "style="))


def test_what_looks_like_a_formula_in_code_is_code() -> None:
    assert "<math" not in html("`$x$` and\n\n```\n$y$\n```\n")


def test_comments_vanish_but_not_from_code() -> None:
    shown = html("a <!-- b\n\nc --> d\n\n```\n<!-- e -->\n```\n")
    assert "b" not in shown.partition("<pre")[0]
    assert "<!-- e -->" in shown.replace("&lt;", "<").replace("&gt;", ">")


def test_an_example_of_a_docstring_is_highlighted_to_its_blank_line() -> None:
    shown = html("Text.\n\n>>> f(\n...     1)\n2\n\nMore.")
    assert "<blockquote" not in shown
    code = shown[shown.index("<code") : shown.index("</code>")]
    assert 'class="gp"' in code
    assert "2" in code
    assert "<p>More.</p>" in shown


def test_an_example_in_a_fence_has_one_block() -> None:
    shown = html("```python\n>>> 1\n1\n\n>>> 2\n2\n```\n")
    assert shown.count("<pre") == 1
    assert shown.count('<span class="gp">') == 2


def test_the_place_of_the_tags_is_kept_for_the_generator() -> None:
    assert html(TAGS) == TAGS


def test_tables_of_other_tasks_fold() -> None:
    shown = html("<details><summary>Other tasks: a, b</summary>\n\n### A\n\nx\n\n</details>\n")
    assert shown.startswith("<details><summary>Other tasks: a, b</summary>\n<h3>A</h3>")
    assert shown.rstrip().endswith("</details>")
    assert "<details" not in html("<details><summary>Other tasks: <b></summary>\n")
