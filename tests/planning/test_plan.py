"""Plans: the same worlds and noise whatever is varied, what they say, and what they refuse."""

import json
from math import inf
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.planning import Plan
from surefoot.planning.playing import world_of
from surefoot.planning.scenarios import KIND, MIDDLE, drawn, space_of
from surefoot.plots import rendered


def pumps(**changes: Any) -> sf.Problem:
    """The pumps of the README."""
    problem = sf.Problem(
        {"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, sf.Reward(noise=0.5),
        sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3), safe_level=0.2, epsilon=0.15, delta=0.05,
        delta_safety=0.05,
    )  # fmt: skip
    return problem.with_(**changes)


@pytest.fixture(scope="module")
def planned() -> Plan:
    """A small plan."""
    return sf.plan(pumps(), runs=30, seed=3)


@pytest.fixture(scope="module")
def hopeless() -> Plan:
    """A plan with too few trials."""
    return sf.plan(pumps(), runs=12, budget=6, seed=3)


def test_each_run_is_the_one_that_simulate_plays_in_that_world(planned: Plan) -> None:
    problem = planned.problem
    for number in (0, 17):
        world = world_of(problem, drawn(problem, space_of(problem), MIDDLE, 3, number))
        runs = sf.simulate(world, problem, runs=1, first_run=number, seed=3)
        assert planned[MIDDLE].trials[number] == runs.pulls[0]


def test_a_plan_depends_neither_on_workers_nor_on_how_many_worlds_follow(planned: Plan) -> None:
    fewer = sf.plan(pumps(), runs=12, seed=3, workers=1)
    for each in fewer.scenarios:
        assert np.array_equal(each.trials, planned[each.name].trials[:12])
    again = sf.plan(pumps(), runs=12, seed=3, workers=3)
    assert again.to_dict() == fewer.to_dict()
    assert sf.plan(pumps(), runs=12, seed=4).to_dict() != fewer.to_dict()


def test_variations_meet_the_same_worlds_and_noise(planned: Plan) -> None:
    """The cell of what is stated is the scenario itself, and a plan of the varied problem has the varied trials."""
    (stated,) = [c for row in planned.grid for c in row if (c.epsilon, c.delta) == (0.15, 0.05)]
    assert stated.median == planned[MIDDLE].quantiles["0.5"]
    saving = next(each for each in planned.savings if each.statement == "reward noise")
    quiet = sf.plan(pumps(reward=sf.Reward(noise=0.3)), runs=30, seed=3)  # the scenarios do not depend on noise
    ratios = np.log(quiet[MIDDLE].trials / planned[MIDDLE].trials)
    assert saving.share == pytest.approx(1 - np.exp(ratios.mean()))
    assert saving.error == pytest.approx(np.exp(ratios.mean()) * ratios.std(ddof=1) / np.sqrt(30))
    assert saving.error is not None
    unpaired = np.hypot(*(np.log(each[MIDDLE].trials).std(ddof=1) / np.sqrt(30) for each in (quiet, planned)))
    assert saving.error < 0.6 * unpaired


def test_less_noise_takes_fewer_trials_and_a_larger_epsilon_too(planned: Plan) -> None:
    limit = sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.15)
    quiet = sf.plan(pumps(reward=sf.Reward(noise=0.25), safety=limit), runs=30, seed=3)
    for each in quiet.scenarios:
        assert each.quantiles["0.5"] < planned[each.name].quantiles["0.5"]
    medians = np.array([[cell.median for cell in row] for row in planned.grid])
    assert np.all(np.diff(medians[:, 1]) < 0)  # by epsilon
    assert np.all(np.diff(medians, axis=1) <= 0)  # by delta
    kind, middle, harsh = (each.quantiles["0.5"] for each in planned.scenarios)
    assert kind < middle < harsh


def test_savings_name_each_statement_the_largest_first(planned: Plan) -> None:
    shares = [each.share for each in planned.savings]
    assert shares == sorted(shares, reverse=True)  # type: ignore[type-var]
    assert {each.statement for each in planned.savings} == {
        "reward noise", "pressure noise", "safe level", "epsilon", "delta", "delta_safety"
    }  # fmt: skip
    best = planned.savings[0]
    assert best.share is not None
    assert best.share > 0.1
    assert best.share > 3 * (best.error or inf)
    assert "reward noise 0.3 in place of 0.5" in [str(each) for each in planned.savings]


