"""What a policy is: a name, a version, what it guarantees, and how it faces a problem.

Any object with these works wherever a policy is wanted, whoever wrote it; there is nothing to inherit and nothing to
register. A dataclass with plain fields can also be written in files and on the command line. `docs/own_policy.md`
builds one from `surefoot.building`, and `surefoot.testing.PolicyContract` holds it to what is asked of it here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from surefoot.core.grams import Grams
from surefoot.core.kernel import thin
from surefoot.core.types import Instance, Matrix, Nothing
from surefoot.policies.guarantee import Guarantee
from surefoot.problem import Problem
from surefoot.sets.protocol import ConfidenceSet


@thin
def nothing_begins(inst: Instance, own: Any) -> None:
    """A policy without a memory of its own, or whose memory begins with zeros."""


class Plan(NamedTuple):
    """How a policy faces one problem: what is bound into the loops, and the numbers that it reads there."""

    decide: Callable[..., Any]  # (inst, rules, state, work, seed, run) -> Decision; a kernel, or plain Python
    rules: Any  # the options as the decision reads them: a NamedTuple
    grams: Grams  # what the signals are estimated with
    sets: ConfidenceSet
    own: Any = Nothing()  # the policy's own memory: a NamedTuple of arrays, begun with zeros
    begin_own: Callable[..., Any] = nothing_begins  # (inst, own)
    features: Matrix | None = None  # (K, d) the arms in coordinates of the policy's own; None: in those of its grams
    candidates: bool = False  # whether it serves arms that may be the answer and cannot be tried           (P2)
    needs_limits: bool = False  # whether it is made for limits, and refuses a problem without any           (P1)


@runtime_checkable
class Policy(Protocol):
    """What sessions, simulations and studies ask of a policy."""

    @property
    def name(self) -> str:
        """How it is called in files, tables and messages."""

    @property
    def version(self) -> int:
        """A number that changes whenever what it decides changes: a study goes on only with the one it began with."""

    def guarantee(self, problem: Problem) -> Guarantee:
        """What holds when it stops, with which probability; a problem that it cannot serve is refused by name."""

    def plan(self, problem: Problem) -> Plan:
        """How it faces the problem."""
