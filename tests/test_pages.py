"""One content, two forms: Markdown and a page that needs nothing else."""

from surefoot.pages import Command, Heading, Paragraph, Picture, Points, Table, as_html, as_markdown

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
