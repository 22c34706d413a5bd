"""Tests that share what takes long to make go to one worker."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="nothing is dealt out")
@pytest.mark.parametrize("name", ["a", "b@c", "d[e]"])
def test_a_test_is_dealt_out_with_its_file(request: pytest.FixtureRequest, name: str) -> None:
    assert request.node.nodeid.endswith(f"[{name}]@test_groups.py")


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="nothing is dealt out")
@pytest.mark.xdist_group("a group")
def test_a_test_is_dealt_out_with_the_group_that_it_names(request: pytest.FixtureRequest) -> None:
    assert request.node.nodeid.endswith("@a group")
