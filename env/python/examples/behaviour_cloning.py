"""Learns to choose like the players of a dataset, then plays.

    go run ./cmd/moonfarm generate towerdefence --policy econ --episodes 20000 --obs none --out data/econ
    python3 env/python/examples/behaviour_cloning.py data/econ --seconds 300 --opponent econ --out clone

The observations are made from the dataset's orders while it is read. The program prints how often the network's
likeliest legal choice is the one that was made, in episodes that it does not learn from; heads with one legal choice
do not count. A random script cannot be predicted perfectly: in Tower Defence at most 79 % of econ's choices can. If
an action has a head for each of many cells, nearly all choices order nothing, and so does the commonest choice: the
other choices show what has been learnt. Then the network plays the opponent. --out gets clone.onnx, clone.pt and
curve.csv. clone.onnx is a policy for moonfarm.

    go run ./cmd/moonfarm generate towerdefence --policy 'mcts(sims=400),econ' --episodes 4000 --obs none --out data/m
    python3 env/python/examples/behaviour_cloning.py data/m --seconds 300 --opponent econ --out clone

If a policy of the dataset searches, the network learns the results of the searches, from the rows in which there
was one: its loss is the cross-entropy against the search's share of each choice, and it has one more output, the
value of the state, which learns a mix of the game's outcome and the search's value. Each head has a distribution of
its own: in Terminal, where the moves of the search are plans of many heads, the network learns how likely the plans
give each order, not which orders belong together. The program then prints how often the likeliest choice is the one
with the largest share; the cross-entropy of a row, and its minimum, which is the entropy of the shares; and how far
the value is from the outcome and from the search's value (root mean square), and how far the search's value is from
the outcome.

--learn played learns the choices that were played in the same rows instead, and prints the same. The shares are
spread over many choices, of which the search plays the one with the largest: so a network that learned them plays its
likeliest choice, unless --no-greedy says that it draws. From 4,000 games of mcts(sims=400) against a mix of scripts,
170,000 to 190,000 rows in 420 s, it got to a cross-entropy of 2.55 (least 1.80) and 40 % of the best choices, and
with --learn played to 3.70 and 42 %; both beat econ in 400 of 400 games by their likeliest choices, and in 86 % and
99.8 % when they drew.

econ and mcts draw at random, so all their games differ. A policy that does not, such as planner, repeats one game
where all games start alike: generate its games with --opening random:4, say. The program leaves out the rows of the
opening, in which no policy chose. --outcome win learns from winners only, --policy from the rows of one policy.
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
from networks import Network, places, write_onnx

Rows = dict[str, np.ndarray]

SEEN = ("planes", "scalars", "mask")

LINE = (
    "{seconds:6.0f} s  {rows} rows  loss {loss:.3f}  held out: {agreement:.1%} of {choices} choices ({commonest:.1%} by"
    " the commonest legal one; of the others {recall:.1%} are predicted, {precision:.1%} of these predictions are right)"
)
SEARCH_LINE = (
    "{cross_entropy:>25.3f} cross-entropy (least {entropy:.3f})  value off by {value_outcome:.3f} from the outcome (the"
    " search's {search_outcome:.3f}), by {value_search:.3f} from the search's"
)


class Seen(NamedTuple):
    """The network's input for a batch."""

    mask: Tensor
    planes: Tensor
    all: Tensor
    value: Tensor | None


class Said(NamedTuple):
    """The network's output for n heads of one kind."""

    rows: Tensor
    heads: Tensor
    choices: Tensor  # [n, size], among those of all heads
    logits: Tensor  # [n, size]; illegal choices have -1e9
    weights: Tensor  # [n], how many similar heads each stands for
    follows: bool


