"""One content, two forms: Markdown and a page that needs nothing else."""

import re

import pytest

from surefoot.pages import (
    Box,
    Command,
    Gallery,
    Heading,
    Paragraph,
    Picture,
    Points,
    Table,
    as_html,
    as_markdown,
    literal,
    worded,
)

PARTS = [
    Heading("Title <1>", 1),
    Paragraph("theta\\* & `a < b`"),
    Points(["one", "two"]),
    Table(("name", "number"), [("a", "1"), ("b", "")], marked=[1]),
    Picture("x.svg", b"<svg/>", "A picture"),
    Command(["surefoot reproduce all"]),
]


def test_markdown_has_every_part() -> None:
    text = as_markdown(PARTS, images="images/")
    assert text.startswith("# Title <1>\n\ntheta\\* & `a < b`\n\n- one\n- two\n\n")
    assert "| name | number |\n| --- | ---: |\n| a | 1 |\n| **b** |  |" in text
    assert "![A picture](images/x.svg)" in text
    assert text.endswith("```text\nsurefoot reproduce all\n```\n")


def test_the_page_escapes_what_is_text_and_embeds_what_is_not() -> None:
    page = as_html("T", PARTS)
    assert "<h1>Title &lt;1&gt;</h1>" in page
    assert "<p>theta* &amp; <code>a &lt; b</code></p>" in page
    assert '<tr class="marked"><td class="text">b</td><td></td></tr>' in page
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in page
    assert "<script" not in page


@pytest.mark.parametrize(
    "words", ["a|b", "`x` \\* y", "<b>&", "[a](b)", "# no", "- no", "1. no", "x_y_z", "$5", "\\\\"]
)
def test_literal_words_stand_as_they_are(words: str) -> None:
    shown = worded(literal(words))
    plain = re.sub("&(lt|gt|amp|quot|#x27);", lambda found: {"lt": "<", "gt": ">", "amp": "&"}[found[1]], shown)
    assert plain == words
    assert "<" not in shown
    assert not re.search(r"(?<!\\)[`|<\[]", literal(words).replace("\\\\", ""))


def test_what_acts_is_spelled_out() -> None:
    assert worded(literal("a\u202eb\nc")) == "a\\u202eb\\x0ac"


def test_a_picture_has_its_dark_form_and_a_table_its_heads_where_it_stacks() -> None:
    picture = Picture("x.svg", b"<svg/>", "A | picture", dark=b"<svg></svg>")
    page = as_html("T", [Gallery([picture]), Table(("a", "b"), [("1", "2")], stacks=True), Box(["yes", "so"], "good")])
    assert '<img class="light" alt="A | picture" src="data:image/svg+xml;base64,PHN2Zy8+">' in page
    assert '<img class="dark" alt="A | picture" src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=">' in page
    assert '<td class="text" data-head="a">1</td><td data-head="b">2</td>' in page
    assert '<div class="box good"><p>yes</p><p>so</p></div>' in page
    text = as_markdown([Gallery([picture]), Box(["yes", "so"])], images="")
    assert "](x.svg)" in text
    assert "> **yes**\n>\n> so" in text
