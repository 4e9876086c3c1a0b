"""Learns to choose as the players of a dataset chose, and plays.

    go run ./cmd/moonfarm generate towerdefence --policy econ --episodes 20000 --obs none --out data/econ
    python3 env/python/examples/behaviour_cloning.py data/econ --seconds 300 --opponent econ --out clone

The observations are made from the dataset's orders while it is read. Printed is how often the network's likeliest
legal choice is the one that was made, in episodes that it does not learn from; heads with one legal choice do not
count. A script that draws by chance cannot be foretold always: at most 79 % of econ's choices are in Tower Defence.
Where an action has a head for each of many cells, nearly all say nothing, and so does the commonest choice: what has
been learnt shows in the others. Then the network plays the opponent. --out is for clone.onnx, clone.pt and curve.csv.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm

Rows = dict[str, np.ndarray]

LINE = (
    "{seconds:6.0f} s  {rows} rows  loss {loss:.3f}  held out: {agreement:.1%} of {choices} choices ({commonest:.1%} by"
    " the commonest legal one; of the others {recall:.1%} are foretold, {precision:.1%} of what is foretold is right)"
)


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


class Kind(NamedTuple):
    """Heads of one meaning at the cells of a place: that of cell i is head first + step · i."""

    first: int
    step: int
    follows: bool = False  # it counts where the place's first kind chooses 1


class Place(NamedTuple):
    """Cells that heads speak of: those listed, or all where a plane is set, in their order."""

    kinds: list[Kind]
    count: int = 1
    cells: list[int] | None = None
    plane: int | None = None


def places(game: str, envs: moonfarm.VectorEnv) -> list[Place]:
    """What the heads of a game speak of; of all at once, where nothing else is known."""
    if game == "terminal":  # three kinds of mobile units come from the edges, structures are on all own cells
        edges = [28 * y + x for y in range(14) for x in (13 - y, 14 + y)]
        own = [28 * y + x for y in range(14) for x in range(13 - y, 15 + y)]
        return [Place([Kind(k, 3) for k in range(3)], 28, edges), Place([Kind(84, 1)], 210, own)]
    if game == "codecraft":  # of each own entity the first head says whether it is told something, the others what
        names = [p["name"] for p in envs.description["planes"]]
        slots = len(envs.heads) // 14
        return [Place([Kind(slots * k, 1, k > 0) for k in range(14)], slots, plane=names.index("own_corner"))]
    return [Place([Kind(h, 0) for h in range(len(envs.heads))])]


class Network(nn.Module):
    """Planes, scalars and mask to a logit for each choice of each head, one head after the other.

    What is said of a cell depends on what is near it, on where it is, and on all that is seen.
    """

    def __init__(self, game: str, envs: moonfarm.VectorEnv, width: int, reach: int = 2) -> None:
        super().__init__()
        d = envs.description
        self.places, self.sizes, self.reach = places(game, envs), envs.heads, reach
        self.local = self.places[0].count > 1
        self.shape = inputs, height, breadth = len(d["planes"]), d["height"], d["width"]
        scales = [torch.tensor([float(x["scale"]) for x in d[name]]) for name in ("planes", "scalars")]
        self.register_buffer("plane_scale", 1 / scales[0].view(1, -1, 1, 1))
        self.register_buffer("scalar_scale", 1 / scales[1].view(1, -1))
        self.firsts = torch.tensor([0, *itertools.accumulate(envs.heads)])  # the first choice of each head
        board: list[nn.Module] = []
        while inputs * height * breadth > 10_000:  # a large board is made smaller first
            board += [nn.Conv2d(inputs, 32, 3, stride=2, padding=1), nn.ReLU()]
            inputs, height, breadth = 32, (height + 1) // 2, (breadth + 1) // 2
        self.board = nn.Sequential(*board, nn.Flatten())
        inputs = inputs * height * breadth + len(d["scalars"]) + (0 if self.local else envs.masked_choices)
        self.trunk = nn.Sequential(Dense(inputs, width), nn.ReLU(), Dense(width, width), nn.ReLU())
        if self.local:
            numbers, width = width + 7 * len(d["scalars"]), min(width, 128)
            self.all = Dense(numbers, width)
            self.near = Dense(self.shape[0] * (2 * reach + 1) ** 2, width)
            self.where = nn.Embedding(self.shape[1] * self.shape[2], width)
            nn.init.zeros_(self.where.weight)
            self.mix = nn.Sequential(nn.ReLU(), Dense(width, width), nn.ReLU())
        self.out = nn.ModuleList()
        for place in self.places:
            self.out.append(nn.ModuleList(Dense(width, envs.heads[kind.first], 0.1) for kind in place.kinds))
            for kind, dense in zip(place.kinds, self.out[-1]):
                if self.local and not kind.follows:
                    nn.init.constant_(dense.bias[:1], 4)  # most cells are told nothing

    def see(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The planes, scaled, and what is computed of all that is seen."""
        planes, scalars = planes.float() * self.plane_scale, scalars * self.scalar_scale
        h = self.trunk(torch.cat([self.board(planes), scalars, *([] if self.local else [mask.float()])], 1))
        if self.local:  # what can be paid depends on small differences, which waves of several lengths show
            waves = [wave(k * scalars) for k in (4.0, 16.0, 64.0) for wave in (torch.sin, torch.cos)]
            h = self.all(torch.cat([h, scalars, *waves], 1))
        return planes, h

    def cells(self, place: Place, planes: Tensor) -> Tensor:
        """The cells of a place, [rows, count]; -1 where there are no more."""
        if place.plane is None:
            return torch.tensor(place.cells or [0], device=planes.device).expand(planes.shape[0], -1)
        first = torch.arange(self.where.num_embeddings, 0, -1, device=planes.device)
        there, cells = ((planes[:, place.plane].flatten(1) > 0) * first).topk(place.count, 1)
        return torch.where(there > 0, cells, -1)

    def features(self, planes: Tensor, h: Tensor, rows: Tensor, cells: Tensor) -> Tensor:
        """What the heads of one cell in each of these rows are computed from."""
        if not self.local:
            return h[rows]
        board = F.pad(planes, [self.reach] * 4)
        side = torch.arange(2 * self.reach + 1, device=rows.device)
        near = (side[:, None] * board.shape[3] + side).flatten()
        corner = cells.div(self.shape[2], rounding_mode="floor") * board.shape[3] + cells % self.shape[2]
        near = board.permute(0, 2, 3, 1).flatten(1, 2)[rows[:, None], corner[:, None] + near].flatten(1)
        return self.mix(self.near(near) + self.where(cells) + h[rows])

    def heads(self, kind: Kind, which: Tensor) -> tuple[Tensor, Tensor]:
        """The heads of a kind at some cells of its place, and their choices among those of all heads."""
        heads = kind.first + kind.step * which
        firsts = self.firsts.to(which.device)
        return heads, firsts[heads][:, None] + torch.arange(self.sizes[kind.first], device=which.device)

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> Tensor:
        planes, h = self.see(planes, scalars, mask)
        logits, order = [], []
        for place, out in zip(self.places, self.out):
            cells = self.cells(place, planes).clamp(min=0)
            rows = torch.arange(planes.shape[0], device=h.device)[:, None].expand_as(cells)
            f = self.features(planes, h, rows.flatten(), cells.flatten())
            logits += [dense(f).view(-1, place.count * dense.weight.shape[0]) for dense in out]
            every = torch.arange(place.count, device=h.device)
            order += [self.heads(kind, every)[1].flatten() for kind in place.kinds]
        return torch.cat(logits, 1)[:, torch.cat(order).argsort()]


