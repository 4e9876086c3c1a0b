"""trajectory.py GAME,FORM,OPPONENT,MODE,STEPS …: plays four games of each and prints hashes of all results of steps.

The first is of step, the second of send and recv. No OPPONENT makes every seat
a row; else the seat is drawn. The test of the library plays the same in Go.
"""

import hashlib
import sys

import numpy as np

import moonfarm

PARTS = ("planes", "packed", "scalars", "mask", "key")


def actions(env, infos, key):
    """For one head the legal choice that the key selects, for several heads any choices."""
    key = key[:, None]
    if len(env.heads) > 1:
        shift = np.arange(len(env.heads), dtype=np.uint64) % np.uint64(40)
        return ((key >> shift) % np.array(env.heads, np.uint64)).astype(np.int32)
    masks = env.action_masks(infos["mask"])
    legal = [np.flatnonzero(m) for m in masks]
    return np.array([m[int(k) % len(m)] if len(m) else -1 for m, k in zip(legal, key[:, 0])], np.int32)


def play(game, form, opponent, mode, steps, blocks):
    """Returns the hash; blocks: by send and recv."""
    seats = {"opponent": opponent, "seat": "random"} if opponent else {}
    env = moonfarm.make_vec(
        game, 4, form=form, obs=PARTS, autoreset=mode, copy=False, workers=2, batch_size=2, **seats
    )  # fmt: skip
    obs, infos = env.reset(seed=11)
    digest = hashlib.sha256()
    rows, no_waits = np.zeros((2, env.num_envs), np.bool_), np.zeros(env.num_envs, np.bool_)
    for _ in range(steps):
        chosen = actions(env, {"mask": obs["mask"]}, obs["key"])
        if blocks:
            env.send(chosen)
            for _ in range(env.blocks):
                _, _, terminated, truncated, infos = env.recv()
                rows[:, infos["env_id"]] = terminated, truncated
        else:
            _, _, rows[0], rows[1], _ = env.step(chosen)
        for array in (
            *(env.arrays[part] for part in PARTS), env.arrays["reward"], rows, env.arrays["turn"],
            env.arrays["episode"], env.arrays.get("waits", no_waits), env.ask("random"),
        ):  # fmt: skip
            digest.update(array.astype(array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    for case in sys.argv[1:]:
        *given, steps = case.split(",")
        print(play(*given, int(steps), False), play(*given, int(steps), True))
