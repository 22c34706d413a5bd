"""Draws the pictures of the README and the documentation: python docs/figures.py"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import surefoot as sf
from surefoot.simulation import run_session

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")  # told apart by colour-blind eyes too
IMAGES = Path(__file__).parent / "images"


def one_run(world: sf.worlds.Linear, seed: int) -> tuple[sf.Session, np.ndarray, np.ndarray]:
    """A finished session, with the certified levels (T, K) and the gap (T,) before each pull."""
    session = sf.Session(world.default_problem(), seed=seed)
    levels: list[np.ndarray] = []
    gaps: list[float | None] = []

    def watch(session: sf.Session) -> None:
        levels.append(session.levels)
        gaps.append(session.gap)

    run_session(world, session, seed=seed, watch=watch)
    return session, np.array(levels), np.array(gaps, dtype=float)


def draw_levels(path: Path) -> None:
    """Writes a picture of one run: certified levels grow towards the true limits while the gap shrinks to epsilon."""
    world = sf.worlds.doses()
    session, levels, gaps = one_run(world, seed=7)
    pulls, kept = np.arange(1, len(gaps) + 1), thinned(len(gaps))
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 5.2), sharex=True, height_ratios=(3, 2), layout="constrained"
    )
    for k, (name, colour) in enumerate(zip(world.names, COLOURS, strict=True)):
        limit = world.best_levels()[k]
        above.plot(pulls[kept], levels[kept, k], color=colour, linewidth=1.8)
        above.axhline(limit, color=colour, linewidth=0.9, linestyle=(0, (2, 3)))
        above.annotate(name, (pulls[-1], limit), (6, 0), textcoords="offset points", color=colour, va="center")
    above.set(ylabel="certified level", ylim=(0, 1.06), xscale="log")
    above.set_title(
        "Levels grow only as far as they are certified; dotted: where the mean reading truly meets the limit",
        fontsize=10,
    )
    below.plot(pulls[kept], gaps[kept], color="#333333", linewidth=1.4)
    below.axhline(session.problem.epsilon, color="#333333", linewidth=0.9, linestyle=(0, (2, 3)))
    below.annotate("epsilon", (pulls[-1], session.problem.epsilon), (6, 0), textcoords="offset points", va="center")
    below.set(xlabel="pulls", ylabel="gap", yscale="log", xlim=(10, pulls[-1]))
    below.set_title("The gap: by how much any rival might still be better. At epsilon it stops", fontsize=10)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def thinned(length: int, points: int = 400) -> np.ndarray:
    """Positions that look evenly spaced on a logarithmic axis."""
    return np.unique(np.geomspace(1, length, points).astype(int)) - 1


if __name__ == "__main__":
    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "surefoot", "svg.fonttype": "path", "font.size": 10, "savefig.facecolor": "white"}
    IMAGES.mkdir(exist_ok=True)
    draw_levels(IMAGES / "levels.svg")
