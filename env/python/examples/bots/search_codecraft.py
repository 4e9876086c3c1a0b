"""A bot for CodeCraft 2020 that searches: it plays out many random sets of orders and takes the best.

Its arguments are host, port and token, as for the original clients:

    moonfarm match codecraft --player "python3 search_codecraft.py" --player quickstart

Under fog the search knows only what is in sight; moonfarm.state_from documents what it assumes
about the rest. Entities continue their orders until they get others, so the bot searches every
few ticks, and most entities get no new orders.
"""

import argparse
import socket
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # if the package is not installed
import moonfarm

FINISH = struct.pack("<i", 1)
NOTHING = struct.pack("<ii", 1, 0)  # an action message without an entity


def receive(connection: socket.socket, rules: str) -> "moonfarm.State | None":
    """Returns the state of the next message; None if the game is over. Messages do not contain their length."""
    message = b""
    while True:
        part = connection.recv(1 << 16)
        message += part
        if not part or message == FINISH:
            return None
        try:
            return moonfarm.state_from("codecraft", message, rules=rules)
        except moonfarm.DataError as e:
            if "EOF" not in str(e):  # otherwise the rest is still to come
                raise


def random_orders(rng: np.random.Generator, legal: np.ndarray, heads: list[int], games: int) -> np.ndarray:
    """Draws actions int32 [games, heads] of legal choices, bool [choices]; -1 gives no order."""
    actions = np.full((games, len(heads)), -1, np.int32)
    busy = rng.random((games, len(heads))) < rng.random((games, 1))
    start = 0
    for head, size in enumerate(heads):
        choices = np.flatnonzero(legal[start : start + size])
        if len(choices):
            drawn = rng.choice(choices, games)
            actions[busy[:, head], head] = drawn[busy[:, head]]
        start += size
    return actions


def search(env: moonfarm.VectorEnv, state: moonfarm.State, rng: np.random.Generator, depth: int) -> bytes:
    """Returns the message with the orders whose playouts are the best."""
    games = env.num_envs
    env.set_state([state] * games)
    first = random_orders(rng, env.action_masks()[0], env.heads, games)
    first[0] = -1  # one candidate gives no orders
    actions, value = first, np.zeros(games)
    for _ in range(depth):
        _, rewards, terminated, truncated, _ = env.step(actions)
        value += rewards
        if (terminated | truncated).any():
            break
        actions = np.full_like(first, -1)
    return state.answer(first[int(np.argmax(value))])


def main() -> None:
    """Plays a game."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("token")
    parser.add_argument("--rules", default="finals", help="rules that views lack")
    parser.add_argument("--games", type=int, default=48, help="sets of orders to try")
    parser.add_argument("--depth", type=int, default=12, help="ticks of a playout")
    parser.add_argument("--every", type=int, default=4, help="ticks from one search to the next")
    args = parser.parse_args()
    rng, env, tick = np.random.default_rng(0), None, 0
    with socket.create_connection((args.host, args.port)) as connection:
        token = args.token.encode()
        connection.sendall(struct.pack("<i", len(token)) + token)
        while (state := receive(connection, args.rules)) is not None:
            if env is None:
                env = moonfarm.make_vec(
                    "codecraft", args.games, rules=state.rules, opponent="quickstart", seat=state.seat, reward="score",
                    obs=("mask",), autoreset="disabled", seed=0,
                )  # fmt: skip
                env.reset()
            connection.sendall(search(env, state, rng, args.depth) if tick % args.every == 0 else NOTHING)
            tick += 1


if __name__ == "__main__":
    main()
