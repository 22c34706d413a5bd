"""What a ledger keeps of very many pulls, against plain dictionaries and lists."""

from array import array

import numpy as np
import pytest

from scenes import arena
from surefoot.live.kept import HistoryNeeded, Kept, KeptResults, Runs
from surefoot.live.readings import packed


def test_runs_hold_what_a_set_holds() -> None:
    rng = np.random.default_rng(1)
    runs, same, number = Runs(), set(), 0
    for _ in range(300):
        number += 1 + int(rng.random() < 0.2) * int(rng.integers(1, 5))
        runs.add(number)
        same.add(number)
    assert [each for each in range(-3, number + 10) if each in runs] == sorted(same)
    assert len(runs.first) < 100
    outside = sorted(set(range(-3, number + 10)) - same)
    for each in range(1, number):
        assert runs.first_outside(each) == next(other for other in outside if other >= each)
        assert runs.last_outside(each) == next(other for other in reversed(outside) if other <= each)


def test_tables_that_follow_each_other_are_apart() -> None:
    tables = Runs()
    tables.begin(3, 4)
    tables.begin(7, 2)
    assert [tables.run_of(number) for number in range(1, 11)] == [None, None, 3, 3, 3, 3, 7, 7, None, None]


@pytest.mark.parametrize("seed", range(3))
def test_results_are_kept_as_a_list_and_a_table_keep_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kept, order, table, last = KeptResults(2), [], {}, 0
    for _ in range(400):
        what = rng.choice(["append", "replace", "remove", "cut"], p=[0.7, 0.15, 0.14, 0.01])
        result = float(rng.random()), float(rng.normal()), packed(rng.normal(size=2).tolist())
        if what == "append":
            last += int(rng.integers(1, 4))
            kept.append(last, 3, result, last + 5)
            order.append(last)
            table[last] = Kept(3, result, last + 5)
        elif order and what == "cut":
            count = len(order) - int(rng.integers(0, 3))
            assert kept.cut(count) == [(number, table.pop(number)) for number in order[count:]]
            del order[count:]
        elif order:
            number = order[int(rng.integers(len(order)))]
            if what == "replace":
                kept.replace(number, result)
                table[number] = table[number]._replace(result=result)
            else:
                assert kept.remove(number) == order.index(number)
                order.remove(number)
                del table[number]
        assert list(kept.numbers) == order
    assert {number: kept.get(number) for number in range(last + 3) if kept.get(number)} == table


def test_the_script_of_results_leaves_one_out() -> None:
    problem, kept = arena()[1], KeptResults(2)
    for number in (1, 2, 4):
        kept.append(number, number % 2, (number / 10, float(number), packed([1.0, 2.0])), number)
    script, numbers = kept.script(problem, 3, but=2)
    assert list(numbers) == [1, 4]
    assert script.arm.tolist() == [1, 0]
    assert script.applied.tolist() == [0.1, 0.4]
    assert script.observed[:, 0].tolist() == [1.0, 4.0]
    assert kept.script(problem, 2, but=4)[0].arm.tolist() == [1, 0]


def test_a_part_of_the_results_says_that_the_others_are_needed() -> None:
    kept = KeptResults(1)
    for number in range(1, 6):
        kept.append(number, 0, (0.5, float(number), packed([0.0])), number)
    part = KeptResults.of_columns(1, *kept.only(array("q", [4, 2, 9])).columns())
    assert not part.complete
    assert list(part.numbers) == [4, 2]
    assert part.get(4) == kept.get(4)
    part.append(6, 0, (0.5, 6.0, packed([0.0])), 6)
    assert part.get(6) is not None
    with pytest.raises(HistoryNeeded):
        part.get(3)
    for needs_all in (lambda: part.remove(3), lambda: part.cut(1), lambda: part.script(arena()[1], 1)):
        with pytest.raises(HistoryNeeded):
            needs_all()


def test_a_result_takes_up_some_fifty_bytes() -> None:
    kept, count = KeptResults(1), 10_000
    for number in range(1, count + 1):
        kept.append(number, 0, (0.5, 1.0, packed([0.0])), number)
    columns = [each for each in vars(kept).values() if isinstance(each, array | bytearray)]
    assert sum(len(each) * memoryview(each).itemsize for each in columns) < 60 * count
    assert not [each for each in vars(kept).values() if isinstance(each, list | dict)]
