"""The price of safety: pulls and violations of four policies, on the paper's instance and on the same noise."""

import surefoot as sf

world = sf.worlds.hard(dim=3, omega=0.1)
problem = world.paper_problem()
explore = sf.RoundRobin(800)
policies = {
    "LinGapE": sf.LinGapE(),
    "SafeGap": sf.SafeGap(),
    "Safe-LinGapE, conservative": sf.SafeLinGapE(explore=explore),
    "Safe-LinGapE, optimistic": sf.SafeLinGapE(selection="optimistic", explore=explore),
}

print(f"{'policy':<28}{'pulls':>8}{'unsafe pulls':>14}{'wrong':>7}{'wrong at most':>15}")
for name, policy in policies.items():
    summary = sf.simulate(world, problem, policy, runs=100, seed=1).summary()
    print(
        f"{name:<28}{summary['pulls_mean']:>8,.0f}{summary['unsafe_share']:>14.1%}"
        f"{summary['wrong_runs']:>7}{summary['wrong_upper']:>15.1%}"
    )
