"""The README's generated tables: each lies between two markers of its own."""

import os
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def put_into_readme(name: str, text: str) -> None:
    """The README holds the text between the markers of that name."""
    put_into(name, text, README)


def put_into(name: str, text: str, page: Path) -> None:
    """The page holds the text between the markers of that name; written beside it first, then moved into place."""
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, _, rest = page.read_text("utf-8").partition(start)
    _, _, after = rest.partition(end)
    fresh = page.with_suffix(".fresh")
    fresh.write_text(f"{before}{start}\n{text}\n{end}{after}", "utf-8")
    os.replace(fresh, page)
