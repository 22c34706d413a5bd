"""A study in the words of Optuna: replace the plant by your own, and return its safety readings beside the value."""

import surefoot as sf
from surefoot.bridges.optuna_words import Trial

problem = sf.Problem(
    arms={"pump A": [1.0, 0.0], "pump B": [0.0, 1.0]}, reward=sf.Reward(noise=0.3),
    safety=sf.Limit("pressure", at_most=6.0, baseline=1.0, noise=0.2),
    safe_level=0.3, epsilon=0.3, delta=0.05, delta_safety=0.05,
)  # fmt: skip
plant = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])


def objective(trial: Trial) -> tuple[float, list[float]]:
    """The water moved, and the pressure that was read."""
    if trial.number in (1, 10, 100):
        print(f"trial {trial.number:>3}: {trial.params['option']} at level {trial.params['level']:.3f}")
    result = plant.measure(trial.pull, seed=7)
    return result["reward"], result["safety"]


study = sf.create_study(problem, name="pumps", storage="sqlite:///pumps.db", seed=7)
study.optimize(objective, n_trials=2_000)
print(study.statement)
