"""Offline reinforcement learning in one file: implicit Q-learning (IQL, Kostrikov and others, 2021) from a dataset.

    moonfarm generate towerdefence --policy 'mix(0.5*econ,0.5*random)' --episodes 6000 --obs none --out data/half
    python3 env/python/examples/offline.py data/half --opponent econ --out offline
    moonfarm eval towerdefence --player 'offline/network.onnx(greedy)' --player econ

The program plays no game while it learns. Three things are learned from the dataset's transitions: Q, the return after a
choice that was made; V, an expectile of Q over the choices made in similar states, which is the return of the better ones
among them; and a policy, which imitates each choice with the weight exp(beta × advantage), where the advantage is Q − V in
standard deviations of the batch. So it plays what went well more often than its teachers did, and never relies on the Q
of a choice that nobody tried. --beta 0 weighs all choices alike: that is behaviour cloning.

It takes any game and form with one head, such as towerdefence and `--form orders` of terminal. The reward is the dataset's
unless --reward names another. Afterwards the policy plays against each --opponent; the scores have Wilson's intervals
(95 %). The folder of --out gets network.onnx, a policy for moonfarm with the outputs policy and value.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from moonfarm.reading import Batch

ILLEGAL = torch.tensor(-1e9)
COLUMNS = ("mask", "action", "nstep", "next_planes", "next_scalars", "next_discount", "planes", "scalars")


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", help="folder of a dataset")
    p.add_argument("--form", help="form of observations and actions (default: the dataset's)")
    p.add_argument("--reward", help="reward to learn from (default: the dataset's)")
    p.add_argument("--discount", type=float, default=0.99)
    p.add_argument("--steps", type=int, default=5, help="actions whose rewards are summed before a value stands for the rest")
    p.add_argument("--beta", type=float, default=3.0, help="how much the policy prefers choices with an advantage; 0: not at all")
    p.add_argument("--expectile", type=float, default=0.8, help="of Q, that V learns; 0.5 is the mean")
    p.add_argument("--updates", type=int, default=2000)
    p.add_argument("--batch", type=int, default=512)
    p.add_argument("--width", type=int, default=256, help="of the layers")
    p.add_argument("--rate", type=float, default=1e-3, help="of learning, which falls to 0")
    p.add_argument("--average", type=float, default=0.01, help="weight of the newest parameters in the averaged V")
    p.add_argument("--shuffle", type=int, default=1 << 16, help="rows of the window in which they are shuffled")
    p.add_argument("--opponent", action="append", default=[], help="policy to play against in the end; may be repeated")
    p.add_argument("--temperature", type=float, default=0.0, help="of the choices drawn against opponents; 0: the likeliest, which end turns too early in sequential forms")
    p.add_argument("--games", type=int, default=200, help="against each opponent")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--out", type=Path, default=Path("offline"))
    return p.parse_args()


class Dense(nn.Conv2d):
    """A linear layer, computed as a convolution: many times as fast where PyTorch lacks a fast library for matrices, as
    Debian's does, and elsewhere no slower."""

    def __init__(self, inputs: int, outputs: int, gain: float = 2**0.5) -> None:
        self.inputs = inputs
        super().__init__((inputs + 63) // 64, outputs, 8)
        nn.init.normal_(self.weight, std=gain / inputs**0.5)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return F.linear(x, self.weight.flatten(1)[:, : self.inputs], self.bias)
        return super().forward(F.pad(x, (0, -self.inputs % 64)).view(x.shape[0], -1, 8, 8)).flatten(1)


class Network(nn.Module):
    """Layers over all cells and scalars, and outputs of these sizes."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int, *outputs: int) -> None:
        super().__init__()
        d = envs.description
        for name in ("planes", "scalars"):
            scales = torch.tensor([float(x["scale"]) for x in d[name]])
            self.register_buffer(name, 1 / scales.view(-1, *[1] * (2 * (name == "planes"))), persistent=False)
        inputs = len(d["planes"]) * d["height"] * d["width"] + 2 * len(d["scalars"])
        self.first, self.second = Dense(inputs, width), Dense(width, width)
        self.last = nn.ModuleList(Dense(width, size, 0.1) for size in outputs)

    def forward(self, planes: Tensor, scalars: Tensor) -> list[Tensor]:
        scalars = scalars * self.scalars
        small = torch.clamp(10 * scalars, 0, 2)  # prices are a few hundredths of the scale of a purse
        x = torch.cat([(planes.float() * self.planes).flatten(1), scalars, small], 1)
        x = torch.relu(self.first(x))
        x = x + torch.relu(self.second(x))
        return [last(x) for last in self.last]


class Agent(nn.Module):
    """The policy that is written: logits, and the value."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int) -> None:
        super().__init__()
        self.actor, self.critic = Network(envs, width, envs.choices), Network(envs, width, envs.choices, 1)

    def forward(self, planes: Tensor, scalars: Tensor) -> tuple[Tensor, Tensor]:
        return self.actor(planes, scalars)[0], self.critic(planes, scalars)[1][:, 0].clamp(-1, 1)


def transitions(ds: moonfarm.Dataset, args: argparse.Namespace) -> Iterator[Batch]:
    """Yields batches for ever, epoch after epoch."""
    for epoch in range(2**31):
        yield from ds.batches(
            args.batch, shuffle=args.shuffle, seed=args.seed, epoch=epoch, columns=COLUMNS, obs="planes",
            reward=args.reward, discount=args.discount, next=True, steps=args.steps,
        )  # fmt: skip


def losses(agent: Agent, averaged: Network, ds: moonfarm.Dataset, b: Batch, args: argparse.Namespace) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the losses of Q, V and the policy."""
    known = b["action"] >= 0  # else no choice says the orders
    t = {name: torch.from_numpy(b[name][known]) for name in COLUMNS if name != "mask"}
    action, legal = t["action"].long()[:, None], torch.from_numpy(ds.masks(b["mask"][known]))
    with torch.no_grad():
        target = t["nstep"] + t["next_discount"] * averaged(t["next_planes"], t["next_scalars"])[1][:, 0]
    q, value = agent.critic(t["planes"], t["scalars"])
    q = q.gather(1, action)[:, 0]
    advantage = q.detach() - value[:, 0]
    side = torch.where(advantage > 0, args.expectile, 1 - args.expectile)
    logits = torch.where(legal, agent.actor(t["planes"], t["scalars"])[0], ILLEGAL)
    surprise = F.cross_entropy(logits, action[:, 0], reduction="none")
    weight = torch.exp(args.beta * advantage.detach() / (advantage.detach().std(unbiased=False) + 1e-3)).clamp(max=20)
    return (q - target).square().mean(), (side * advantage.square()).mean(), (weight * surprise).mean() / weight.mean()


def learn(agent: Agent, ds: moonfarm.Dataset, args: argparse.Namespace) -> None:
    averaged, optimizer = copy.deepcopy(agent.critic), torch.optim.Adam(agent.parameters(), args.rate)
    start = shown = time.monotonic()
    sums, count = torch.zeros(3), 0
    for update, batch in zip(range(1, args.updates + 1), transitions(ds, args)):
        optimizer.param_groups[0]["lr"] = args.rate * (1 - (update - 1) / args.updates)
        parts = torch.stack(losses(agent, averaged, ds, batch, args))
        optimizer.zero_grad()
        parts.sum().backward()
        optimizer.step()
        with torch.no_grad():
            for old, new in zip(averaged.parameters(), agent.critic.parameters()):
                old.lerp_(new, args.average)
        sums, count = sums + parts.detach(), count + 1
        if time.monotonic() - shown > 5 or update == args.updates:
            shown = time.monotonic()
            q, value, policy = (sums / count).tolist()
            print(f"{shown - start:6.0f} s  {update} updates  loss of Q {q:.4f}, V {value:.5f}, policy {policy:.3f}", flush=True)
            sums, count = torch.zeros(3), 0


@torch.no_grad()
def play(agent: Agent, ds: moonfarm.Dataset, opponent: str, args: argparse.Namespace) -> None:
    """Prints the score against an opponent."""
    envs = moonfarm.make_vec(ds.game, args.games, form=ds.form, opponent=opponent, seat="random")
    obs, infos = envs.reset(seed=args.seed)
    results = np.full(args.games, np.nan)
    while np.isnan(results).any():
        logits = agent(torch.from_numpy(obs["planes"]), torch.from_numpy(obs["scalars"]))[0]
        logits = logits - args.temperature * torch.empty_like(logits).exponential_().log()  # the largest is a draw of the softmax
        action = torch.where(torch.from_numpy(infos["action_mask"]), logits, ILLEGAL).argmax(1)
        obs, _, _, _, infos = envs.step(action.int().numpy())
        results = np.where(np.isnan(results), infos["result"], results)
    envs.close()
    share, n, z = (float(results.mean()) + 1) / 2, args.games, 1.96
    middle, half = share + z * z / (2 * n), z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    low, high = ((middle + side * half) / (1 + z * z / n) for side in (-1, 1))
    print(f"{100 * share:.1f} % against {opponent} in {n} games, between {100 * max(0, low):.1f} and {100 * high:.1f} %", flush=True)


def write(agent: Agent, envs: moonfarm.VectorEnv, file: Path) -> None:
    """Writes an ONNX file that moonfarm plays."""
    d = envs.description
    example = torch.zeros(1, len(d["planes"]), d["height"], d["width"]), torch.zeros(1, len(d["scalars"]))
    names = ["planes", "scalars"], ["policy", "value"]
    older = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            agent, example, str(file), input_names=names[0], output_names=names[1],
            dynamic_axes={name: {0: "rows"} for part in names for name in part}, **older,
        )  # fmt: skip


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    ds = moonfarm.dataset(args.data, form=args.form)
    if len(ds.heads) > 1 or ds.tensors:
        raise SystemExit(f"{args.data}: the form {ds.form} has {len(ds.heads)} heads; expected one, and planes (--form)")
    envs = moonfarm.make_vec(ds.game, 1, form=ds.form, opponent="random")
    print(ds, flush=True)
    agent = Agent(envs, args.width)
    args.out.mkdir(parents=True, exist_ok=True)
    learn(agent, ds, args)
    write(agent, envs, args.out / "network.onnx")
    for opponent in args.opponent:
        play(agent, ds, opponent, args)


if __name__ == "__main__":
    main()