class Said(NamedTuple):
    """What the network says of n heads of one kind."""

    rows: Tensor
    heads: Tensor
    choices: Tensor  # [n, size], among those of all heads
    logits: Tensor  # [n, size]; illegal choices have -1e9
    weights: Tensor  # [n], how many like it each stands for
    follows: bool


class Learner:
    """The network, and what is known of the choices in the dataset."""

    def __init__(self, game: str, envs: moonfarm.VectorEnv, width: int, device: str) -> None:
        self.network = Network(game, envs, width).to(device)
        self.device, self.masked, self.heads = device, envs.masked_choices, len(envs.heads)
        self.common = torch.zeros(envs.choices, device=device)  # how often each choice was made

    def labels(self, batch: Rows) -> Tensor:
        return torch.from_numpy(batch["action"].astype(np.int64).reshape(len(batch["mask"]), -1)).to(self.device)

    def say(self, batch: Rows, labels: Tensor | None = None, part: float = 1) -> Iterator[Said]:
        """What the network says, of one kind of heads after the other; labels: only of heads that have a label, and
        something to choose; part: of the many cells where all labels are 0, so many."""
        network = self.network
        mask = torch.from_numpy(moonfarm.unpack_masks(batch["mask"], self.masked)).to(self.device)
        planes, scalars = (torch.from_numpy(batch[name]).to(self.device) for name in ("planes", "scalars"))
        planes, h = network.see(planes, scalars, mask)
        for place, out in zip(network.places, network.out):
            cells = network.cells(place, planes)
            wanted = cells >= 0
            weights = torch.ones_like(wanted, dtype=torch.float)
            if labels is not None and part < 1 and place.count > 1:
                every = torch.arange(place.count, device=self.device)
                idle = torch.stack([labels[:, network.heads(kind, every)[0]] <= 0 for kind in place.kinds]).all(0)
                weights[idle] = 1 / part
                wanted &= ~idle | (torch.rand(idle.shape, device=self.device) < part)
            rows, which = wanted.nonzero().unbind(1)
            weights = weights[rows, which]
            f = network.features(planes, h, rows, cells[rows, which])
            for kind, dense in zip(place.kinds, out):
                heads, choices = network.heads(kind, which)
                legal = mask[rows[:, None], choices] if int(choices.max()) < self.masked else None
                r, w, of = rows, weights, f
                if labels is not None:
                    label = labels[rows, heads]
                    counts = label >= 0
                    if legal is not None:
                        counts &= (legal.sum(1) > 1) & legal.gather(1, label.clamp(min=0)[:, None])[:, 0]
                    if kind.follows:
                        counts &= labels[rows, network.heads(place.kinds[0], which)[0]] == 1
                    r, w, heads, choices, of = rows[counts], weights[counts], heads[counts], choices[counts], f[counts]
                    legal = None if legal is None else legal[counts]
                if len(r):
                    logits = dense(of) if legal is None else dense(of).masked_fill(~legal, -1e9)
                    yield Said(r, heads, choices, logits, w, kind.follows)

    def loss(self, batch: Rows) -> Tensor:
        """The mean over rows of the heads' cross entropies."""
        labels = self.labels(batch)
        total = torch.zeros((), device=self.device)
        for said in self.say(batch, labels, 1 / 16):
            label = labels[said.rows, said.heads]
            total = total + (said.weights * F.cross_entropy(said.logits, label, reduction="none")).sum()
            made = said.choices.gather(1, label[:, None])[:, 0]
            self.common.index_add_(0, made, said.weights)
        return total / len(labels)

    @torch.no_grad()
    def agreement(self, batches: Iterable[Rows]) -> dict[str, float]:
        """How often the network's likeliest choice is the one that was made; how often the commonest legal one is; and
        of the choices that are not that, how many the network foretells, and how many of those it foretells were made.
        """
        n = right = common = found = foretold = 0
        for batch in batches:
            labels = self.labels(batch)
            for said in self.say(batch, labels):
                label, best = labels[said.rows, said.heads], said.logits.argmax(1)
                usual = self.common[said.choices].masked_fill(said.logits == -1e9, -1).argmax(1)
                good = best == label
                n, right, common = n + len(label), right + int(good.sum()), common + int((usual == label).sum())
                found, foretold = found + int((good & (best != usual)).sum()), foretold + int((best != usual).sum())
        return {
            "choices": n, "agreement": right / max(n, 1), "commonest": common / max(n, 1),
            "recall": found / max(n - common, 1), "precision": found / max(foretold, 1),
        }  # fmt: skip

    @torch.no_grad()
    def __call__(self, obs: Rows, infos: dict[str, Any], greedy: bool) -> np.ndarray:
        """Actions to play: the likeliest, or drawn by their probabilities."""
        actions = torch.zeros(len(infos["mask"]), self.heads, dtype=torch.long, device=self.device)
        first = actions
        for said in self.say({**obs, "mask": infos["mask"]}):
            logits = said.logits
            if not greedy:
                logits = logits - torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            chosen = logits.argmax(1)
            first = first if said.follows else chosen
            actions[said.rows, said.heads] = chosen * (first == 1) if said.follows else chosen
        return actions[:, 0 if self.heads == 1 else slice(None)].to("cpu", torch.int32).numpy()


