"""A confidence set that is one file outside the package bounds what ours bound."""

import pytest
from plain_mean import WithPlainMeans, build

import surefoot as sf
from surefoot.building import ConfidenceSet, Grams
from surefoot.studies.versions import versions_of
from surefoot.testing import PolicyContract, SetContract

# One worker for all: what is compiled for the first of them serves the others.
pytestmark = pytest.mark.xdist_group("a set from outside")


class TestPlainMeans(SetContract):
    def build(self, problem: sf.Problem) -> tuple[Grams, ConfidenceSet]:
        return build(problem)


class TestAPolicyWithPlainMeans(PolicyContract):
    policy = WithPlainMeans(selection="optimistic", levels="dynamic-max", null_pull=True)

    @pytest.mark.certify  # it compiles once more, and others are held to it
    def test_a_decision_without_its_mark_decides_the_same(self) -> None:
        super().test_a_decision_without_its_mark_decides_the_same()


def test_a_study_stores_the_version_of_a_set_from_outside() -> None:
    world = sf.worlds.limited()
    found = versions_of(WithPlainMeans(), world.default_problem())
    assert found["set plain-mean"] == 1
    assert found["set ellipsoid"] == 1


def test_a_set_of_another_version_closes_its_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    world = sf.worlds.limited()
    sf.create_study(world.default_problem(), WithPlainMeans(), name="with-plain-means", storage="memory")
    second = lambda name, version, *rest, **more: ConfidenceSet(name, 2, *rest, **more)  # noqa: E731
    monkeypatch.setattr("plain_mean.ConfidenceSet", second)
    with pytest.warns(sf.errors.OtherVersionWarning, match="set plain-mean is of version 1, and 2 is here"):
        sf.load_study("with-plain-means", "memory", policy=WithPlainMeans)
    sf.delete_study("with-plain-means", "memory")