class Learner:
    """The network, and statistics of the choices in the dataset.

    learn: "shares" and "played" are for the rows of searched(), "all" for those of a dataset. mix: the weight of the
    search's value in the value to learn.
    """

    def __init__(
        self, game: str, envs: moonfarm.VectorEnv, width: int, device: str, learn: str = "all", mix: float = 0.5
    ) -> None:
        self.network = Network(game, envs, width, learn != "all").to(device)
        self.device, self.masked, self.heads = device, envs.masked_choices, len(envs.heads)
        self.learn, self.mix = learn, mix
        self.common = torch.zeros(envs.choices, device=device)  # how often each choice was made

    def tensor(self, batch: Rows, name: str) -> Tensor:
        return torch.from_numpy(batch[name]).to(self.device)

    def labels(self, batch: Rows, learn: str) -> Tensor:
        """Returns each head's label: the choice that was made, or the choice with the largest share."""
        choices = batch["best" if learn == "shares" else "action"]
        return torch.from_numpy(choices.astype(np.int64).reshape(len(batch["mask"]), -1)).to(self.device)

    def see(self, batch: Rows) -> Seen:
        mask = torch.from_numpy(moonfarm.unpack_masks(batch["mask"], self.masked)).to(self.device)
        planes, scalars = (self.tensor(batch, name) for name in ("planes", "scalars"))
        return Seen(mask, *self.network.see(planes, scalars, mask))

    def say(
        self, seen: Seen, labels: Tensor | None = None, told: Tensor | None = None, part: float = 1
    ) -> Iterator[Said]:
        """Yields the network's output for one kind of heads after the other; labels: only for heads that have a label
        and several legal choices; part: for this share of the many cells whose heads order nothing."""
        network = self.network
        mask, planes, h, _ = seen
        for place, out in zip(network.places, network.out):
            cells = network.cells(place, planes)
            wanted = cells >= 0
            weights = torch.ones_like(wanted, dtype=torch.float)
            if told is not None and part < 1 and place.count > 1:
                every = torch.arange(place.count, device=self.device)
                idle = torch.stack([~told[:, network.heads(kind, every)[0]] for kind in place.kinds]).all(0)
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
        """Returns the mean over rows of the heads' cross-entropies, and the mean square of the value's error."""
        labels, shares = self.labels(batch, self.learn), None
        told = labels > 0
        if self.learn == "shares":
            shares, told = self.tensor(batch, "shares"), self.tensor(batch, "told")
        seen = self.see(batch)
        total = torch.zeros((), device=self.device)
        for said in self.say(seen, labels, told, 1 / 16):
            label = labels[said.rows, said.heads]
            if shares is None:
                loss = F.cross_entropy(said.logits, label, reduction="none")
            else:
                loss = cross_entropy(said, shares)[0]
            total = total + (said.weights * loss).sum()
            made = said.choices.gather(1, label[:, None])[:, 0]
            self.common.index_add_(0, made, said.weights)
        total = total / len(labels)
        if seen.value is None:
            return total
        outcome, found = self.tensor(batch, "outcome"), self.tensor(batch, "search_value")
        return total + F.mse_loss(seen.value, torch.lerp(outcome, found, self.mix))

    @torch.no_grad()
    def agreement(self, batches: Iterable[Rows]) -> dict[str, float]:
        """Returns how often the network's likeliest choice is the label, and how often the commonest legal choice is;
        which part of all other labels the network predicts, and which part of its other predictions is right; and for
        searches the cross-entropy and the errors of the value.
        """
        n = right = common = found = predicted = 0
        sums, rows = torch.zeros(5, dtype=torch.float64), 0
        for batch in batches:
            labels, seen = self.labels(batch, "all" if self.learn == "all" else "shares"), self.see(batch)
            if seen.value is not None:
                outcome, value = self.tensor(batch, "outcome"), self.tensor(batch, "search_value")
                for i, error in enumerate((seen.value - outcome, value - outcome, seen.value - value)):
                    sums[i] += float((error**2).sum())
                rows += len(value)
            for said in self.say(seen, labels):
                label, best = labels[said.rows, said.heads], said.logits.argmax(1)
                usual = self.common[said.choices].masked_fill(said.logits == -1e9, -1).argmax(1)
                good = best == label
                n, right, common = n + len(label), right + int(good.sum()), common + int((usual == label).sum())
                found, predicted = found + int((good & (best != usual)).sum()), predicted + int((best != usual).sum())
                if seen.value is not None:
                    for i, of in enumerate(cross_entropy(said, self.tensor(batch, "shares")), 3):
                        sums[i] += float(of.sum())
        point = {
            "choices": n, "agreement": right / max(n, 1), "commonest": common / max(n, 1),
            "recall": found / max(n - common, 1), "precision": found / max(predicted, 1),
        }  # fmt: skip
        if self.learn == "all":
            return point
        errors = (sums[:3] / max(rows, 1)).sqrt().tolist()
        names = ("value_outcome", "search_outcome", "value_search", "cross_entropy", "entropy")
        return {**point, **dict(zip(names, [*errors, *(sums[3:] / max(rows, 1)).tolist()]))}

    @torch.no_grad()
    def __call__(self, obs: Rows, infos: dict[str, Any], greedy: bool) -> np.ndarray:
        """Returns actions to play: the likeliest, or drawn by their probabilities."""
        actions = torch.zeros(len(infos["mask"]), self.heads, dtype=torch.long, device=self.device)
        first = actions
        for said in self.say(self.see({**obs, "mask": infos["mask"]})):
            logits = said.logits
            if not greedy:
                logits = logits - torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            chosen = logits.argmax(1)
            first = first if said.follows else chosen
            actions[said.rows, said.heads] = chosen * (first == 1) if said.follows else chosen
        return actions[:, 0 if self.heads == 1 else slice(None)].to("cpu", torch.int32).numpy()


