"""A bot for C1 Terminal that searches: it plays out many random turns and takes the best.

The original engine starts it once a match, sends its config and then a line for every
frame, and reads two lines of commands for each deploy frame:

    moonfarm match terminal --player "python3 search_terminal.py" --player starter
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # if the package is not installed
import moonfarm


def random_turns(rng: np.random.Generator, legal: np.ndarray, heads: list[int], games: int) -> np.ndarray:
    """Draws actions int32 [games, heads] of legal choices, bool [choices]; -1 gives no order."""
    actions = np.full((games, len(heads)), -1, np.int32)
    busy = rng.random((games, len(heads))) < rng.random((games, 1)) * 0.2  # few commands, or many
    start = 0
    for head, size in enumerate(heads):
        choices = np.flatnonzero(legal[start : start + size])
        if len(choices):
            drawn = rng.choice(choices, games)
            actions[busy[:, head], head] = drawn[busy[:, head]]
        start += size
    return actions


class Search:
    """Keeps the environment, because making one takes longer than a search."""

    def __init__(self, config: str, games: int, depth: int) -> None:
        self.config, self.games, self.depth = config, games, depth
        self.rng = np.random.default_rng(0)
        # The opponent of the playouts is a policy; the bot sees the arena from below, as seat 0.
        self.env = moonfarm.make_vec(
            "terminal", games, rules=config, opponent="random", seat=0, reward="health", obs=("mask",),
            autoreset="disabled", seed=0,
        )  # fmt: skip
        self.env.reset()

    def answer(self, frame: str) -> bytes:
        """Returns the two lines of the turn whose playouts are the best."""
        state = moonfarm.state_from("terminal", frame, rules=self.config)
        env = self.env
        env.set_state([state] * self.games)
        first = random_turns(self.rng, env.action_masks()[0], env.heads, self.games)
        first[0] = -1  # one candidate does nothing
        actions, value, running = first, np.zeros(self.games), np.ones(self.games, np.bool_)
        for _ in range(self.depth):
            _, rewards, terminated, truncated, _ = env.step(actions)
            value += rewards * running
            running &= ~(terminated | truncated)
            if not running.all():
                break  # games that have ended cannot be stepped: the values so far count
            actions = np.full_like(first, -1)  # no more orders in the playout
        return state.answer(first[int(np.argmax(value))])


def main() -> None:
    """Answers deploy frames until the match is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=512, help="turns to try")
    parser.add_argument("--depth", type=int, default=3, help="turns of a playout")
    args = parser.parse_args()
    search = None
    for line in sys.stdin:
        if search is None:
            search = Search(line, args.games, args.depth)
            continue
        phase = json.loads(line)["turnInfo"][0]
        if phase == 2:
            break
        if phase == 0:
            sys.stdout.write(search.answer(line).decode())
            sys.stdout.flush()


if __name__ == "__main__":
    main()
