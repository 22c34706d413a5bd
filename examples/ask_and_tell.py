"""An experiment of your own: replace `measure` by your laboratory, and everything else stays."""

from pathlib import Path

import surefoot as sf

problem = sf.Problem.load(Path(__file__).parent / "pumps.toml")
plant = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])


def measure(pull: sf.Pull) -> tuple[float, dict[str, float]]:
    """The water moved and the pressure read, here by a simulated plant."""
    result = plant.measure(pull, seed=7)
    return result["reward"], {"pressure": result["safety"][0]}


session = sf.Session(problem, seed=7)
while not session.stopped:
    pull = session.ask()
    if pull.number in (1, 10, 100, 1000):
        print(f"pull {pull.number:>4}: {pull.name} at level {pull.level:.3f}, certified safe")
    reward, safety = measure(pull)
    session.tell(pull, reward=reward, safety=safety)

certificate = session.certificate
if certificate is None:
    print(f"No answer: {session.outcome}")
else:
    print(f"\n{certificate.name} at level {certificate.level:.3f} after {certificate.pulls:,} pulls")
    print(certificate.statement)
