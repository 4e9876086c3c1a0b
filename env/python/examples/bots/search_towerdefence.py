"""A bot for Tower Defence that searches: it plays out every command on all cores and takes the best.

The original engine starts it every round in a folder with state.json and reads its
command.txt. To let it play here, from a folder of its own:

    moonfarm match towerdefence --player "python3 search_towerdefence.py" --player econ

The search is flat: every legal choice gets equally many games, in which both players
continue at random. The bot plays the choice with the best mean change of score.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # if the package is not installed
import moonfarm


def random_choices(rng: np.random.Generator, legal: np.ndarray) -> np.ndarray:
    """Draws a legal choice for each row of legal, bool [rows, choices]."""
    return np.argmax(rng.random(legal.shape, np.float32) * legal, axis=1).astype(np.int32)


def search(state: moonfarm.State, games: int, depth: int, seed: int) -> int:
    """Returns the choice with the best playouts, with that number of games and turns."""
    rng = np.random.default_rng(seed)
    with moonfarm.make_vec(
        "towerdefence", games, rules=state.rules, opponent="random", seat=state.seat, reward="score",
        obs=("mask",), autoreset="disabled", seed=seed, action_mask=True,
    ) as env:  # fmt: skip
        env.reset()
        _, infos = env.set_state([state] * games)
        choices = np.flatnonzero(infos["action_mask"][0])
        first = rng.permutation(choices)[np.arange(games) % len(choices)].astype(np.int32)
        actions, value, running = first, np.zeros(games), np.ones(games, np.bool_)
        for _ in range(depth):
            _, rewards, terminated, truncated, infos = env.step(actions)
            value += rewards * running
            running &= ~(terminated | truncated)
            if not running.all():
                break  # games that have ended cannot be stepped: the values so far count
            actions = random_choices(rng, infos["action_mask"])
    means = [value[first == c].mean() if (first == c).any() else -np.inf for c in choices]
    return int(choices[int(np.argmax(means))])


def main() -> None:
    """Reads state.json, writes command.txt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=4096, help="playouts")
    parser.add_argument("--depth", type=int, default=24, help="turns of a playout")
    args = parser.parse_args()
    state = moonfarm.state_from("towerdefence", Path("state.json").read_text())
    choice = search(state, args.games, args.depth, seed=0)
    Path("command.txt").write_bytes(state.answer(choice))


if __name__ == "__main__":
    main()
