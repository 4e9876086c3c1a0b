"""Plays random legal choices and prints the speed: the smallest program that steps a vector of games.

python3 env/python/examples/random_rollout.py towerdefence --opponent econ --seconds 5
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

import moonfarm


def sample(mask: np.ndarray, envs: moonfarm.VectorEnv, rng: np.random.Generator) -> np.ndarray:
    """Draws a legal choice of every head for every row, uniformly."""
    legal = moonfarm.unpack_masks(mask, envs.choices)
    actions = np.zeros((len(mask), len(envs.heads)), np.int32)
    head = first = 0
    for size, group in itertools.groupby(envs.heads):  # adjacent heads of one size are drawn together
        count = len(list(group))
        choices = legal[:, first : first + count * size].reshape(-1, count, size)
        chance = rng.random(choices.shape, np.float32)
        actions[:, head : head + count] = np.where(choices, chance, -1).argmax(2)
        head, first = head + count, first + count * size
    return actions[:, 0] if len(envs.heads) == 1 else actions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", default="towerdefence")
    parser.add_argument("--opponent", default="random", help="policy of the other seats; 'self': every seat is a row")
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--max-turns", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    opponent = None if args.opponent == "self" else args.opponent
    envs = moonfarm.make_vec(
        args.game, args.envs, opponent=opponent, seat="random" if opponent else 0, max_turns=args.max_turns
    )
    _, infos = envs.reset(seed=args.seed)
    begun = said = time.perf_counter()
    steps = inside = episodes = 0
    total = 0.0
    while True:
        actions = sample(infos["mask"], envs, rng)
        before = time.perf_counter()
        _, _, terminated, truncated, infos = envs.step(actions)
        now = time.perf_counter()
        inside += now - before
        steps += envs.num_envs
        done = terminated | truncated
        if done.any():
            episodes += int(done.sum())
            total += float(infos["result"][done].sum())
        over = now - begun > args.seconds
        if over or now - said > 1:
            said = now
            mean = f"{total / episodes:+.3f}" if episodes else "none yet"
            print(
                f"{now - begun:5.1f} s  {steps} agent-steps  {steps / (now - begun):.0f} a second"
                f" ({steps / inside:.0f} without the drawing of actions)  {episodes} episodes  mean result {mean}",
                flush=True,
            )
        if over:
            break
    envs.close()


if __name__ == "__main__":
    main()