def test_a_higher_known_level_is_judged_where_it_is_true(planned: Plan) -> None:
    (known,) = [each for each in planned.savings if each.statement == "safe level"]
    space = space_of(planned.problem)
    worlds = [world_of(planned.problem, drawn(planned.problem, space, MIDDLE, 3, number)) for number in range(30)]
    true = [all(world.is_safe(arm, 0.3) for arm in range(3)) for world in worlds]
    assert known.worlds == sum(true) < 30


def test_what_hardly_any_run_decides_is_said_first(hopeless: Plan, planned: Plan) -> None:
    assert planned.first == ()
    assert str(hopeless).startswith("Hardly any run decides epsilon 0.15 within 6 trials: ")
    assert "in the harsh scenario" in hopeless.first[0]
    assert hopeless["harsh"].quantiles["0.5"] == inf
    assert "> 6" in str(hopeless)
    table = hopeless.to_dict()
    assert table["first"] == list(hopeless.first)
    assert table["scenarios"][2]["quantiles"]["0.5"] is None
    assert [each for each in hopeless.savings if each.at_least]


def test_an_epsilon_below_what_can_be_known_is_said_first() -> None:
    limit = sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, within=0.3)
    found = sf.plan(pumps(safety=[limit]), runs=10, budget=300, seed=3)
    open_share, worlds, *_ = found.first
    assert "of its value stays open" in open_share
    below = {name: int((floors > 0.15).sum()) for name, floors in found.floors.items()}
    assert max(below.values()) > 0
    assert all(f"{count} of 10 in the {name} scenario" in worlds for name, count in below.items() if count)
    for each in found.scenarios:  # no run is certain where that is not possible
        assert not (np.isfinite(each.trials) & (found.floors[each.name] > 1.2 * 0.15)).any()
    assert any(each.statement == "pressure within" for each in found.savings)
    assert "half of it in the middle and all of it in the harsh one" in " ".join(str(found).split())
    assert "stray" not in str(sf.plan(pumps(), runs=2, budget=10))
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_interval_of_what_stays_undecided_is_exact(hopeless: Plan) -> None:
    harsh = hopeless["harsh"]
    assert np.isinf(harsh.trials).all()
    assert harsh.undecided == (1.0, pytest.approx(0.025 ** (1 / 12)), 1.0)


def test_it_is_told_in_aligned_lines_that_fit_a_terminal(planned: Plan) -> None:
    lines = str(planned).splitlines()
    assert max(map(len, lines)) <= 80
    table = lines[2:6]
    assert len({len(line) for line in table}) == 1
    assert [line.split()[0] for line in table] == ["trials", "kind", "middle", "harsh"]
    assert any(line.startswith("reward noise 0.3 in place of 0.5") for line in lines)
    assert "log-uniform" in str(planned)
    assert "not counted as data" not in str(planned)
    assert repr(planned).startswith("Plan(safe-gap, 30 worlds each")


def test_it_shows_itself_and_is_plain_data(planned: Plan) -> None:
    table = json.loads(json.dumps(planned.to_dict(), allow_nan=False))
    assert [each["name"] for each in table["scenarios"]] == ["kind", "middle", "harsh"]
    assert len(table["grid"]) == 9
    assert table["savings"][0]["words"] == str(planned.savings[0])
    html = planned._repr_html_()
    assert "middle" in html
    assert str(planned.savings[0]) in html
    with pytest.raises(InvalidInput, match="Did you mean 'harsh'"):
        planned["harch"]


def test_it_is_drawn(planned: Plan, hopeless: Plan) -> None:
    for plan, settings in ((planned, {}), (hopeless, {"theme": "dark", "width": 4.5})):
        figure = plan.plot(**settings)
        curves, bars = figure.axes
        drawn_curves = {line.get_label(): line for line in curves.get_lines() if line.get_label()[0] != "_"}
        assert list(drawn_curves) == ["kind", "middle", "harsh"]
        ended = drawn_curves["middle"].get_ydata()[-1]
        assert ended == pytest.approx(np.isfinite(plan["middle"].trials).mean())
        assert len(bars.patches) == len([each for each in plan.savings if each.share is not None])
        assert rendered(figure, "png").startswith(b"\x89PNG")


