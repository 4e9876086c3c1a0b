"""Proximal policy optimisation against scripts and past selves, in one file.

Half of the games are against scripts, the other half against a league of earlier versions of the learner. Each
episode draws its opponent and the learner's seat. The first line of the curve is for the untrained network.

    python3 env/python/examples/ppo_selfplay.py towerdefence --reward health --seconds 900 --out ppo

writes ppo/policy.pt and ppo/curve.csv. Results depend on --seed, but also on how many updates fit into the time:
with --updates instead of --seconds they can be reproduced on the same machine.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm


class Dense(nn.Conv2d):
    """A linear layer, computed as a convolution: up to 30 times as fast where PyTorch lacks a fast library for
    matrices, as Debian's does, and elsewhere no slower."""

    def __init__(self, inputs: int, outputs: int, gain: float) -> None:
        self.inputs = inputs
        super().__init__((inputs + 63) // 64, outputs, 8)
        nn.init.normal_(self.weight, std=gain / inputs**0.5)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        if x.is_cuda:
            return F.linear(x, self.weight.flatten(1)[:, : self.inputs], self.bias)
        return super().forward(F.pad(x, (0, -self.inputs % 64)).view(len(x), -1, 8, 8)).flatten(1)


class Network(nn.Module):
    """From planes, scalars and masks to a logit for each choice of each head, and a value."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int) -> None:
        super().__init__()
        d = envs.description
        planes = len(d["planes"])
        self.register_buffer(
            "plane_scale", 1 / torch.tensor([float(p["scale"]) for p in d["planes"]]).view(1, planes, 1, 1)
        )
        self.register_buffer("scalar_scale", 1 / torch.tensor([float(s["scale"]) for s in d["scalars"]]).view(1, -1))
        self.heads = [(size, len(list(group))) for size, group in itertools.groupby(envs.heads)]
        inputs = planes * d["height"] * d["width"] + len(d["scalars"]) + envs.choices
        self.trunk = nn.Sequential(
            Dense(inputs, width, 2**0.5), nn.ReLU(), Dense(width, width, 2**0.5), nn.ReLU(),
        )  # fmt: skip
        self.policy, self.value = Dense(width, envs.choices, 0.01), Dense(width, 1, 1.0)

    def forward(self, planes: Tensor, scalars: Tensor, masks: Tensor) -> tuple[list[Tensor], Tensor]:
        """Returns log-probabilities of the legal choices, [rows, heads, choices] by heads of one size, and values."""
        seen = [(planes.float() * self.plane_scale).flatten(1), scalars * self.scalar_scale, masks.float()]
        h = self.trunk(torch.cat(seen, 1))
        logits = self.policy(h).masked_fill(~masks, -1e9)
        parts, first = [], 0
        for size, count in self.heads:
            part = logits[:, first : first + size * count].view(-1, count, size)
            parts.append(F.log_softmax(part, 2))
            first += size * count
        return parts, self.value(h)[:, 0]


def draw(parts: list[Tensor], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draws actions [rows, heads] by their probabilities; returns them and each row's log-probability."""
    actions, logs = [], []
    for part in parts:
        noise = torch.rand(part.shape, generator=generator).to(part.device)
        choice = (part - torch.log(-torch.log(noise.clamp(1e-9, 1 - 1e-7)))).argmax(2)
        actions.append(choice)
        logs.append(part.gather(2, choice[..., None]).sum((1, 2)))
    return torch.cat(actions, 1), sum(logs)


def weigh(parts: list[Tensor], actions: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the log-probability of the actions and the entropy of each row."""
    logs, entropy, first = 0, 0, 0
    for part in parts:
        choice = actions[:, first : first + part.shape[1], None]
        logs = logs + part.gather(2, choice).sum((1, 2))
        entropy = entropy - (part.exp() * part).sum((1, 2))
        first += part.shape[1]
    return logs, entropy


class Player:
    """A network as an opponent: moonfarm calls it with the rows that it plays."""

    def __init__(self, network: Network, envs: moonfarm.VectorEnv, device: str, generator: torch.Generator) -> None:
        self.network, self.device, self.generator = network, device, generator
        self.choices, self.masked, self.one_head = envs.choices, envs.masked_choices, len(envs.heads) == 1

    def see(self, obs: dict[str, Any], mask: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        masks = moonfarm.unpack_masks(mask, self.masked, self.choices)
        return tuple(torch.from_numpy(a).to(self.device) for a in (obs["planes"], obs["scalars"], masks))

    def shape(self, actions: Tensor) -> np.ndarray:
        a = actions.to("cpu", torch.int32).numpy()
        return a[:, 0] if self.one_head else a

    @torch.no_grad()
    def __call__(self, obs: dict[str, Any], infos: dict[str, Any]) -> np.ndarray:
        parts, _ = self.network(*self.see(obs, infos["mask"]))
        return self.shape(draw(parts, self.generator)[0])


class Games:
    """Several vectors of games as one: the learner need not know its opponent."""

    def __init__(self, vectors: list[moonfarm.VectorEnv], seed: int) -> None:
        self.vectors = vectors
        self.sizes = [v.num_envs for v in vectors]
        first = [v.reset(seed=seed + 1_000_000 * i) for i, v in enumerate(vectors)]
        self.obs, self.mask = self.join([f[0] for f in first]), np.concatenate([f[1]["mask"] for f in first])

    @staticmethod
    def join(obs: list[dict[str, Any]]) -> dict[str, Any]:
        return {name: np.concatenate([o[name] for o in obs]) for name in obs[0]}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns shaped rewards, results of episodes that have ended, and which games have ended."""
        steps = [v.step(a) for v, a in zip(self.vectors, np.split(actions, np.cumsum(self.sizes)[:-1]))]
        self.obs, self.mask = self.join([s[0] for s in steps]), np.concatenate([s[4]["mask"] for s in steps])
        done = np.concatenate([s[2] | s[3] for s in steps])
        results = np.zeros(len(done), np.float32)
        at = 0
        for s, size in zip(steps, self.sizes):
            if "final_info" in s[4]:
                results[at : at + size] = s[4]["final_info"]["result"]
            at += size
        return np.concatenate([s[1] for s in steps]), results, done


def score(game: str, opponent: str, player: Player, games: int, seed: int) -> float:
    """Returns the share of games that the player wins, with draws as half; its first seat is random."""
    envs = moonfarm.make_vec(game, games, opponent=opponent, seat="random", autoreset="next_step")
    obs, infos = envs.reset(seed=seed)
    results = np.full(games, np.nan)
    while np.isnan(results).any():
        obs, _, terminated, truncated, infos = envs.step(player(obs, infos))
        fresh = (terminated | truncated) & np.isnan(results)  # the first episode of each game counts
        if fresh.any():
            results[fresh] = infos["result"][fresh]
    envs.close()
    return float((results.mean() + 1) / 2)


def advantages(rewards: Tensor, values: Tensor, done: Tensor, last: Tensor, gamma: float, smooth: float) -> Tensor:
    """Returns generalised advantage estimates, [steps, games]."""
    out, ahead, after = torch.zeros_like(rewards), torch.zeros_like(last), last
    for t in reversed(range(len(rewards))):
        goes_on = ~done[t]
        delta = rewards[t] + gamma * after * goes_on - values[t]
        ahead = delta + gamma * smooth * ahead * goes_on
        out[t], after = ahead, values[t]
    return out


def update(
    network: Network, optimiser: torch.optim.Optimizer, data: dict[str, Tensor], args: argparse.Namespace,
) -> None:
    """Makes several passes over the data."""
    rows = len(data["log"])
    for _ in range(args.passes):
        for i in torch.randperm(rows).split(args.batch):
            b = {name: a[i.to(a.device)] for name, a in data.items()}
            parts, value = network(b["planes"], b["scalars"], b["masks"])
            log, entropy = weigh(parts, b["actions"])
            ratio = (log - b["log"]).exp()
            gain = (b["advantage"] - b["advantage"].mean()) / (b["advantage"].std() + 1e-6)
            policy = -torch.min(ratio * gain, ratio.clamp(1 - args.clip, 1 + args.clip) * gain).mean()
            loss = policy + 0.5 * F.mse_loss(value, b["return"]) - args.entropy * entropy.mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimiser.step()


def play(games: Games, me: Player, args: argparse.Namespace) -> dict[str, Tensor]:
    """Plays some steps of all games with the current network; returns observations, actions and rewards."""
    kept: dict[str, list[Tensor]] = {}
    for _ in range(args.steps):
        seen = me.see(games.obs, games.mask)
        with torch.no_grad():
            parts, value = me.network(*seen)
        actions, log = draw(parts, me.generator)
        shaped, results, done = games.step(me.shape(actions))
        reward = torch.from_numpy(args.shaping * shaped + results).to(me.device)
        row = dict(zip(("planes", "scalars", "masks"), seen), actions=actions, log=log, value=value, reward=reward)
        row["done"] = torch.from_numpy(done).to(me.device)
        for name, a in row.items():
            kept.setdefault(name, []).append(a)
    with torch.no_grad():
        last = me.network(*me.see(games.obs, games.mask))[1]
    data = {name: torch.stack(a) for name, a in kept.items()}
    reward, value, done = (data.pop(name) for name in ("reward", "value", "done"))
    data["advantage"] = advantages(reward, value, done, last, args.gamma, args.smooth)
    data["return"] = data["advantage"] + value
    return {name: a.flatten(0, 1) for name, a in data.items()}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", default="towerdefence")
    parser.add_argument("--opponents", help="policies to train and measure against, separated by commas; all")
    parser.add_argument("--seconds", type=float, default=900, help="seconds of training, without measurements")
    parser.add_argument("--updates", type=int, default=10**9, help="largest number of updates")
    parser.add_argument("--out", type=Path, help="folder for policy.pt and curve.csv")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reward", help="reward of the game that is added to the result")
    parser.add_argument("--shaping", type=float, default=0.01, help="weight of that reward")
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--steps", type=int, default=64, help="steps of each game between updates")
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.995)
    parser.add_argument("--smooth", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--league", type=int, default=4, help="number of past selves that play at the same time")
    parser.add_argument("--past", type=int, default=25, help="updates between past selves")
    parser.add_argument("--measure", type=float, default=60, help="seconds between measurements")
    parser.add_argument("--games", type=int, default=100, help="games of a measurement against each opponent")
    parser.add_argument("--threads", type=int, default=0, help="PyTorch's threads; 0: its default")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    policies = {g["name"]: g["policies"] for g in moonfarm.games()}[args.game]
    scripts = args.opponents.split(",") if args.opponents else [p["name"] for p in policies if "…" not in p["name"]]

    options = {"seat": "random", "autoreset": "same_step", "reward": args.reward}
    against_scripts = moonfarm.make_vec(args.game, args.envs // 2, opponent=scripts, **options)
    network = Network(against_scripts, args.width).to(device)
    me = Player(network, against_scripts, device, generator)
    league = []
    for _ in range(args.league):
        past = Network(against_scripts, args.width).to(device)
        past.load_state_dict(network.state_dict())
        league.append(Player(past, against_scripts, device, generator))
    against_past = moonfarm.make_vec(args.game, args.envs - args.envs // 2, opponent=league, **options)
    games = Games([against_scripts, against_past], args.seed)
    if args.reward is None:
        args.shaping = 0.0  # the environment's reward is the result already
    optimiser = torch.optim.Adam(network.parameters(), args.rate, eps=1e-5)

    curve: list[dict[str, float]] = []
    trained, measured, updates, steps = 0.0, -args.measure, 0, 0
    while True:
        over = trained >= args.seconds or updates >= args.updates
        if over or trained - measured >= args.measure:
            measured = trained
            # The final measurement uses more games than the others.
            scores = {s: score(args.game, s, me, args.games * (4 if over else 1), 10**9 + updates) for s in scripts}
            curve.append({"seconds": round(trained, 1), "updates": updates, "steps": steps, **scores})
            said = "  ".join(f"{name} {100 * x:.0f} %" for name, x in scores.items())
            print(f"{trained:6.0f} s  {updates} updates  {steps} steps  against {said}", flush=True)
        if over:
            break
        begun = time.perf_counter()
        left = 1 - min(1.0, max(trained / args.seconds, updates / args.updates))
        for group in optimiser.param_groups:
            group["lr"] = args.rate * max(left, 0.05)
        update(network, optimiser, play(games, me, args), args)
        updates, steps = updates + 1, steps + args.envs * args.steps
        if updates % args.past == 0:
            league[updates // args.past % args.league].network.load_state_dict(network.state_dict())
        trained += time.perf_counter() - begun
    for name in scripts:
        marks = "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * point[name]))] for point in curve)
        print(f"{name:>12} {marks}  {100 * curve[-1][name]:.1f} % of {4 * args.games} games")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        torch.save(network.state_dict(), args.out / "policy.pt")
        with open(args.out / "curve.csv", "w", newline="") as f:
            writer = csv.DictWriter(f, curve[0].keys())
            writer.writeheader()
            writer.writerows(curve)


if __name__ == "__main__":
    main()
