"""Four programs work on one study at once, through one file; any of them may die and nothing is lost."""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import surefoot as sf

problem = sf.Problem.load(Path(__file__).parent / "pumps.toml").with_(epsilon=0.4)
plant = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])


def work(name: str, storage: str) -> int:
    """How many pulls this worker made before the study ended."""
    study, made = sf.load_study("pumps", storage), 0
    try:
        while True:
            pull = study.ask(worker=name)  # after a crash: the same pull again
            study.tell(pull, **plant.measure(pull, seed=7))
            made += 1
    except sf.errors.Finished:
        return made


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/pumps.db"
        study = sf.create_study(problem, name="pumps", storage=storage, seed=7)
        with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
            made = list(pool.map(work, ["north", "east", "south", "west"], [storage] * 4))
        print(f"{sum(made)} pulls by {sum(count > 0 for count in made)} workers; {study.audit().statement}")
        if study.certificate is not None:
            print(study.certificate.statement, *study.certificate.data, sep="\n")
