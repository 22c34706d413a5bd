"""The contracts of surefoot as tests that anybody can run: one class for each kind of part.

    from surefoot.testing import PolicyContract

    class TestMine(PolicyContract):
        policy = Mine()

pytest finds the sentences of the contract in the class and reports each by its name. They need nothing but surefoot:
no fixture, no plugin, and not pytest itself.

PolicyContract   what sessions, simulations and studies ask of a policy; name `policy`
SetContract      what policies ask of a confidence set; define `build(problem)`
WorldContract    what simulations ask of a world; name `world`
StoreContract    what studies ask of a store; define `open()`
"""

from surefoot.testing.claims import ContractBroken
from surefoot.testing.policies import PolicyContract
from surefoot.testing.sets import SetContract
from surefoot.testing.stores import StoreContract
from surefoot.testing.worlds import WorldContract

__all__ = ["ContractBroken", "PolicyContract", "SetContract", "StoreContract", "WorldContract"]
