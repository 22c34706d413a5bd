"""What can be stated about noise: a size, none at all, or what single readings can be."""

from math import inf, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.problem.norms import noise_laws, noise_sizes

PUMPS = {"pump A": [1.0, 0.0], "pump B": [0.0, 1.0], "both": [0.6, 0.4]}


def pressure(**changes: Any) -> sf.Limit:
    return sf.Limit("pressure", **{"at_most": 8.0, "baseline": 5.0, "noise": "unknown", **changes})


def pumps(reward: sf.Reward, *limits: sf.Limit, **changes: Any) -> sf.Problem:
    settings = {"safe_level": 0.2, "epsilon": 0.3, "delta": 0.05, "delta_safety": 0.05, **changes}
    return sf.Problem(PUMPS, reward, list(limits), **settings)


UNKNOWN = sf.Reward(noise="unknown", guess=0.5, at_most=3.0)
STATED = [
    (UNKNOWN, pressure(guess=0.3, noise_at_most=1.0)),
    (sf.Reward(noise="unknown"), pressure()),
    (sf.Reward(noise="binary"), pressure(noise=("bounded", 0.0, 12.0))),
    (sf.Reward(noise=("bounded", -1, 4), norm=2.0), pressure(noise="binary", at_most=0.8, baseline=0.1)),
]


@pytest.mark.parametrize(("reward", "limit"), STATED)
@pytest.mark.parametrize("ending", ["toml", "json"])
def test_every_statement_survives_a_file(reward: sf.Reward, limit: sf.Limit, ending: str, tmp_path: Path) -> None:
    problem = pumps(reward, limit)
    problem.save(tmp_path / f"problem.{ending}")
    again = sf.Problem.load(tmp_path / f"problem.{ending}")
    assert again == problem
    assert (again.reward, again.safety) == (problem.reward, problem.safety)
    assert noise_laws(again) == noise_laws(problem)


def test_a_plain_number_is_written_as_it_always_was() -> None:
    problem = pumps(sf.Reward(noise=0.5), pressure(noise=0.3))
    assert problem.reward.to_dict() == {"noise": 0.5}
    assert problem.safety[0].to_dict() == {"name": "pressure", "at_most": 8.0, "baseline": 5.0, "noise": 0.3}


def test_a_guess_tunes_and_never_bounds() -> None:
    guessed = pumps(UNKNOWN, pressure(guess=0.3, noise_at_most=1.0))
    assert [law.size for law in noise_laws(guessed)] == [0.5, 0.3]
    assert noise_sizes(guessed).tolist() == pytest.approx([0.4, 0.24])  # too large costs more than too small
    assert [law.bound for law in noise_laws(guessed)] == [3.0, 1.0]
    nothing = pumps(sf.Reward(noise="unknown"), pressure())
    assert [law.size for law in noise_laws(nothing)] == [10.0 * 0.3, 3.0 / 5.0]  # ten epsilon, a fifth of the room
    assert [law.bound for law in noise_laws(nothing)] == [inf, inf]
    assert noise_laws(pumps(sf.Reward(noise="unknown", at_most=2.0), pressure()))[0].size == 0.5
    assert noise_laws(pumps(sf.Reward(noise="unknown"), pressure(), epsilon=0.0))[0].size == 1.0


