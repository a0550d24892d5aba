"""A card's Markdown as HTML: what is rendered, and what a hostile card can't do."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("markdown_it", reason="the extra site is not installed")
pytest.importorskip("mdit_py_plugins", reason="the extra site is not installed")
pytest.importorskip("nh3", reason="the extra site is not installed")
pytest.importorskip("latex2mathml", reason="the extra site is not installed")

from metrichub.report.html.markup import html, slug

# What a page would run, load or restyle if it ever stood in a tag.
ACTIVE = re.compile(
    r"<(?:script|style|iframe|object|embed|svg|img|form|input|link|meta|base)\b"
    r"|<[^>]*\s(?:on\w+|style|src|srcset|formaction|xlink:href)\s*="
    r"|<[^>]*(?:href|action)\s*=\s*[\"']?\s*(?:javascript|data|vbscript|file):",
    re.IGNORECASE,
)


def same(href: str) -> str:
    return href


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick=alert(1)>b</b>",
        "<!-- --><script>alert(1)</script><!-- -->",
        "<scr<!-- x -->ipt>alert(1)</scr<!-- x -->ipt>",
        "<!--> <img src=x onerror=alert(1)> -->",
        "<style>body{display:none}</style>",
        "<svg onload=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java&#115;cript:alert(1))",
        "[x](<java\tscript:alert(1)>)",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](vbscript:x)",
        "[x](file:///etc/passwd)",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        '[x](https://a "\\"onmouseover=alert(1)")',
        "![x](https://elsewhere/x.png)",
        "![x](x.png){onerror=alert(1)}",
        '![x"><script>alert(1)</script>](x.png)',
        "x {: onclick=alert(1) style=position:fixed }",
        "# x {onclick=alert(1)}",
        "```python {onclick=alert(1)}\nx\n```",
        '```"onclick="alert(1)\nx\n```',
        "```<script>\n</code></pre><script>alert(1)</script>\n```",
        "$\\href{javascript:alert(1)}{x}$",
        "$\\style{position:fixed}{x}$",
        "$\\text{<script>alert(1)</script>}$",
        "$\\text{</math><script>alert(1)</script>}$",
        "$\\text{<img src=x onerror=alert(1)>}$",
        "$$\\text{<mtext><style><img src=x onerror=alert(1)></style></mtext>}$$",
        "$<annotation-xml encoding='text/html'><script>alert(1)</script>$",
        "$</script><script>alert(1)$",
        "| <script>alert(1)</script> | $\\class{x}{y}$ |\n| --- | --- |\n| [x](javascript:x) | |",
    ],
)
def test_nothing_in_a_hostile_card_stays_active(text: str) -> None:
    assert not ACTIVE.search(html(text, same))


def test_a_link_that_comes_back_with_a_script_is_no_link() -> None:
    assert "javascript" not in html("[x](y)", lambda _: "javascript:alert(1)")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <unk> and <b>", "&lt;unk&gt; and &lt;b&gt;"),
        (
            "```python\n>>> 1 < 2\nTrue\n```",
            '<pre><code class="language-python">&gt;&gt;&gt; 1 &lt; 2\nTrue\n</code></pre>\n',
        ),
        ("![a < b](https://elsewhere/x.png)", "<p>a &lt; b</p>\n"),
        ("| a | b |\n| :-: | --: |\n| 1 | 2 |", '<td align="center">1</td>'),
        ("| a | b |\n| :-: | --: |\n| 1 | 2 |", '<td align="right">2</td>'),
        ("Let $x_1$ be", "<msub><mi>x</mi><mn>1</mn></msub>"),
        ("$$\\frac{a}{b}$$", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        # A formula may be displayed on lines of its own and within a paragraph.
        ("so:\n\n$$x$$", '<math display="block">'),
        ("so that $$x$$ holds", '<math display="block">'),
        ("`$x$`", "<code>$x$</code>"),
        ("$$\n\\nosuchcommand\n$$", "<pre><code>\\nosuchcommand</code></pre>"),
    ],
)
def test_a_part_of_a_card_is_shown(text: str, shown: str) -> None:
    assert shown in html(text, same)


def test_comments_vanish_outside_of_code() -> None:
    page = html(
        "<!-- generated: bounds -->\n| a |\n| --- |\n| 1 |\n<!-- end -->\n\nb <!-- c\n\nd --> e\n\n"
        "`<!-- f -->`\n\n```html\n<!-- g -->\n```\n\nstray ` tick\n\n<!-- h -->\n\nother ` tick",
        same,
    )
    assert "<td>1</td>" in page
    assert re.findall(r"&lt;!-- (\w)", page) == ["f", "g"]
    assert "generated" not in page


def test_the_fold_around_other_tasks_vanishes() -> None:
    fold = "<details><summary>Other tasks: a</summary>\n\n{}\n\n</details>\n"
    assert html(fold.format("x"), same).strip() == "<p>x</p>"


def test_headings_have_ids_that_differ() -> None:
    page = html("## Limitations and bias\n\n## Limitations and bias", same)
    assert re.findall(r'id="(.*?)"', page) == ["limitations-and-bias", "limitations-and-bias-1"]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [("Agreement with people", "agreement-with-people"), ("__search", "search"), ("!?", "section")],
)
def test_a_heading_s_id_is_its_words(heading: str, expected: str) -> None:
    assert slug(heading) == expected


def test_links_get_the_address_that_the_caller_gives() -> None:
    assert 'href="../rouge/"' in html(
        "[ROUGE](../rouge/README.md)", lambda href: href.replace("README.md", "")
    )


def test_a_dropped_link_leaves_its_text() -> None:
    page = html("a [*b* c](../../etc/passwd) [d](e)", lambda href: None if ".." in href else href)
    assert "a <em>b</em> c <a" in page
    assert page.count("<a ") == page.count("</a>") == 1


@pytest.mark.parametrize("text", ["from $5 to $6", "1$x$2", "an \\$x$ escaped"])
def test_a_sum_of_money_is_no_formula(text: str) -> None:
    assert "<math" not in html(text, same)


@pytest.mark.parametrize(
    "tex", ["\\frac{a", "\\nosuchcommand{x}", "x^", "a^b^c", "}", "\\left(", "{" * 5000]
)
def test_broken_tex_is_shown_as_code(tex: str) -> None:
    page = html(f"a ${tex}$ b", same)
    assert f"a <code>{tex}</code> b" in page
    assert "<math" not in page


def test_a_card_of_comments_that_never_end_is_shown_in_linear_time() -> None:
    # A search from every start to the end would take minutes.
    assert html("<!--" * 50_000, same).count("&lt;!--") == 50_000
