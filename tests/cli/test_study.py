"""Studies from the command line: every verb, in words and as JSON, and what the exit status says."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from forging import edit, forge
from prompt import Done, prompt_in
from surefoot.cli.study_stops import seconds_in
from surefoot.errors import InvalidInput

Typed = Callable[..., Any]
Write = Callable[[str, str], str]

PROGRAM = str(Path(sys.executable).parent / "surefoot")
TWO_LIMITS = '[[safety]]\nname = "heat"\nat_most = 70.0\nbaseline = 40.0\nnoise = 1.0\nnorm = 40.0\n'


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], write: Write, pumps: str
) -> Callable[..., Done]:
    """What a command line does, typed in an empty folder with a problem file; without the start of a process."""
    typed = prompt_in(tmp_path, monkeypatch, capsys)
    write("pumps.toml", pumps)
    write("both.toml", pumps + TWO_LIMITS)
    return typed


@pytest.fixture
def pumping(here: Callable[..., Done]) -> Callable[..., Done]:
    """The same, with a study `pumps` begun."""
    assert here("study", "create", "pumps", "pumps.toml").status == 0
    return here


def answer(done: Done) -> Any:
    """The one JSON document, where all went well."""
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out)


# -- from beginning to end --------------------------------------------------------------------------------------------


def test_a_study_goes_from_a_file_to_a_certificate(here: Callable[..., Done]) -> None:
    problem = sf.Problem.load("pumps.toml")
    plant = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    made = answer(here("study", "create", "pumps", "pumps.toml", "--seed", "7", "--json"))
    assert made["study"] == "pumps"
    assert made["fingerprint"] == problem.fingerprint
    study = sf.load_study("pumps")
    while True:
        done = here("study", "ask", "pumps", "--worker", "me", "--json")
        if done.status:
            break
        pull = json.loads(done.out)["pull"]
        assert pull == study.open_pulls[0].to_dict()
        measured = plant.measure(study.open_pulls[0], seed=7)
        words = ("--reward", repr(measured["reward"]), "--safety", f"pressure={measured['safety'][0]!r}")
        told = answer(here("study", "tell", "pumps", str(pull["number"]), *words, "--json"))
        assert told["told"] == pull["number"] == told["pulls"]
        if told["pulls"] == 5:
            study.run(lambda pull: plant.measure(pull, seed=7))
    assert done.status == 6
    assert json.loads(done.out)["error"]["kind"] == "Finished"
    shown = answer(here("study", "show", "pumps", "--json"))
    assert shown["status"]["outcome"] == "certified"
    assert study.certificate is not None
    assert shown["certificate"] == study.certificate.to_dict()
    assert shown["recommendation"]["name"] == "pump A"
    words_shown = here("study", "show", "pumps")
    for word in ("certified,", "Answer  pump A at level", "Certificate", "It rests on:", "Data:", "results used"):
        assert word in words_shown.out, word


def test_asking_and_telling_in_words(pumping: Callable[..., Done]) -> None:
    first = pumping("study", "ask", "pumps", "--worker", "bench-1")
    assert first.out.startswith("Pull 1: pump A at level 0.2 (explore)")
    assert pumping("study", "ask", "pumps", "--worker", "bench-1").out == first.out
    told = pumping("study", "tell", "pumps", "1", "--reward", "-0.4", "--safety", "5.6", "--level", "0.15")
    assert told.out.startswith("Pull 1 is told. pumps: explore, 1 result.")
    frame = sf.load_study("pumps").history
    assert (frame.reward[0], frame.safety[0], frame.level[0]) == (-0.4, 5.6, 0.15)
    assert pumping("study", "tell", "pumps", "1", "--reward", "-0.4", "--safety", "5.6", "--level", "0.15").status == 0
    assert pumping("study", "ask", "pumps").out.startswith("Pull 2: pump B at level 0.2 (explore)")
    told = pumping("study", "tell", "pumps", "2", "--reward", "0.1", "--safety", "5.4")
    assert told.out.startswith("Pull 2 is told. pumps: decide, 2 results, gap")
    third = pumping("study", "ask", "pumps")
    assert third.out.startswith("Pull 3: pump ")
    assert "leads" in third.out


def test_several_pulls_at_once(pumping: Callable[..., Done]) -> None:
    pulls = answer(pumping("study", "ask", "pumps", "-n", "3", "--json"))["pulls"]
    assert [pull["number"] for pull in pulls] == [1, 2, 3]
    told = answer(pumping("study", "tell", "pumps", "2", "--reward", "0", "--safety", "5.5", "--json"))
    assert (told["pulls"], told["held_back"], told["open"]) == (0, 1, [1, 3])
    assert "held back by an earlier pull" in pumping("study", "show", "pumps").out
    assert pumping("study", "ask", "pumps", "--count", "2").out.count("\n") == 2


def test_several_limits_are_told_by_name(here: Callable[..., Done]) -> None:
    assert here("study", "create", "both", "both.toml").status == 0
    assert here("study", "ask", "both").status == 0
    words = ("study", "tell", "both", "1", "--reward", "1")
    for wrong in (["6.1"], ["pressure=6.1"], ["pressure=6.1", "cold=3"], ["pressure=6.1", "pressure=6.1"], ["heat=x"]):
        done = here(*words, *(word for each in wrong for word in ("--safety", each)))
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("error: ")
    assert here(*words, "--safety", "heat=48", "--safety", "pressure=6.1").status == 0
    row = sf.load_study("both").history.iloc[0]
    assert (row["safety_pressure"], row["safety_heat"]) == (6.1, 48.0)


def test_options_and_the_file_choose_the_policy(here: Callable[..., Done], write: Write, pumps: str) -> None:
    write("chosen.toml", pumps + '[policy]\nname = "uniform"\nselection = "optimistic"\n')
    from_file = answer(here("study", "create", "one", "chosen.toml", "--json"))
    assert from_file["policy"]["name"] == "uniform"
    changed = answer(here("study", "create", "two", "chosen.toml", "--explore", "round-robin:8", "--json"))
    assert (changed["policy"]["selection"], changed["policy"]["explore"]["rounds"]) == ("optimistic", 8)
    words = ("--max-pulls", "9", "--intake", "on-arrival", "--json")
    plain = answer(here("study", "create", "three", "pumps.toml", *words))
    assert sf.policies.from_dict(plain["policy"]) == sf.policies.default_policy()
    assert (plain["max_pulls"], plain["intake"], plain["alarm_level"]) == (9, "on-arrival", 0.01)


def test_the_first_versions_word_for_intake_goes_on_working_with_a_note(here: Callable[..., Done]) -> None:
    done = here("study", "create", "old", "pumps.toml", "--fold", "arrival")
    assert (done.status, done.err) == (0, "warning: fold='arrival' is called intake='on-arrival' now.\n")
    assert sf.load_study("old").intake == "on-arrival"
    assert "as they come" in here("study", "list").out
    assert "--fold" not in here("study", "create", "--help").out


def test_an_existing_study_is_continued_only_when_that_is_said(pumping: Callable[..., Done]) -> None:
    assert pumping("study", "create", "pumps", "pumps.toml").status == 2
    assert pumping("study", "create", "pumps", "pumps.toml", "--load-if-exists").status == 0
    differs = pumping("study", "create", "pumps", "pumps.toml", "--load-if-exists", "--seed", "3")
    assert (differs.status, "another seed" in differs.err) == (2, True)


# -- imported history, pulls that never come back, the emergency stop -------------------------------------------------


def test_history_is_taken_over_once_it_is_confirmed(pumping: Callable[..., Done]) -> None:
    words = ("study", "add", "pumps", "pump A", "0.2", "--reward", "0.3", "--safety", "5.8", "--source", "spring trial")
    refused = pumping(*words)
    assert (refused.status, "--not-because-of-result" in refused.err) == (2, True)
    assert answer(pumping(*words, "--not-because-of-result", "--json"))["added"] == 1
    by_place = ("study", "add", "pumps", "1", "0.2", "--reward", "0.1", "--safety", "5.4", "--not-because-of-result")
    assert pumping(*by_place).status == 0
    frame = sf.load_study("pumps").history
    assert frame["name"].tolist() == ["pump A", "pump B"]
    assert frame["imported"].all()
    warm = answer(pumping("study", "create", "next", "pumps.toml", "--warm-start", "pumps", "--json"))
    assert warm["study"] == "next"
    assert sf.load_study("next").pulls == 2


def test_a_table_is_taken_over_as_one_step_in_a_stated_order(
    pumping: Callable[..., Done], write: Callable[[str, str], str]
) -> None:
    rng = np.random.default_rng(1)
    made = [
        f"pump {'AB'[i % 2]},0.2,{0.1 + 0.5 * rng.normal():.4f},{5.6 + 0.3 * rng.normal():.4f},{i}" for i in range(80)
    ]
    write("spring.csv", "\n".join(["arm,level,reward,safety,day", *made]))
    words, sure = ("study", "add-table", "pumps", "spring.csv"), "--not-because-of-result"
    unstated = pumping(*words, sure)
    assert (unstated.status, "order is not given" in unstated.err) == (2, True)
    assert pumping(*words, "--order", "as-measured").status == 2
    taken = answer(pumping(*words, "--order", "as-measured", "--time", "day", sure, "--json"))
    assert taken["added"] == list(range(1, 81))
    stated = (
        "80 results taken over from spring.csv; stated: in the order measured, by the time stamps in 'day', 0 to 79"
    )
    assert taken["stated"] == stated
    assert stated in pumping("study", "show", "pumps").out
    write(
        "sorted.csv",
        "\n".join(["arm,level,reward,safety,day", *sorted(made, key=lambda row: float(row.split(",")[2]))]),
    )
    pumping("study", "create", "other", "pumps.toml")
    words = ("study", "add-table", "other", "sorted.csv", "--order", "as-measured", sure)
    refused = pumping(*words)
    assert (refused.status, "--confirm" in refused.err) == (2, True)
    assert pumping(*words, "--confirm").out.startswith("80 results taken over, pulls 1 to 80.")


def test_pulls_are_given_up_only_with_a_reason_and_a_confirmation(pumping: Callable[..., Done]) -> None:
    pumping("study", "ask", "pumps", "-n", "5")
    assert pumping("study", "cancel", "pumps", "1").status == 2  # no reason
    refused = pumping("study", "cancel", "pumps", "1", "--reason", "rain")
    assert (refused.status, "--not-because-of-result" in refused.err) == (2, True)
    sure = "--not-because-of-result"
    assert "cancelled" in pumping("study", "cancel", "pumps", "1", "--reason", "rain", sure).out
    assert answer(pumping("study", "fail", "pumps", "2", "--reason", "cable", sure, "--json"))["state"] == "failed"
    assert answer(pumping("study", "expire", "pumps", "3", sure, "--json"))["closed"] == [3]
    assert answer(pumping("study", "expire", "pumps", "--older-than", "7d", sure, "--json"))["closed"] == []
    assert answer(pumping("study", "expire", "pumps", "--older-than", "0", sure, "--json"))["closed"] == [4, 5]
    states = sf.load_study("pumps").status().states
    assert (states["cancelled"], states["failed"], states["stale"], states["open"]) == (1, 1, 3, 0)
    closed = pumping("study", "tell", "pumps", "1", "--reward", "0", "--safety", "5")
    assert (closed.status, "cancelled" in closed.err) == (2, True)


@pytest.mark.parametrize(("words", "seconds"), [("90", 90), ("1.5m", 90), ("12h", 43_200), ("7d", 604_800), ("5s", 5)])
def test_ages_are_read(words: str, seconds: float) -> None:
    assert seconds_in(words) == seconds


@pytest.mark.parametrize("words", ["", "soon", "-3", "3w", "nan", "1e9x"])
def test_words_that_are_no_age_are_refused(words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        seconds_in(words)
    assert caught.value.field == "--older-than"


def test_a_frozen_study_gives_no_pull_until_it_is_released(pumping: Callable[..., Done]) -> None:
    pumping("study", "ask", "pumps")
    frozen = answer(pumping("study", "freeze", "pumps", "--reason", "smoke", "--by", "eva", "--json"))
    assert frozen["frozen"] == {"reason": "smoke", "by": "eva"}
    held = pumping("study", "ask", "pumps")
    assert (held.status, held.out) == (7, "")
    assert "frozen by eva: smoke" in held.err
    assert "Frozen by eva: smoke" in pumping("study", "show", "pumps").out
    assert pumping("study", "tell", "pumps", "1", "--reward", "0", "--safety", "5.5").status == 0
    assert pumping("study", "release", "pumps", "--reason", "it was toast").status == 0  # by the login name
    assert pumping("study", "release", "pumps", "--reason", "again").status == 2
    assert pumping("study", "ask", "pumps").status == 0


def test_an_aborted_pull_freezes_the_study(pumping: Callable[..., Done]) -> None:
    pumping("study", "ask", "pumps")
    assert pumping("study", "abort", "pumps", "1", "--reason", "knocking", "--by", "eva").status == 0
    assert pumping("study", "ask", "pumps").status == 7
    assert sf.load_study("pumps").status().states["aborted-unsafe"] == 1


def test_a_budget_that_is_all_open_gives_no_pull_for_now(here: Callable[..., Done]) -> None:
    here("study", "create", "short", "pumps.toml", "--max-pulls", "2")
    assert len(answer(here("study", "ask", "short", "-n", "5", "--json"))["pulls"]) == 2
    assert here("study", "ask", "short").status == 7
    for number in ("1", "2"):
        here("study", "tell", "short", number, "--reward", "0", "--safety", "5.5")
    assert here("study", "ask", "short").status == 6
    assert "undecided" in here("study", "show", "short").out


def test_an_alarm_is_a_warning_and_freezes(pumping: Callable[..., Done]) -> None:
    """A pressure of 40 bar cannot be noise on a safe pull."""
    pumping("study", "ask", "pumps", "-n", "2")
    told = pumping("study", "tell", "pumps", "1", "--reward", "0.1", "--safety", "40", "--confirm")
    assert told.status == 10
    assert told.out.startswith("Alarm: pressure")
    assert "warning: The data contradict the model (pressure: a reading lies further beyond the limit" in told.err
    assert "pumps: frozen" in told.out
    shown = pumping("study", "show", "pumps")
    assert shown.status == 10
    assert shown.out.startswith("Alarm: pressure")
    document = pumping("study", "show", "pumps", "--json")
    assert document.status == 10
    table = json.loads(document.out)
    assert next(iter(table)) == "alarms"
    assert table["statement"].startswith("The data contradict what the problem states: pressure")
    assert table["recommendation"] is None
    assert pumping("study", "ask", "pumps").status == 7


# -- looking, files, audits -------------------------------------------------------------------------------------------


def test_studies_are_listed(here: Callable[..., Done]) -> None:
    missing = here("study", "list")
    assert missing.status == 8  # there is no storage yet, and looking makes none
    assert not Path("surefoot.db").exists()
    for name in ("b", "a"):
        here("study", "create", name, "pumps.toml")
    assert [line.split()[0] for line in here("study", "list").out.splitlines()] == ["study", "a", "b"]
    listed = answer(here("study", "list", "--json"))
    assert [row["name"] for row in listed["studies"]] == ["a", "b"]
    assert listed["storage"].endswith("surefoot.db")
    assert here("study", "delete", "a").status == 2
    assert here("study", "delete", "a", "--yes").status == 0
    here("study", "delete", "b", "--yes")
    assert here("study", "list").out.startswith("No studies in")


def test_the_storage_comes_from_the_option_or_the_environment(
    here: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here("study", "create", "one", "pumps.toml", "--storage", "sqlite:///one.db").status == 0
    monkeypatch.setenv("SUREFOOT_STORAGE", "sqlite:///two.db")
    assert here("study", "create", "two", "pumps.toml").status == 0
    assert {path.name for path in Path().glob("*.db")} == {"one.db", "two.db"}
    assert here("study", "show", "one").status == 2
    assert here("study", "show", "one", "--storage", "sqlite:///one.db").status == 0
    assert here("study", "show", "one", "--storage", "mysql://host/db").status == 2


@pytest.mark.xdist_group("postgres")
def test_a_study_on_a_server(here: Callable[..., Done], database: Callable[[], str]) -> None:
    where = ("--storage", database())
    assert here("study", "create", "pumps", "pumps.toml", *where).status == 0
    for number in ("1", "2"):
        assert answer(here("study", "ask", "pumps", "--json", *where))["pull"]["number"] == int(number)
        assert here("study", "tell", "pumps", number, "--reward", "0.4", "--safety", "5.5", *where).status == 0
    assert answer(here("study", "show", "pumps", "--json", *where))["status"]["pulls"] == 2
    assert here("storage", "backup", "copy.db", *where).status == 0
    assert answer(here("study", "audit", "pumps", "--storage", "sqlite:///copy.db", "--json"))["clean"]
    assert here("storage", "check", *where).status == 0
    assert "up to date" in here("storage", "upgrade", *where).out


def test_a_look_at_a_study(pumping: Callable[..., Done]) -> None:
    empty = pumping("study", "watch", "pumps", "--once")
    assert "pumps" in empty.out
    pumping("study", "ask", "pumps", "-n", "12")
    pumping("study", "ask", "pumps", "--worker", "bench-1")
    pumping("study", "tell", "pumps", "2", "--reward", "0.5", "--safety", "5.5")
    pumping("study", "freeze", "pumps", "--reason", "smoke", "--by", "eva")
    shown = pumping("study", "watch", "pumps", "--once").out
    for word in ("FROZEN by eva: smoke", "certified level", "12 open, 1 told", "held back", "and 2 more", "s ago",
                 "pull 13 asked for by bench-1: pump", "pull 2 told: reward 0.5, pressure 5.5"):  # fmt: skip
        assert word in shown, word
    found = answer(pumping("study", "watch", "pumps", "--once", "--json"))
    assert [each["number"] for each in found["waiting"]] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert found["latest"][0]["what"] == "frozen by eva: smoke"
    assert pumping("study", "watch", "pumps", "--json").status == 2
    assert pumping("study", "watch", "pumps", "--every", "0").status == 2


def test_a_study_travels_as_a_file(pumping: Callable[..., Done]) -> None:
    pumping("study", "ask", "pumps")
    pumping("study", "tell", "pumps", "1", "--reward", "0.5", "--safety", "5.5")
    assert pumping("study", "export", "pumps", "pumps.study").status == 0
    again = pumping("study", "export", "pumps", "pumps.study")
    assert (again.status, "exists already" in again.err, "--force" in again.err) == (2, True, True)
    assert pumping("study", "export", "pumps", "pumps.study", "--force").status == 0
    assert "ends in .study or .zip" in pumping("study", "export", "pumps", "pumps.csv").err
    assert pumping("study", "import", "pumps.study").status == 2  # the name is taken here
    assert answer(pumping("study", "import", "pumps.study", "--name", "copy", "--json"))["imported"] == "copy"
    one, other = sf.load_study("pumps").status(), sf.load_study("copy").status()
    assert replace(one, name="") == replace(other, name="")
    Path("broken.study").write_bytes(Path("pumps.study").read_bytes()[:-40])
    broken = pumping("study", "import", "broken.study", "--name", "broken")
    assert (broken.status, broken.err.count("\n")) == (2, 1)


def test_a_study_of_another_version_is_shown_without_what_nobody_knows(pumping: Callable[..., Done]) -> None:
    pumping("study", "ask", "pumps", "-n", "2")
    pumping("study", "tell", "pumps", "1", "--reward", "0.5", "--safety", "5.5")
    study = sf.load_study("pumps", f"sqlite:///{Path('surefoot.db').absolute()}")
    older = "json_set(policy, '$.versions.\"policy safe-gap\"', 0)"
    forge(study, f"UPDATE surefoot_studies SET policy = {older}")
    for words in (("show", "pumps"), ("watch", "pumps", "--once")):
        done = pumping("study", *words)
        assert (done.status, "unknown" in done.out, "nan" in done.out) == (0, True, False)
        assert "warning: The study 'pumps' opens for reading only: policy safe-gap is of version 0" in done.err
    status = json.loads(pumping("study", "show", "pumps", "--json").out)["status"]
    assert (status["gap"], status["levels"], status["pulls"]) == (None, {"pump A": None, "pump B": None}, 1)
    refused = pumping("study", "ask", "pumps")
    assert (refused.status, "goes on only with the versions that it was begun with" in refused.err) == (2, True)


def test_an_audit_finds_what_was_changed(pumping: Callable[..., Done]) -> None:
    pumping("study", "ask", "pumps")
    pumping("study", "tell", "pumps", "1", "--reward", "0.5", "--safety", "5.5")
    assert answer(pumping("study", "audit", "pumps", "--json"))["clean"] is True
    assert "nothing is wrong" in pumping("storage", "check").out
    noted = pumping("study", "head", "pumps").out.strip()
    assert noted in pumping("study", "show", "pumps").out
    proven = pumping("study", "audit", "pumps", "--head", noted)
    assert (proven.status, "Everything up to event 2, of 2, is as it was" in " ".join(proven.out.split())) == (0, True)
    study = sf.load_study("pumps", f"sqlite:///{Path('surefoot.db').absolute()}")
    edit(study, "UPDATE surefoot_events SET level = 0.1 WHERE kind = 'ask'")
    broken = pumping("study", "audit", "pumps")
    assert (broken.status, "event 1 does not fit the hash chain" in " ".join(broken.out.split())) == (9, True)
    assert pumping("study", "ask", "pumps").status == 8
    forge(study, "UPDATE surefoot_events SET level = 0.1 WHERE kind = 'ask'")
    unproven = pumping("study", "audit", "pumps", "--head", noted)
    assert (unproven.status, "has never had the head" in " ".join(unproven.out.split())) == (9, True)
    audited = pumping("study", "audit", "pumps")
    assert audited.status == 9
    assert "pull 1 was pump A at level 0.1, and pump A at level 0.2 was due" in audited.out
    assert "warning: " in audited.err
    checked = pumping("storage", "check", "--json")
    assert checked.status == 9
    assert json.loads(checked.out)["sound"] is False


def test_a_storage_is_backed_up_and_brought_up_to_date(pumping: Callable[..., Done]) -> None:
    pumping("study", "ask", "pumps")
    assert answer(pumping("storage", "backup", "copy.db", "--json"))["path"].endswith("copy.db")
    assert pumping("storage", "backup", "copy.db").status == 2
    assert "up to date" in pumping("storage", "upgrade").out
    assert answer(pumping("storage", "upgrade", "--json"))["changed"] is False
    copied = answer(pumping("study", "show", "pumps", "--storage", "sqlite:///copy.db", "--json"))
    assert copied["status"]["open"] == [1]
    assert pumping("storage", "check", "--storage", "sqlite:///nowhere.db").status == 8


# -- bad input --------------------------------------------------------------------------------------------------------

BAD = {
    ("study", "fly"): "No such command",
    ("study", "create", "x", "missing.toml"): "cannot be read",
    ("study", "create", " x", "pumps.toml"): "STUDY = ' x'",
    ("study", "create", "x", "pumps.toml", "--intake", "never"): "must be 'by-number' or 'on-arrival'",
    ("study", "create", "x", "pumps.toml", "--fold", "never"): "must be 'order' or 'arrival'",
    ("study", "create", "x", "pumps.toml", "--alarm-level", "2"): "--alarm-level = 2.0",
    ("study", "create", "x", "pumps.toml", "--max-pulls", "0"): "--max-pulls = 0",
    ("study", "ask", "nobody"): "There is no study 'nobody'",
    ("study", "ask", "pumps", "-n", "0"): "--count = 0",
    ("study", "tell", "pumps", "1", "--reward", "0", "--safety", "5"): "is not open",
    ("study", "tell", "pumps", "one", "--reward", "0", "--safety", "5"): "NUMBER",
    ("study", "tell", "pumps", "1", "--reward", "nan", "--safety", "5"): "reward = nan",
    ("study", "tell", "pumps", "1", "--safety", "5"): "--reward",
    (
        "study",
        "add",
        "pumps",
        "pump Z",
        "0.1",
        "--reward",
        "0",
        "--safety",
        "5",
        "--not-because-of-result",
    ): "not the name of an arm",
    ("study", "expire", "pumps", "--not-because-of-result"): "exactly one of the two",
    ("study", "expire", "pumps", "--older-than", "soon", "--not-because-of-result"): "is not an age",
    ("storage", "mend"): "No such command",
}


@pytest.mark.parametrize(("words", "reason"), BAD.items(), ids=lambda value: str(value)[:60])
def test_bad_input_is_one_paragraph(pumping: Callable[..., Done], words: tuple[str, ...], reason: str) -> None:
    done = pumping(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert reason in done.err
    as_json = pumping(*words, "--json")
    assert (as_json.status, as_json.err) == (2, "")
    assert json.loads(as_json.out)["error"]["message"]


# -- as a shell sees it -----------------------------------------------------------------------------------------------

LOOP = """
set -e
surefoot study create pumps pumps.toml --max-pulls 2 > made.txt
while pull=$(surefoot study ask pumps --worker me --json); do
  number=$(echo "$pull" | python -c 'import json, sys; print(json.load(sys.stdin)["pull"]["number"])')
  surefoot study tell pumps "$number" --reward 0.3 --safety pressure=5.5