def test_readings_that_are_bounded_have_half_their_range_for_a_size() -> None:
    laws = noise_laws(pumps(sf.Reward(noise="binary"), pressure(noise=("bounded", 2.0, 12.0))))
    assert [(law.size, law.bound, law.low, law.high, law.unknown) for law in laws] == [
        (0.5, 0.5, 0.0, 1.0, False), (5.0, 5.0, 2.0, 12.0, False),
    ]  # fmt: skip
    covered = pressure(noise=("bounded", 4.9, 5.1), covers="readings", reading_risk=0.05)
    assert covered.margin == pytest.approx(0.1 * sqrt(2.0 * log(20.0)))


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("reward.noise", lambda: sf.Reward(noise="unknwn")),
        ("reward.noise", lambda: sf.Reward(noise="bounded")),
        ("reward.noise", lambda: sf.Reward(noise=("bounded", 1.0, 1.0))),
        ("reward.noise", lambda: sf.Reward(noise=("between", 0.0, 1.0))),
        ("reward.noise", lambda: sf.Reward(noise=("bounded", 0.0))),  # type: ignore[arg-type]
        ("reward.noise", lambda: sf.Reward(noise=("bounded", 0.0, inf))),
        ("reward.noise", lambda: sf.Reward(noise=True)),
        ("reward.guess", lambda: sf.Reward(noise=0.5, guess=0.5)),
        ("reward.at_most", lambda: sf.Reward(noise="binary", at_most=1.0)),
        ("reward.guess", lambda: sf.Reward(noise="unknown", guess=0.0)),
        ("reward.at_most", lambda: sf.Reward(noise="unknown", at_most=-1.0)),
        ("safety['pressure'].guess", lambda: pressure(noise=0.5, guess=0.5)),
        ("safety['pressure'].noise_at_most", lambda: pressure(noise=0.5, noise_at_most=0.5)),
        ("safety['pressure'].covers", lambda: pressure(covers="readings", reading_risk=0.05)),
        ("safety['pressure'].covers", lambda: pressure(covers="readings", reading_risk=0.05, noise_at_most=0.1)),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(field: str, make: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        make()
    assert refused.value.field == field


@pytest.mark.parametrize("policy", [sf.SafeLinGapE(), sf.LinGapE(), sf.Uniform()])
def test_policies_that_lean_on_a_size_refuse_unknown_noise_by_name(policy: Any) -> None:
    problem = pumps(sf.Reward(noise=0.5, norm=2.0), pressure(norm=5.0))
    for refuse in (policy.guarantee, lambda problem: sf.Session(problem, policy)):
        with pytest.raises(InvalidInput, match="SafeGap") as refused:
            refuse(problem)
        assert refused.value.field == "safety['pressure'].noise"


def test_a_policy_of_ones_own_that_knows_nothing_of_it_is_refused_too() -> None:
    class Borrowed(sf.SafeLinGapE):
        def guarantee(self, problem: sf.Problem) -> Any:
            return sf.SafeGap().guarantee(problem)

    with pytest.raises(InvalidInput, match=r"reward\.noise"):
        sf.Session(pumps(sf.Reward(noise="unknown", norm=2.0), pressure(noise=0.3, norm=5.0)), Borrowed())


def test_readings_that_cannot_be_are_refused_when_they_are_told() -> None:
    session = sf.Session(pumps(sf.Reward(noise="binary"), pressure(noise=("bounded", 4.0, 9.0))))
    pull = session.ask()
    for field, result in {
        "reward": {"reward": 0.5, "safety": 5.0},
        "safety['pressure']": {"reward": 1.0, "safety": {"pressure": 9.5}},
    }.items():
        with pytest.raises(InvalidInput) as refused:
            session.tell(pull, **result)
        assert refused.value.field == field
    session.tell(pull, reward=1, safety=9.0)
    assert session.pulls == 1


def test_a_correction_of_a_reading_does_not_judge_the_reward() -> None:
    problem = pumps(sf.Reward(noise=("bounded", 1.0, 2.0)), pressure(noise=0.3))
    study = sf.create_study(problem, name="bounded", storage="memory")
    pull = study.ask()
    study.tell(pull, reward=1.5, safety=5.1)
    study.correct(pull.number, safety=5.2, reason="a typo", by="me")
    with pytest.raises(InvalidInput, match="between 1 and 2"):
        study.correct(pull.number, reward=0.5, reason="a typo", by="me")


def test_the_certificate_names_what_is_assumed() -> None:
    problem = pumps(UNKNOWN, pressure(noise="binary", at_most=0.8, baseline=0.1))
    reward, readings, *_ = sf.SafeGap().guarantee(problem).assumptions
    assert "Gaussian noise of one unknown size, at most 3, the same for all arms, levels and rounds" in reward
    assert "yes/no readings" in readings
    bounded = sf.SafeGap().guarantee(pumps(UNKNOWN, pressure(noise=("bounded", 2.0, 12.0)))).assumptions
    assert "readings between 2 and 12" in bounded[1]


def test_known_noise_is_stated_in_the_words_it_always_was() -> None:
    problem = pumps(sf.Reward(noise=0.5), pressure(noise=0.3))
    assert sf.SafeGap().guarantee(problem).assumptions[:2] == (
        "reward: linear in the applied features, noise 0.5-sub-Gaussian given the past",
        "pressure: linear in the applied features, noise 0.3-sub-Gaussian given the past",
    )
    np.testing.assert_array_equal(noise_sizes(problem), [0.5, 0.3])
