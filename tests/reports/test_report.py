"""The report of a study: the answer first, nothing cut off or from elsewhere, no word of a user taken for more."""

import csv
import json
import re
import sys
import warnings
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.reports import write_report, writing

sys.path.insert(0, str(Path(__file__).parent))
from browsers import measured

EVIL = "<script>alert(1)</script>|`x`[a](javascript:alert(1))![i](http://evil.example/x.png)&\"'$y_1$"
WORSE = "<img src=x onerror=alert(1)> | spilled"


def pumps(*names: str, limit: str = "pressure", **changes: Any) -> sf.Problem:
    features = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.4]]
    return sf.Problem(
        dict(zip(names, features, strict=False)), sf.Reward(noise=0.5),
        [sf.Limit(limit, at_most=8.0, baseline=5.0, noise=0.3)],
        **{"safe_level": 0.2, "epsilon": 0.15, "delta": 0.05, "delta_safety": 0.05, **changes},
    )  # fmt: skip


def driven(study: sf.Study, most: int = 1_000) -> sf.Study:
    world = sf.worlds.Linear.for_problem(study.problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    while not study.stopped and study.pulls < most:
        pull = study.ask()
        study.tell(pull, **world.measure(pull, seed=7))
    return study


@pytest.fixture(scope="module")
def studies() -> Iterator[dict[str, sf.Study]]:
    """One that has ended, one with hostile words and everything that can happen, and one that has not begun."""
    ended = driven(sf.create_study(pumps("pump A", "pump B", "both"), name="ended", storage="memory", seed=7))
    hostile = sf.create_study(
        pumps(EVIL, "A" * 150, "日本 pump", limit="pres<b>|sure"), name="<i>&study|", storage="memory", seed=7
    )
    driven(hostile, 30)
    hostile.correct(3, reward=0.1, reason=WORSE, by="<b>Ann|")
    hostile.void(5, reason="`code` " + WORSE, by="Bob")
    hostile.freeze("it smelled | <odd>", by="<i>Eve</i>")
    fresh = sf.create_study(pumps("pump A", "pump B", "both"), name="fresh", storage="memory", seed=7)
    yield {"ended": ended, "hostile": hostile, "fresh": fresh}
    for study in (ended, hostile, fresh):
        sf.delete_study(study.name, "memory")


class Page(HTMLParser):
    """The tags, attributes and words of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def written(study: sf.Study, folder: Path, ending: str = "html") -> str:
    (place, *_) = write_report(study, folder / f"report.{ending}")
    return place.read_text("utf-8")


def test_the_answer_and_its_promise_come_first(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    study = studies["ended"]
    certificate = study.certificate
    assert certificate is not None
    words = " ".join("".join(Page(written(study, tmp_path)).words).split())
    head = words[: words.index("In pictures")]
    assert head.index("Best: pump A at level") < head.index(certificate.statement) < head.index("What to expect")
    for section in ("What is promised", "What it rests on", "Corrections and alarms", "Trials"):
        assert section in words
    for assumption in certificate.assumptions:
        assert assumption in words
    for note in certificate.data:
        assert note in words
    assert f"--head {study.head}" in words
    assert "None: no alarm, nothing corrected" in words


def test_every_trial_is_in_the_table(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    study = studies["ended"]
    rows = re.findall(r'data-head="trial">(\d+)</td>', written(study, tmp_path))
    assert list(map(int, rows)) == list(range(1, study.pulls + 1))


@pytest.mark.parametrize("count", [1_200, 1_201])
def test_of_many_trials_all_can_be_read_and_of_very_many_the_way_to_them_is_named(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table ends at the last thousand; the others are lines, or named with the command that writes them."""
    monkeypatch.setattr(writing, "LISTED", 1_200)
    problem = pumps("pump A", "pump, B", "`both` <b>")
    study = sf.create_study(problem, name=f"many {count}", storage="memory", seed=7)
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    draws = np.random.default_rng(3).standard_normal((count, 2))
    rows = []
    for k, (reward, pressure) in enumerate(draws.tolist()):
        value, danger = world.means(k % 3, 0.2)
        reading = float(problem.safety[0].reading(danger)) + 0.3 * pressure
        rows.append({"arm": problem.names[k % 3], "level": 0.2, "reward": value + 0.5 * reward, "safety": reading})
    study.add(rows, order="fixed beforehand", not_because_of_result=True)
    page, plain = written(study, tmp_path), written(study, tmp_path, "md")
    shown = list(map(int, re.findall(r'data-head="trial">(\d+)</td>', page)))
    assert shown == list(range(count - 999, count + 1))
    command = f"surefoot study history 'many {count}' --out trials.csv"
    assert command in unescape(page)
    assert command in plain
    listed = re.findall(r'<details class="listing">.*?<pre>(.*?)</pre>', page, flags=re.DOTALL)
    if count > writing.LISTED:
        assert not listed
        return
    lines = list(csv.reader(unescape(listed[0]).splitlines()))
    assert lines[0] == ["trial", "option", "level", "reward", "pressure", "state", "remarks"]
    assert [(int(line[0]), line[1]) for line in lines[1:]] == [(k + 1, problem.names[k % 3]) for k in range(count)]
    assert unescape(listed[0]) in plain


def test_the_page_needs_nothing_else(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    for name, study in studies.items():
        folder = tmp_path / name
        folder.mkdir()
        page = Page(written(study, folder))
        assert not {"script", "link", "iframe", "object", "embed", "base", "form", "a"} & set(page.tags)
        assert [path.name for path in folder.iterdir()] == ["report.html"]
        for attribute, value in page.attributes:
            assert not attribute.startswith("on")
            if attribute in ("src", "srcset", "href", "data"):
                assert value.startswith("data:image/svg+xml;base64,")


def test_words_of_users_are_words(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    text = written(studies["hostile"], tmp_path)
    page = Page(text)
    words = "".join(page.words)
    for told in (EVIL, WORSE, "A" * 150, "pres<b>|sure", "<i>&study|", "it smelled | <odd>", "`code`", "日本 pump"):
        assert told in words
    assert page.tags.count("b") == page.tags.count("i") == 0
    assert page.tags.count("code") == 0
    assert page.tags.count("img") == 10


def test_markdown_keeps_its_tables_and_names_its_pictures(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    text = written(studies["hostile"], tmp_path, "md")
    for line in text.splitlines():
        if line.startswith("|"):
            cells = len(re.findall(r"(?<!\\)\|", line)) - 1
            assert cells in (2, 4, 7)
    text = re.sub(r"^```text\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)  # what is in code stays as it is
    assert not re.search(r"(?<!\\)<(script|img|b|i)", text)
    assert not re.search(r"(?<!\\)\]\((?!report-)", text)
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["report.md", *set(pictures)])
    assert len(pictures) == 5


def test_a_study_that_stands_still_says_so_first(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    words = " ".join("".join(Page(written(studies["hostile"], tmp_path)).words).split())
    head = words[: words.index("In pictures")]
    assert "No answer yet" in head
    assert "Stopped by <i>Eve</i>: it smelled | <odd>" in head
    assert "Best:" not in head


def test_a_study_that_has_not_begun_has_a_report_without_pictures(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    text = written(studies["fresh"], tmp_path)
    assert "<img" not in text
    assert "No answer yet" in text
    assert "None yet." in text


def test_an_alarm_is_what_the_report_begins_with(tmp_path: Path) -> None:
    study = sf.create_study(pumps("a", "b"), name="alarmed", storage="memory", seed=7, alarm_level=0.9)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sf.errors.ModelAlarm)
            for _ in range(400):
                pull = study.ask()
                study.tell(pull, reward=0.3 + (-1) ** pull.number * 1.5, safety=5.0 + 2.0 * pull.level, confirm=True)
                if study.frozen:
                    break
        assert study.status().alarms
        words = " ".join("".join(Page(written(study, tmp_path)).words).split())
        assert words.index("No answer: the data contradict what was stated") < words.index("In pictures")
        assert study.status().alarms[0] in words
        assert ("class", "box bad") in Page((tmp_path / "report.html").read_text("utf-8")).attributes
    finally:
        sf.delete_study("alarmed", "memory")


def test_the_same_study_gives_the_same_bytes(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    first = written(studies["ended"], tmp_path)
    (tmp_path / "report.html").unlink()
    assert written(studies["ended"], tmp_path) == first


def test_files_are_refused_before_anything_is_written(studies: dict[str, sf.Study], tmp_path: Path) -> None:
    study = studies["fresh"]
    with pytest.raises(InvalidInput, match="no report that could be written"):
        write_report(study, tmp_path / "report.docx")
    place = tmp_path / "report.html"
    place.write_text("mine")
    with pytest.raises(InvalidInput):
        write_report(study, place)
    assert place.read_text() == "mine"
    assert write_report(study, place, overwrite=True) == [place]
    (tmp_path / "other-gap.svg").write_text("mine")
    with pytest.raises(InvalidInput, match=r"other-gap\.svg"):
        write_report(studies["ended"], tmp_path / "other.md")
    assert not (tmp_path / "other.md").exists()


def test_without_matplotlib_the_extra_is_named(
    studies: dict[str, sf.Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"surefoot\[plots\]"):
        write_report(studies["ended"], tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


# -- in a browser -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_cut_off_and_every_picture_shows(
    studies: dict[str, sf.Study], tmp_path: Path, width: int, dark: bool
) -> None:
    for name in ("ended", "hostile"):
        folder = tmp_path / name
        folder.mkdir()
        page = written(studies[name], folder).replace("<details>", "<details open>")
        found = json.loads(measured(page, width, folder, dark=dark))
        assert found["wide"] == []
        assert found["scroll"] <= found["client"]
        assert (found["images"], found["all"], found["shown"]) == (10, 10, 5)
        assert found["scripts"] == found["links"] == 0
        assert found["ground"] == ("rgb(22, 24, 29)" if dark else "rgb(255, 255, 255)")
