"""What notebooks show: every word as it is, whatever somebody chose, and a certificate that can be read."""

from html.parser import HTMLParser

import pytest

import surefoot as sf
from scenes import arena
from surefoot.simulation import run_session

EVIL = '<script>alert(1)</script> & "quoted"'


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data + "\n"


@pytest.fixture(scope="module")
def problem() -> sf.Problem:
    """Hostile names."""
    _, found = arena()
    return found.with_(names=[EVIL, "b", "c", "d"])


def test_problems_sessions_studies_and_runs_are_shown_as_they_are(problem: sf.Problem) -> None:
    world, plain = arena()
    session = sf.Session(problem, seed=3)
    for _ in range(30):
        pull = session.ask()
        session.tell(pull, **world.measure(pull, seed=3))
    study = sf.create_study(problem, name=EVIL, storage="memory", seed=3)
    try:
        study.freeze(EVIL, by=EVIL)
        shown = {
            "problem": problem._repr_html_(), "session": session._repr_html_(), "study": study._repr_html_(),
            "runs": sf.simulate(world, plain, runs=3, seed=3, max_pulls=50)._repr_html_(),
        }  # fmt: skip
    finally:
        sf.delete_study(EVIL, "memory")
    for what, text in shown.items():
        page = Page(text)
        assert set(page.tags) <= {"div", "strong", "table", "tr", "td", "th", "ul", "li"}, what
        assert what == "runs" or EVIL in page.words
    assert str(session.status().leader) in Page(shown["session"]).words
    assert f"Frozen by {EVIL}: {EVIL}" in Page(shown["study"]).words
    assert "0 of 3" in Page(shown["runs"]).words
    for limit in problem.safety:
        assert f"limit on {limit.name}" in Page(shown["problem"]).words


def test_of_many_arms_few_are_shown() -> None:
    rows = [[1.0, k / 1000] for k in range(1_000)]
    limit = sf.Limit("heat", at_most=8.0, baseline=5.0, noise=0.3)
    problem = sf.Problem(rows, sf.Reward(noise=0.5), [limit], safe_level=0.2, epsilon=0.1, delta=0.1, delta_safety=0.1)
    text = problem._repr_html_()
    assert len(text) < 10_000
    assert "and 990 more" in text


def test_a_study_whose_storage_is_away_is_still_shown(tmp_path: object) -> None:
    _, problem = arena()
    place = f"sqlite:///{tmp_path}/gone.db"
    study = sf.create_study(problem, name="gone", storage=place)
    sf.delete_study("gone", place)
    assert "Study('gone'" in Page(study._repr_html_()).words.replace("&#x27;", "'")


def test_a_certificate_prints_as_lines_that_can_be_read() -> None:
    world = sf.worlds.limited()
    session = sf.Session(world.default_problem(), seed=1)
    run_session(world, session, seed=1)
    certificate = session.certificate
    assert certificate is not None
    told = str(certificate)
    assert " ".join(told.split()).startswith(certificate.statement)
    assert max(map(len, told.splitlines())) <= 80
    for assumption in certificate.assumptions:
        assert f"- {assumption}" in " ".join(told.split())
    assert f"pulls         {certificate.pulls:,}" in told
    assert repr(certificate).startswith("Certificate(arm=")
    words = Page(certificate._repr_html_()).words
    assert certificate.statement in words
    assert all(assumption in words for assumption in certificate.assumptions)
