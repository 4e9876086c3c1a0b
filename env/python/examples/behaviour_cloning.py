"""Learns to choose as the players of a dataset chose, and plays.

    go run ./cmd/moonfarm generate towerdefence --policy econ --episodes 20000 --obs none --out data/econ
    python3 env/python/examples/behaviour_cloning.py data/econ --seconds 300 --opponent econ --out clone

The observations are made from the dataset's orders while it is read. Printed is how often the network's likeliest
legal choice is the one that was made, in episodes that it does not learn from; heads with one legal choice do not
count. A script that draws by chance cannot be foretold always: at most 79 % of econ's choices are. Then the network
plays the opponent. --out is for clone.onnx, clone.pt and curve.csv.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm


class Dense(nn.Conv2d):
    """A linear layer, computed as a convolution: where PyTorch has no fast library for matrices, as Debian's, that is
    up to 30 times as fast, and elsewhere no slower."""

    def __init__(self, inputs: int, outputs: int, gain: float = 2**0.5) -> None:
        self.inputs = inputs
        super().__init__((inputs + 63) // 64, outputs, 8)
        nn.init.normal_(self.weight, std=gain / inputs**0.5)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        if x.is_cuda or torch.onnx.is_in_onnx_export():
            return F.linear(x, self.weight.flatten(1)[:, : self.inputs], self.bias)
        return super().forward(F.pad(x, (0, -self.inputs % 64)).view(len(x), -1, 8, 8)).flatten(1)


class Heads(nn.Module):
    """Neighbouring heads of one size: where they stand among all heads and choices, and their logits."""

    def __init__(self, width: int, head: int, first: int, count: int, size: int, masked: bool) -> None:
        super().__init__()
        self.heads, self.choices = slice(head, head + count), slice(first, first + count * size)
        self.count, self.size, self.masked = count, size, masked
        self.rank = 8 if count * size > 16384 else size  # many heads share what their choices mean
        self.out = Dense(width, count * self.rank, 0.1)
        self.shared = nn.Linear(self.rank, size) if self.rank != size else nn.Identity()

    def forward(self, h: Tensor, which: Tensor | None = None) -> Tensor:
        """[rows, heads, choices]; which, bool [rows, heads]: those alone, [n, choices]."""
        each = self.out(h).view(-1, self.count, self.rank)
        return self.shared(each if which is None else each[which])

    def legal(self, mask: Tensor) -> Tensor | None:
        """Which choices are legal, bool [rows, heads, choices]; None: all."""
        return mask[:, self.choices].view(-1, self.count, self.size) if self.masked else None


class Network(nn.Module):
    """Planes, scalars and mask to a logit for each choice of each head, one head after the other."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int) -> None:
        super().__init__()
        d = envs.description
        channels, height, breadth = len(d["planes"]), d["height"], d["width"]
        self.register_buffer("plane_scale", 1 / torch.tensor([float(p["scale"]) for p in d["planes"]]).view(1, -1, 1, 1))
        self.register_buffer("scalar_scale", 1 / torch.tensor([float(s["scale"]) for s in d["scalars"]]).view(1, -1))
        board: list[nn.Module] = []
        while channels * height * breadth > 10_000:  # a large board is made smaller first
            board += [nn.Conv2d(channels, 32, 3, stride=2, padding=1), nn.ReLU()]
            channels, height, breadth = 32, (height + 1) // 2, (breadth + 1) // 2
        self.board = nn.Sequential(*board, nn.Flatten())
        inputs = channels * height * breadth + len(d["scalars"]) + envs.masked_choices
        self.trunk = nn.Sequential(Dense(inputs, width), nn.ReLU(), Dense(width, width), nn.ReLU())
        self.policy, head, first = nn.ModuleList(), 0, 0
        for size, group in itertools.groupby(envs.heads):
            count = len(list(group))
            self.policy.append(Heads(width, head, first, count, size, first < envs.masked_choices))
            head, first = head + count, first + count * size

    def see(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> Tensor:
        """What the heads are computed from."""
        seen = [self.board(planes.float() * self.plane_scale), scalars * self.scalar_scale, mask.float()]
        return self.trunk(torch.cat(seen, 1))

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> Tensor:
        h = self.see(planes, scalars, mask)
        return torch.cat([heads(h).flatten(1) for heads in self.policy], 1)


class Learner:
    """The network, and what is known of the choices in the dataset."""

    def __init__(self, envs: moonfarm.VectorEnv, width: int, device: str) -> None:
        self.network = Network(envs, width).to(device)
        self.device, self.masked, self.one_head = device, envs.masked_choices, len(envs.heads) == 1
        self.common = torch.zeros(envs.choices, device=device)  # how often each choice was made

    def see(self, batch: dict[str, np.ndarray]) -> tuple[Tensor, Tensor]:
        """What the heads are computed from, and the masks."""
        mask = torch.from_numpy(moonfarm.unpack_masks(batch["mask"], self.masked)).to(self.device)
        planes, scalars = (torch.from_numpy(batch[name]).to(self.device) for name in ("planes", "scalars"))
        return self.network.see(planes, scalars, mask), mask

    def labels(self, batch: dict[str, np.ndarray]) -> Tensor:
        return torch.from_numpy(batch["action"].astype(np.int64).reshape(len(batch["mask"]), -1)).to(self.device)

    @staticmethod
    def counting(action: Tensor, legal: Tensor | None) -> Tensor:
        """Which heads have a label, and something to choose."""
        if legal is None:
            return action >= 0
        return (action >= 0) & (legal.sum(2) > 1) & legal.gather(2, action[..., None].clamp(min=0))[..., 0]

    def loss(self, batch: dict[str, np.ndarray]) -> Tensor:
        """The mean over rows of the heads' cross entropies."""
        h, mask = self.see(batch)
        actions = self.labels(batch)
        total = torch.zeros((), device=self.device)
        for heads in self.network.policy:
            action, legal = actions[:, heads.heads], heads.legal(mask)
            which = self.counting(action, legal)
            self.count(heads, action, which)
            if legal is None:  # of the many that say 0 and have no mask one in 32 is looked at, for all of them
                which &= (action != 0) | (torch.rand(action.shape, device=self.device) < 1 / 32)
            logits, target = heads(h, which), action[which]
            if legal is not None:
                logits = logits.masked_fill(~legal[which], -1e9)
            loss = F.cross_entropy(logits, target, reduction="none")
            total = total + (loss if legal is not None else loss * torch.where(target == 0, 32.0, 1.0)).sum()
        return total / len(actions)

    def count(self, heads: Heads, action: Tensor, which: Tensor) -> None:
        places = torch.arange(heads.count, device=self.device) * heads.size + action
        made = self.common[heads.choices]
        made += torch.bincount(places[which], minlength=heads.count * heads.size)

    def best(self, heads: Heads, logits: Tensor, mask: Tensor) -> Tensor:
        """The likeliest legal choice of each head."""
        legal = heads.legal(mask)
        return (logits if legal is None else logits.masked_fill(~legal, -1e9)).argmax(2)

    @torch.no_grad()
    def agreement(self, batches: Iterable[dict[str, np.ndarray]], rows: int) -> tuple[float, float, float, int]:
        """Of heads with a mask: how often the network is right, how often it is where the choice was not the commonest
        legal one, how often the commonest would be right, and of how many choices."""
        right = rare = rare_right = n = seen = 0
        for batch in batches:
            h, mask = self.see(batch)
            actions = self.labels(batch)
            for heads in self.network.policy:
                if not heads.masked:
                    continue
                action = actions[:, heads.heads]
                which = self.counting(action, heads.legal(mask))
                good = (self.best(heads, heads(h), mask) == action) & which
                made = self.common[heads.choices].view(1, heads.count, heads.size).expand(len(action), -1, -1)
                other = (self.best(heads, made, mask) != action) & which
                n, right = n + int(which.sum()), right + int(good.sum())
                rare, rare_right = rare + int(other.sum()), rare_right + int((good & other).sum())
            seen += len(actions)
            if seen >= rows:
                break
        return right / max(n, 1), rare_right / max(rare, 1), 1 - rare / max(n, 1), n

    @torch.no_grad()
    def __call__(self, obs: dict[str, np.ndarray], infos: dict[str, Any], greedy: bool) -> np.ndarray:
        """Actions to play: the likeliest, or drawn by their probabilities."""
        h, mask = self.see({**obs, "mask": infos["mask"]})
        chosen = []
        for heads in self.network.policy:
            logits = heads(h)
            if not greedy:
                logits = logits - torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            chosen.append(self.best(heads, logits, mask))
        actions = torch.cat(chosen, 1).to("cpu", torch.int32).numpy()
        return actions[:, 0] if self.one_head else actions


def play(learner: Learner, game: str, rules: str | None, args: argparse.Namespace) -> float:
    """The part of the games that the learner wins, draws as half; its seat is drawn by chance."""
    envs = moonfarm.make_vec(game, args.games, opponent=args.opponent, seat="random", rules=rules, max_turns=args.max_turns)
    obs, infos = envs.reset(seed=args.seed)
    results = np.full(args.games, np.nan)
    while np.isnan(results).any():
        obs, _, terminated, truncated, infos = envs.step(learner(obs, infos, args.greedy))
        fresh = (terminated | truncated) & np.isnan(results)  # of each game the first episode counts
        if fresh.any():
            results[fresh] = infos["result"][fresh]
    envs.close()
    return float((results.mean() + 1) / 2)


def save(learner: Learner, envs: moonfarm.VectorEnv, curve: list[dict[str, float]], out: Path) -> None:
    """The network as PyTorch and ONNX have it, and the curve."""
    out.mkdir(parents=True, exist_ok=True)
    network = learner.network.cpu().eval()
    torch.save(network.state_dict(), out / "clone.pt")
    d = envs.description
    example = (
        torch.zeros(1, len(d["planes"]), d["height"], d["width"]),
        torch.zeros(1, len(d["scalars"])),
        torch.zeros(1, envs.masked_choices),
    )
    names = ["planes", "scalars", "mask"]
    axes = {name: {0: "rows"} for name in [*names, "policy"]}
    torch.onnx.export(network, example, str(out / "clone.onnx"), input_names=names, output_names=["policy"], dynamic_axes=axes)
    with open(out / "curve.csv", "w", newline="") as f:
        writer = csv.DictWriter(f, curve[0].keys())
        writer.writeheader()
        writer.writerows(curve)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="folder of a dataset")
    parser.add_argument("--seconds", type=float, default=300, help="of training")
    parser.add_argument("--opponent", help="policy to play against afterwards")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--max-turns", type=int, default=0, help="of these games")
    parser.add_argument("--greedy", action="store_true", help="play the likeliest choices instead of drawing them")
    parser.add_argument("--out", type=Path, help="folder for the network and the curve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=0, help="rows; 0: as suits the size of an observation")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--validation", type=float, default=0.1, help="part of the episodes that is held out")
    parser.add_argument("--rows", type=int, default=20_000, help="of these that a measurement reads at most")
    parser.add_argument("--threads", type=int, default=0, help="of PyTorch; 0: as it likes")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = moonfarm.dataset(args.dataset)
    game, rules = data.game, data.metadata["job"]["rules"][-1]
    envs = moonfarm.make_vec(game, 1, rules=rules)
    learner = Learner(envs, args.width, device)
    optimiser = torch.optim.Adam(learner.network.parameters(), args.rate)
    d = envs.description
    numbers = len(d["planes"]) * d["height"] * d["width"] + sum(envs.heads)  # of a row
    size = args.batch or min(1024, max(32, 2**24 // numbers))
    read = {
        "columns": ("planes", "scalars", "mask", "action"), "obs": "planes", "validation": args.validation,
        "shuffle": max(size, min(2**16, 2**28 // numbers)), "seed": args.seed,
    }  # fmt: skip

    curve: list[dict[str, float]] = []
    said, rows, losses = 0.0, 0, []
    begun = time.perf_counter()
    epochs = itertools.count()
    batches = (b for e in epochs for b in data.batches(size, split="train", epoch=e, **read))
    for batch in batches:
        spent = time.perf_counter() - begun
        over = spent > args.seconds
        if losses and (over or spent - said > max(2, args.seconds / 15)):
            said = spent
            held_out = data.batches(size, split="validation", **read)
            right, rare, simple, n = learner.agreement(held_out, args.rows)
            point = {"seconds": round(spent, 1), "rows": rows, "loss": float(np.mean(losses))}
            curve.append({**point, "agreement": right, "of_others": rare, "commonest": simple})
            print(
                f"{spent:6.0f} s  {rows} rows  loss {np.mean(losses):.3f}  held out: {100 * right:.1f} % of {n} choices"
                f" (the commonest legal one is right in {100 * simple:.1f} %, the network in {100 * rare:.1f} % of the others)",
                flush=True,
            )
            losses = []
        if over:
            break
        for group in optimiser.param_groups:
            group["lr"] = args.rate * max(1 - spent / args.seconds, 0.02)
        loss = learner.loss(batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learner.network.parameters(), 10.0)
        optimiser.step()
        losses.append(loss.item())
        rows += len(batch["action"])
    print("agreement  " + "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * point["agreement"]))] for point in curve))
    if args.opponent and args.games:
        print(f"{100 * play(learner, game, rules, args):.1f} % against {args.opponent} in {args.games} games")
    if args.out:
        save(learner, envs, curve, args.out)


if __name__ == "__main__":
    main()