done
"""


def test_a_shell_script_drives_a_study(tmp_path: Path, write: Write, pumps: str) -> None:
    write("pumps.toml", pumps)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", LOOP], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line.split(".")[0] for line in done.stdout.splitlines()] == ["Pull 1 is told", "Pull 2 is told"]


@contextlib.contextmanager
def ended(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Ends the process if the test fails while it runs, since it would run for ever."""
    try:
        yield
    except BaseException:
        process.kill()
        raise


def test_a_view_away_from_a_terminal_writes_a_line_for_each_change(
    tmp_path: Path, write: Write, pumps: str, typed: Typed
) -> None:
    write("pumps.toml", pumps)
    storage = f"sqlite:///{tmp_path / 'surefoot.db'}"
    typed("study", "create", "pumps", "pumps.toml", "--max-pulls", "2")
    study = sf.load_study("pumps", storage)
    words = [PROGRAM, "study", "watch", "pumps", "--every", "0.05"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as view, ended(view):
        assert view.stdout is not None
        assert view.stdout.readline() == "explore, 0 results, 0 open\n"
        pull = study.ask(worker="me")
        assert "1 open" in view.stdout.readline()
        study.tell(pull, reward=0.1, safety=5.5)
        assert "1 result, 0 open" in view.stdout.readline()
        study.run(lambda pull: (0.1, 5.5))
        *_, last = view.stdout.read().splitlines()
    assert last.startswith("undecided, 2 results, 0 open")
    assert view.returncode == 0


def test_help_names_every_verb_and_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom surefoot.cli import main\nstatus = main(['study', '--help'])\n"
        "print([n for n in ('numpy', 'numba', 'sqlalchemy', 'alembic', 'pandas', 'rich') if n in sys.modules], status, "
        "file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[] 0\n"
    for verb in ("create", "list", "show", "ask", "tell", "add", "watch", "export", "import", "freeze", "release",
                 "audit", "delete", "cancel", "fail", "expire", "abort"):  # fmt: skip
        assert f"\n  {verb} " in done.stdout
