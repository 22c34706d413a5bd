"""History that is taken over: what a sorted one does to the promise, and how surely it is refused."""

from typing import Any

import pytest
from histories import HONEST, NOISES, TAMPERED, fate_of, made

ROWS = 600


def tampered(name: str, rows: int, seed: int, kind: str = "known level") -> Any:
    honest = made(kind, "gaussian", rows, seed)
    return honest.taken(TAMPERED[name](honest))


def test_a_history_sorted_by_reward_makes_every_answer_wrong_and_is_refused() -> None:
    for seed in range(20):
        history = tampered("by reward, rising", ROWS, seed)
        assert fate_of(history).wrong_amid
        assert history.suspicious


def test_a_history_sorted_by_safety_makes_most_levels_unsafe_and_is_refused() -> None:
    histories = [tampered("by safety, safest first", 90, seed) for seed in range(20)]
    assert sum(fate_of(history).unsafe for history in histories) >= 12
    assert all(history.suspicious for history in histories)


@pytest.mark.parametrize("name", TAMPERED)
@pytest.mark.parametrize("kind", ["known level", "many levels"])
def test_tampering_is_found_from_some_thirty_rows_of_an_arm_on(kind: str, name: str) -> None:
    assert all(tampered(name, 90, seed, kind).suspicious for seed in range(20))


@pytest.mark.parametrize("kind", HONEST)
def test_an_honest_history_is_hardly_ever_suspicious(kind: str) -> None:
    """At a level of 1/2 in place of a millionth: what is bounded there is bounded everywhere."""
    found = sum(made(kind, noise, 60, seed).suspicious_at(0.5) for noise in NOISES for seed in range(20))
    assert found <= 1


@pytest.mark.certify
def test_certify_imports(show: Any) -> None:
    """How often tables are refused, and what those that were tampered with would do."""
    runs = 300
    show(f"\n{runs // 3} tables each; rows: 15, 30, 45, 90, 300 in all, three arms; refused in %")
    for kind in ("known level", "many levels"):
        for name in TAMPERED:
            shares = []
            for rows in (15, 30, 45, 90, 300):
                found = sum(tampered(name, rows, seed, kind).suspicious for seed in range(runs // 3))
                shares.append(f"{100 * found / (runs // 3):6.1f}")
            show(f"  {kind:12} {name:24} {' '.join(shares)}")
    for kind in HONEST:
        for noise in NOISES:
            suspected = [h for seed in range(runs) if (h := made(kind, noise, 60, seed)).suspicious_at(0.5)]
            refused = sum(history.suspicious for history in suspected)  # what is at 1e-6 is at 1/2
            show(f"  honest {kind:12} {noise:12} refused {refused} of {runs}; at level 1/2 {len(suspected)}")
            assert refused == 0
            assert len(suspected) <= runs // 2
    for name, what in (("by reward, rising", "wrong_amid"), ("by safety, safest first", "unsafe")):
        rows = ROWS if what == "wrong_amid" else 90
        histories = [tampered(name, rows, seed) for seed in range(runs)]
        harmed = sum(getattr(fate_of(history), what) for history in histories)
        refused = sum(history.suspicious for history in histories)
        show(f"  {name}, {rows} rows: {harmed} of {runs} {what}, {refused} refused")
        assert refused == runs
        assert harmed > runs // 2