def test_pilot_rows_shape_the_worlds_and_are_not_data() -> None:
    rows = [{"arm": "pump A", "level": 0.2, "reward": 0.3, "safety": 5.8}] * 40
    found = sf.plan(pumps(), runs=12, like=rows)
    assert found.pilot_rows == 40
    assert "not counted as data" in str(found)
    assert "posterior" in str(found)
    assert "Kind: before the rows, the best effect at full level is about 4.5" in str(found)
    assert found.to_dict()["pilot_rows"] == 40


@pytest.mark.parametrize(
    "problem",
    [
        pumps(safe_level=1.0),
        pumps(epsilon=0.0),
        pumps(level_grid=[0.1, 0.2, 0.4, 1.0], max_step=0.6, delta=0.9),
        pumps(dial=sf.Dial("mg", full=40.0), safe_level="8 mg"),
        pumps(arms=[[2.0]], names=["one"]),
        pumps(safety=sf.Limit("p", at_most=8, baseline=5, noise=0.3, norm=9.0, covers="readings", reading_risk=0.05)),
    ],
    ids=["all known", "exact", "in steps", "in mg", "one arm", "on readings"],
)
def test_problems_of_every_form_are_planned(problem: sf.Problem) -> None:
    found = sf.plan(problem, runs=10, budget=60)
    assert [len(each.trials) for each in found.scenarios] == [10, 10, 10]
    assert max(map(len, str(found).splitlines())) <= 100
    assert found.plot() is not None
    known = [each for each in found.savings if each.statement == "safe level"]
    assert bool(known) == bool((problem.safe_level < 1.0).any())


def test_noise_in_words_is_planned_for_as_it_is() -> None:
    """A size that nobody knows is drawn as guessed, and ends of readings are kept by the size of effects."""
    unknown = sf.plan(pumps(reward=sf.Reward(noise="unknown", guess=0.5)), runs=10, seed=3)
    knowing = next(each for each in unknown.savings if each.statement == "reward noise")
    assert (knowing.now, knowing.better) == ("unknown", "known to be 0.5")
    assert (knowing.share or 0.0) > 0.0
    assert "where it is unknown, as large as guessed" in " ".join(str(unknown).split())
    yes_no = pumps(
        reward=sf.Reward(noise="binary"), safety=sf.Limit("failures", at_most=0.12, baseline=0.02, noise="binary")
    )
    found = sf.plan(yes_no, runs=10, seed=3, budget=500)
    assert "half their range" in str(found).replace("\n  ", " ")
    assert not {each.statement for each in found.savings} & {"reward noise", "failures noise"}
    space = space_of(yes_no)
    for number in range(10):
        truth = drawn(yes_no, space, KIND, 3, number)
        assert np.abs(yes_no.arms @ truth.reward).max() <= 1.0
        assert np.abs(yes_no.arms @ truth.limits.T).max() <= 1.0


def test_other_policies_can_be_planned_for() -> None:
    limit = sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, norm=16.0)
    stated = pumps(reward=sf.Reward(noise=0.5, norm=2.0), safety=limit)
    found = sf.plan(stated, sf.SafeLinGapE(), runs=10, budget=300)
    assert found.to_dict()["policy"]["name"] == "safe-lingape"
    assert {"reward norm", "pressure norm"} < {each.statement for each in found.savings}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"runs": 0}, "runs"), ({"runs": 2.5}, "runs"), ({"budget": -1}, "budget"), ({"seed": "x"}, "seed"),
        ({"workers": 0}, "workers"), ({"policy": sf.SafeGap}, "policy"), ({"problem": "pumps.toml"}, "problem"),
        ({"policy": sf.SafeLinGapE()}, "reward.norm"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_anything_runs(
    change: dict[str, Any], field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("something ran")

    monkeypatch.setattr("surefoot.planning.playing.simulate", never)
    with pytest.raises(InvalidInput) as caught:
        sf.plan(**{"problem": pumps(), **change})
    assert caught.value.field == field
