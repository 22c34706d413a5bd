"""Every equation label that the code cites stands in the documents, and every one that they define is cited."""

import re
from pathlib import Path

import surefoot

PACKAGE = Path(surefoot.__file__).parent
DOCUMENTS = [PACKAGE.parent.parent / "docs" / name for name in ("math.md", "studies.md")]

ONE = r"[ACEFGOSTW]\d'?"
BRACKET = re.compile(rf"\(({ONE}(?:\s*(?:,|-|and|to)\s*{ONE})*)\)")
RANGE = re.compile(rf"\(({ONE})\)(?:-| to )\(({ONE})\)")


def spread(first: str, last: str) -> list[str]:
    """The labels from first to last, such as S1, S2, S3."""
    assert first[0] == last[0], f"a range from {first} to {last}"
    return [f"{first[0]}{number}" for number in range(int(first[1]), int(last[1]) + 1)]


def labels_in(text: str) -> set[str]:
    """All labels that the text cites, ranges and lists spread out."""
    found: set[str] = set()
    for first, last in RANGE.findall(text):
        found |= set(spread(first, last))
    for inside in BRACKET.findall(text):
        for item in re.split(r"\s*(?:,|and)\s*", inside):
            ends = re.split(r"\s*(?:-|to)\s*", item)
            found |= set(spread(*ends)) if len(ends) == 2 else {item}
    return found


def cited() -> dict[str, list[str]]:
    """Each label with the files that cite it."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for label in labels_in(path.read_text()):
            found.setdefault(label, []).append(path.relative_to(PACKAGE).as_posix())
    return found


def defined() -> set[str]:
    """The labels that the documents define: in bold, at the start of their paragraph."""
    found: set[str] = set()
    for document in DOCUMENTS:
        found |= set(re.findall(rf"\*\*\(({ONE})\)", document.read_text()))
        found |= set(re.findall(rf"^#+ .*\(({ONE})\)", document.read_text(), re.MULTILINE))
    return found


def test_lists_and_ranges_are_read() -> None:
    assert labels_in("(G1), (E1, E2) and (S1-S3), (G5, G5'), (T1) to (T3)") == {
        "G1", "E1", "E2", "S1", "S2", "S3", "G5", "G5'", "T1", "T2", "T3",
    }  # fmt: skip
    assert labels_in("f(E1x), (a), (b)") == set()


def test_every_label_in_the_code_is_defined_in_the_documents() -> None:
    unknown = {label: files for label, files in cited().items() if label not in defined()}
    assert not unknown


def test_every_label_of_the_documents_is_cited_in_the_code() -> None:
    assert defined() - set(cited()) == set()


def test_the_documents_define_all_labels_of_the_system() -> None:
    expected = {f"E{n}" for n in range(1, 6)} | {f"S{n}" for n in range(5)} | {f"G{n}" for n in range(1, 7)} | {"G5'"}
    expected |= {f"T{n}" for n in range(1, 10)} | {f"A{n}" for n in range(1, 4)}
    assert defined() >= expected