def cross_entropy(said: Said, shares: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the cross-entropy of each head against the shares of its legal choices, and its minimum."""
    shares = shares[said.rows[:, None], said.choices] * (said.logits > -1e9)
    whole = shares.sum(1, keepdim=True)  # less than 1 if no choice stands for some moves' orders
    least = -torch.special.xlogy(shares, shares / whole.clamp(min=1e-9)).sum(1)
    return -(shares * F.log_softmax(said.logits, 1)).sum(1), least


def searched(data: moonfarm.Dataset, batches: Iterable[Rows]) -> Iterator[Rows]:
    """Yields the rows in which a policy searched, with the shares of all choices; the choice with the largest share in
    each head, -1 without one; and whether a choice other than 0 has a share."""
    firsts = np.cumsum([0, *data.heads])[:-1]
    for batch in batches:
        rows = ~np.isnan(batch["search_value"])
        if not rows.any():
            continue
        shares = data.shares(batch)[rows]
        best = [np.where(of.any(1), of.argmax(1), -1) for of in np.split(shares, firsts[1:], axis=1)]
        told = np.add.reduceat(shares, firsts, axis=1) > shares[:, firsts] + 1e-6
        kept = {name: batch[name][rows] for name in (*SEEN, "action", "outcome", "search_value")}
        yield {**kept, "shares": shares, "best": np.stack(best, 1), "told": told}


def mixed(batches: Iterable[Rows], size: int, window: int, part: float, seed: int) -> Iterator[Rows]:
    """Yields a part of the rows, shuffled in a window of that size: rows of an episode are similar."""
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
    """Returns the share of games that the learner wins, with draws as half; its seat is random."""
    envs = moonfarm.make_vec(
        game, args.games, opponent=args.opponent, seat="random", rules=rules, max_turns=args.max_turns
    )
    obs, infos = envs.reset(seed=args.seed)
    results = np.full(args.games, np.nan)
    while np.isnan(results).any():
        obs, _, terminated, truncated, infos = envs.step(learner(obs, infos, args.greedy))
        fresh = (terminated | truncated) & np.isnan(results)  # the first episode of each game counts
        if fresh.any():
            results[fresh] = infos["result"][fresh]
    envs.close()
    return float((results.mean() + 1) / 2)


def save(learner: Learner, envs: moonfarm.VectorEnv, curve: list[dict[str, float]], out: Path) -> None:
    """Writes the network in the formats of PyTorch and ONNX, and the curve."""
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
    says = ["policy"] if network.value is None else ["policy", "value"]
    write_onnx(network, example, out / "clone.onnx", names, says)
    with open(out / "curve.csv", "w", newline="") as f:
        writer = csv.DictWriter(f, curve[0].keys())
        writer.writeheader()
        writer.writerows(curve)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="folder of a dataset")
    parser.add_argument("--seconds", type=float, default=300, help="seconds of training")
    parser.add_argument(
        "--learn", choices=("shares", "played", "all"),
        help="shares: learn the search's shares, in the rows with a search; played: learn the choices played in the same"
        " rows; all: learn the choices played in all rows (default: shares if a policy of the dataset searches, else all)",
    )  # fmt: skip
    parser.add_argument(
        "--value-mix", type=float, default=0.5, metavar="X",
        help="if a policy searches, the value learns X · the search's value + (1 - X) · the outcome (default 0.5)",
    )  # fmt: skip
    parser.add_argument("--opponent", help="policy to play against afterwards")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--max-turns", type=int, default=0, help="the games are cut after this many turns; 0: no cut")
    parser.add_argument(
        "--greedy", action=argparse.BooleanOptionalAction,
        help="play the likeliest choices instead of drawing them (default: after learning shares)",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder for the network and the curve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=0, help="rows per batch; 0: depends on the size of an observation")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--validation", type=float, default=0.1, help="share of the episodes for validation")
    parser.add_argument("--policy", action="append", help="learn only from the rows of this policy, or member of a mix")
    parser.add_argument(
        "--outcome", action="append", choices=["win", "draw", "loss"], help="learn only from seats with this outcome, such as win"
    )  # fmt: skip
    parser.add_argument("--rows", type=int, default=0, help="rows of them to measure; 0: depends on the network")
    parser.add_argument("--threads", type=int, default=0, help="PyTorch's threads; 0: its default")
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
    searches = "search_value" in data.columns
    learn = args.learn or ("shares" if searches else "all")
    if args.greedy is None:
        args.greedy = learn == "shares"
    if learn != "all" and not searches:
        raise SystemExit(f"--learn {learn}: no policy of {args.dataset} searches")
    if learn == "shares" and any(kind.follows for place in places(game, envs) for kind in place.kinds):
        raise SystemExit(f"--learn shares: {game} has heads that depend on another head's choice, which shares cannot express")
    learner = Learner(game, envs, args.width, device, learn, args.value_mix)
    optimiser = torch.optim.Adam(learner.network.parameters(), args.rate)
    d = envs.description
    numbers = len(d["planes"]) * d["height"] * d["width"] + sum(envs.heads)  # of a row
    size = args.batch or min(1024, max(32, 2**22 // numbers))
    window = max(size, min(2**16, 2**28 // numbers))
    part = min(1.0, window * data.num_episodes / (8 * len(data)))  # of long episodes, so that a window has eight
    columns = [*SEEN, "action"]
    if learn != "all":
        columns += ["outcome", *(name for name in data.columns if name.startswith("search_"))]
    read = {
        "columns": columns, "obs": "planes", "validation": args.validation, "seed": args.seed,
        "shuffle": window if part == 1 else 1, "policy": args.policy, "outcome": args.outcome, "opening": False,
    }  # fmt: skip

    def batches(split: str, epoch: int) -> Iterator[Rows]:
        read_all = data.batches(size, split=split, epoch=epoch, **read)
        wanted = read_all if learn == "all" else searched(data, read_all)
        return wanted if part == 1 else mixed(wanted, size, window, part, args.seed + epoch)

    rows = args.rows or (500 if learner.network.local else 20_000)
    held_out = list(itertools.islice(batches("validation", 0), -(-rows // size)))
    if not held_out:
        raise SystemExit(f"{args.dataset}: no rows to learn from are held out; expected more episodes")
    curve: list[dict[str, float]] = []
    said, cost, rows, losses = 0.0, 0.0, 0, []
    begun = time.perf_counter()
    for batch in itertools.chain.from_iterable(batches("train", epoch) for epoch in itertools.count()):
        spent = time.perf_counter() - begun
        over = spent > args.seconds and rows > 0
        if losses and (over or spent - said > max(2, args.seconds / 12, 5 * cost)):
            point = learner.agreement(held_out)
            curve.append({"seconds": round(spent, 1), "rows": rows, "loss": float(np.mean(losses)), **point})
            print(LINE.format(**curve[-1]), flush=True)
            if learn != "all":
                print(SEARCH_LINE.format(**curve[-1]), flush=True)
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
