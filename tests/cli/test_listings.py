"""`surefoot worlds`, `policies` and `show`: what there is, and what a file says."""

from collections.abc import Callable
from typing import Any

import surefoot as sf

Typed = Callable[..., Any]
Write = Callable[[str, str], str]


def test_every_world_is_listed_with_its_parameters(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    shown = typed("worlds").stdout
    listed = {world["name"]: world for world in strict_json(typed("worlds", "--json").stdout)["worlds"]}
    assert list(listed) == list(sf.worlds.WORLDS)
    assert all(name in shown for name in listed)
    assert listed["hard"]["parameters"]["omega"] == 0.1
    assert "omega = 0.1" in shown
    assert listed["base-station"]["limits"] == 2


def test_every_policy_is_listed_with_its_options(typed: Typed, strict_json: Callable[[str], Any]) -> None:
    shown = typed("policies").stdout
    found = strict_json(typed("policies", "--json").stdout)
    assert [policy["name"] for policy in found["policies"]] == list(sf.policies.POLICIES)
    for policy in found["policies"]:
        assert policy["name"] in shown
        defaults = {option["name"]: option["default"] for option in policy["options"]}
        built = sf.policies.POLICIES[policy["name"]](**defaults)
        assert built == sf.policies.POLICIES[policy["name"]]()
    assert "until-confident" in shown


def test_show_explains_a_file_that_has_no_world(
    typed: Typed, write: Write, pumps: str, strict_json: Callable[[str], Any]
) -> None:
    name = write("pumps.toml", pumps)
    done = typed("show", name)
    assert done.returncode == 0
    limit = "pressure at most 8 on the mean, 5 when nothing is applied"
    for words in ("2 arms in 2 dimensions", "pump A", limit, "within 0.3"):
        assert words in done.stdout
    readings = typed("show", write("pumps.toml", pumps + 'covers = "readings"\nreading_risk = 0.01\n'))
    assert "each reading with probability 0.99, so at most 7.08954 on the mean" in readings.stdout
    write("pumps.toml", pumps)
    found = strict_json(typed("show", name, "--json").stdout)
    assert sf.Problem.from_dict(found["problem"]).fingerprint == found["fingerprint"]
    assert (found["world"], found["policy"]) == (None, None)


def test_show_tells_of_the_world_and_the_policy_too(typed: Typed, write: Write, pumps_in_a_world: str) -> None:
    done = typed("show", write("pumps.toml", pumps_in_a_world + '[policy]\nname = "uniform"\n'))
    assert "surefoot run pumps.toml simulates it" in done.stdout
    assert "uniform (" in done.stdout


def test_show_warns_of_arms_that_do_not_span(typed: Typed, write: Write, pumps: str) -> None:
    flat = pumps.replace("[1.0, 0.0]", "[1.0, 0.0, 0.0]").replace("[0.0, 1.0]", "[0.0, 1.0, 0.0]")
    done = typed("show", write("flat.toml", flat))
    assert done.returncode == 0
    assert done.stderr.startswith("warning: The arms have 3 features but span only 2 dimensions.")
