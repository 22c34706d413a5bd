"""A workbench for single kernels: a problem as numbers, the confidence sets beside it, and a state to work on.

A kernel is a plain function: one that asks no confidence set is called as it stands. One that does, or whatever leads
to one that does, is asked for by `Bench.plain`, or by `Bench.compiled` where plain Python would take too long or where
the compiled form is the subject.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from surefoot.core.compiler import compiled
from surefoot.core.grams import Grams, multiples_of_identity
from surefoot.core.kernel import plain
from surefoot.core.learn import absorb, begin
from surefoot.core.state import State, Work, new_state, new_work
from surefoot.core.types import Dial, Instance
from surefoot.policies.bound import parts_of
from surefoot.policies.protocol import Plan
from surefoot.sets import ConfidenceSet, ellipsoid


@dataclass(frozen=True, eq=False)
class Bench:
    """An instance, its confidence sets, and kernels that know them."""

    inst: Instance
    grams: Grams
    sets: ConfidenceSet
    _plain: dict[Any, Any] = field(default_factory=dict)

    def plain(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel in plain Python, with the confidence sets bound in."""
        if kernel not in self._plain:
            self._plain[kernel] = plain(kernel, self.parts)
        return self._plain[kernel]

    def compiled(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel as compiled code, with the confidence sets bound in."""
        return compiled(kernel, self.parts, "workbench")

    @property
    def parts(self) -> dict[str, Callable[..., Any]]:
        """What is bound in; nothing is ever decided here."""
        return parts_of(Plan(nobody_decides, None, self.grams, self.sets), self.inst.few_columns)

    def fresh(self) -> tuple[State, Work]:
        """The state before the first pull."""
        state, work = new_state(self.inst, self.sets.memory, Plan._field_defaults["own"]), new_work(self.inst)
        self.plain(begin)(self.inst, state, work)
        return state, work

    def absorb(self, state: State, work: Work, k: int, gamma: float, observed: Any) -> bool:
        """`absorb` with any sequence of observations."""
        return bool(self.plain(absorb)(self.inst, state, work, k, gamma, np.array(observed, dtype=float)))


def bench(X: Any, *, sets: Callable[[Any], ConfidenceSet] = ellipsoid.ellipsoid, **changes: Any) -> Bench:
    """A bench with plain defaults: one limit at -0.5, known level 0.2, error 0.05, determinant ellipsoids, lambda 1.

    `lam`, `R`, `D`, `delta`, `delta_high` and `form` are one for each signal, or one for all; `grams` says otherwise
    what the signals are estimated with, `few_columns` whether a few columns are held. `sets` makes the
    confidence sets out of the ellipsoid's parameters.
    """
    X = np.array(X, dtype=float)
    (K, d), m = X.shape, len(changes.get("eta0", [-0.5]))
    table: dict[str, Any] = {
        "R": [1.0] + [0.1] * m, "eta0": [-0.5] * m, "gamma0": 0.2, "ceiling": 1.0, "grid": [], "step": inf,
        "epsilon": 0.1, "lam": 1.0, "D": 1.0, "delta": 0.05, "delta_high": None, "form": ellipsoid.DETERMINANT,
        "grams": None, "few_columns": False,
    }  # fmt: skip
    assert not set(changes) - set(table), "the bench does not know these"
    table |= changes

    def each(name: str, size: int = 1 + m) -> Any:
        return np.array(np.broadcast_to(np.asarray(table[name], dtype=float), size))

    grams = table["grams"] or multiples_of_identity(each("lam"), d)
    high = None if table["delta_high"] is None else each("delta_high")
    form = np.broadcast_to(table["form"], 1 + m).tolist()
    found = sets(ellipsoid.params_of(X, each("D"), grams, form, each("delta"), high))
    inst = Instance(
        X=X, R=each("R"), eta0=np.array(table["eta0"], dtype=float), within=np.zeros(1 + m),
        dial=Dial(
            each("gamma0", K), each("ceiling", K), np.array(table["grid"], dtype=float), table["step"], np.empty(0),
            np.empty(0), np.ones(K),
        ),
        epsilon=table["epsilon"], regularization=grams.matrix, log_det=grams.log_det, gram_of=grams.of,
        fades=grams.fades, few_columns=table["few_columns"], sets=found.params, board=np.zeros(0, np.int64),
    )  # fmt: skip
    return Bench(inst, grams, found)


def nobody_decides(*arguments: Any) -> Any:
    raise TypeError("there is no policy on a workbench")


def absorb_all(inst: Any, state: Any, work: Any, arms: Any, gammas: Any, seen: Any) -> bool:
    """So many updates, compiled together. Here and not in a test file, whose name a compiled cache could not find."""
    healthy = True
    for t in range(len(arms)):
        healthy = absorb(inst, state, work, arms[t], gammas[t], seen[t]) and healthy
    return healthy
