"""Two limits at once: more throughput from a base station, bounded by a neighbour's interference and by heat."""

import surefoot as sf

station = sf.worlds.base_station()
problem = station.default_problem()
for limit in problem.safety:
    print(f"{limit.name}: {limit.baseline:g} at rest, at most {limit.limit:g}")

session = sf.Session(problem, seed=3, max_pulls=100_000)
while not session.stopped:
    pull = session.ask()
    session.tell(pull, **station.measure(pull, seed=3))

answer = session.recommendation
print(f"{session.outcome} after {session.pulls:,} pulls")
if answer is not None:
    print(f"boost {answer.name} in {answer.level:.0%} of the slots: about {answer.estimate:.0f} Mbit/s more")