def mixed(batches: Iterable[Rows], size: int, window: int, part: float, seed: int) -> Iterator[Rows]:
    """A part of the rows, shuffled in a window of so many: it has rows of many episodes, each like its neighbours."""
    draw, kept, n = np.random.default_rng(seed), list[Rows](), 0

    def shuffled() -> Iterator[Rows]:
        whole = {name: np.concatenate([k[name] for k in kept]) for name in kept[0]}
        for rows in np.array_split(draw.permutation(n), max(n // size, 1)):
            yield {name: a[rows] for name, a in whole.items()}

    for batch in batches:
        rows = draw.random(len(batch["action"])) < part
        kept.append({name: a[rows] for name, a in batch.items()})
        n += int(rows.sum())
        if n >= window:
            yield from shuffled()
            kept, n = [], 0
    if n:
        yield from shuffled()


def play(learner: Learner, game: str, rules: str | None, args: argparse.Namespace) -> float:
    """The part of the games that the learner wins, draws as half; its seat is drawn by chance."""
    envs = moonfarm.make_vec(
        game, args.games, opponent=args.opponent, seat="random", rules=rules, max_turns=args.max_turns
    )
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
    file = str(out / "clone.onnx")
    torch.onnx.export(network, example, file, input_names=names, output_names=["policy"], dynamic_axes=axes)
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
    parser.add_argument("--rows", type=int, default=0, help="of these that are measured; 0: as suits the network")
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
    learner = Learner(game, envs, args.width, device)
    optimiser = torch.optim.Adam(learner.network.parameters(), args.rate)
    d = envs.description
    numbers = len(d["planes"]) * d["height"] * d["width"] + sum(envs.heads)  # of a row
    size = args.batch or min(1024, max(32, 2**22 // numbers))
    window = max(size, min(2**16, 2**28 // numbers))
    part = min(1.0, window * data.num_episodes / (8 * len(data)))  # of long episodes, so that a window has eight
    read = {
        "columns": ("planes", "scalars", "mask", "action"), "obs": "planes", "validation": args.validation,
        "seed": args.seed, "shuffle": window if part == 1 else 1,
    }  # fmt: skip

    def batches(split: str, epoch: int) -> Iterator[Rows]:
        read_all = data.batches(size, split=split, epoch=epoch, **read)
        return read_all if part == 1 else mixed(read_all, size, window, part, args.seed + epoch)

    rows = args.rows or (500 if learner.network.local else 20_000)
    held_out = list(itertools.islice(batches("validation", 0), -(-rows // size)))
    curve: list[dict[str, float]] = []
    said, cost, rows, losses = 0.0, 0.0, 0, []
    begun = time.perf_counter()
    for batch in itertools.chain.from_iterable(batches("train", epoch) for epoch in itertools.count()):
        spent = time.perf_counter() - begun
        over = spent > args.seconds
        if losses and (over or spent - said > max(2, args.seconds / 12, 5 * cost)):
            point = learner.agreement(held_out)
            curve.append({"seconds": round(spent, 1), "rows": rows, "loss": float(np.mean(losses)), **point})
            print(LINE.format(**curve[-1]), flush=True)
            said, losses = time.perf_counter() - begun, []
            cost = said - spent
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
