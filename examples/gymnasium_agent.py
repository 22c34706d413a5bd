"""A world of ours for an agent of yours: Gymnasium's interface, here with an agent that tries at random."""

import surefoot as sf
from surefoot.bridges.gymnasium_world import WorldEnv

world = sf.worlds.base_station()
env = WorldEnv(world, world.default_problem(), max_pulls=200)
env.action_space.seed(3)

readings, _ = env.reset(seed=3)
print(f"with nothing applied the signals read {readings.round(2).tolist()}")
total, unsafe, over = 0.0, 0, False
while not over:
    readings, reward, _, over, info = env.step(env.action_space.sample())
    total += reward
    unsafe += info["unsafe"]
print(f"200 trials at random: {total:.1f} in sum, and {unsafe} of them beyond a limit")

policy = sf.Session(world.default_problem(), seed=3)
env.reset(seed=3)
unsafe = 0
for _ in range(200):
    pull = policy.ask()
    readings, reward, _, _, info = env.step({"arm": pull.arm, "level": pull.level})
    policy.tell(pull, reward=reward, safety=readings.tolist())
    unsafe += info["unsafe"]
print(f"200 trials of SafeGap: {unsafe} of them beyond a limit")
