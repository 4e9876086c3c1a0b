"""Learns to choose like the players of datasets, then plays.

    go run ./cmd/moonfarm generate towerdefence --policy econ --episodes 20000 --obs none --out data/econ
    python3 env/python/examples/behaviour_cloning.py data/econ --seconds 300 --opponent econ --out clone

It takes any game and form; --form names it (default: orders for Terminal, entities for CodeCraft, else cells). The
observations are made from the datasets' orders while they are read. The program prints how often the network's
likeliest legal choice is the one that was made, in episodes that it does not learn from; heads with one legal choice
do not count. A random script cannot be predicted perfectly: in Tower Defence at most 79 % of econ's choices can. If
an action has a head for each of many cells, nearly all choices order nothing, and so does the commonest choice: the
other choices show what has been learnt. The network plays every --opponent, --matches times while it learns and
afterwards, and the program prints its scores with Wilson's intervals (95 %). The folder of --out gets clone.onnx,
clone.pt, curve.csv and checkpoint.pt; the same command continues a run that was stopped. clone.onnx is a policy for
moonfarm. Its second output, the value, learns the games' outcomes.

    go run ./cmd/moonfarm generate towerdefence --policy 'mcts(sims=400),econ' --episodes 4000 --obs none --out data/m
    python3 env/python/examples/behaviour_cloning.py data/m --seconds 300 --opponent econ --out clone

If a policy of the dataset searches, the network learns the results of the searches, from the rows in which there
was one: its loss is the cross-entropy against the search's share of each choice, and the value learns a mix of the
game's outcome and the search's value. Each head has a distribution of its own: in Terminal's form cells, where the
moves of the search are plans of many heads, the network learns how likely the plans give each order, not which orders
belong together; in the form orders it learns the choices. The program then prints how often the likeliest choice is
the one with the largest share; the cross-entropy of a row, and its minimum, which is the entropy of the shares; and
how far the value is from the outcome and from the search's value (root mean square), and how far the search's value
is from the outcome.

--learn played learns the choices that were played in the same rows instead. It is the default in sequential forms and
in other forms than that of the dataset, which have no shares, and where heads depend on another head's choice. The
shares are spread over many choices, of which the search plays the one with the largest: so a network that learned them
plays its likeliest choice, unless --no-greedy says that it draws.

--learn value learns nothing but the value, of the rows in which there was a search, and so makes a judge of positions for
mcts out of a network that was learned otherwise, whose choices stay as they are: --begin names its folder.

--learn asked learns what the policy of `generate --ask POLICY` would choose in the states that others reach; it is the
default for data that has such labels.

econ and mcts draw at random, so all their games differ. A policy that does not, such as planner, repeats one game
where all games start alike: the program prints how many games differ. Generate varied games with --opening random:4,
or with mixes: 'mix(0.9*planner,0.1*scatter)'. The program leaves out the rows of the opening, in which no policy chose.
--outcome win learns from winners only, --policy, --seat and --chosen from the rows of one policy, seat or member of a
mix. --imitate A --imitate B learns from the rows of these policies and tells the network which of them it should
imitate; the exported network imitates the first.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import moonfarm
from bodies import Body, Cells, Said, Seen, reading
from bodies import save as keep_weights
from moonfarm.exporting import whole
from networks import make, write
from rows import Batch, Rows, Source, asked, blend, cross_entropy, distinct


FORMS = {"terminal": "orders", "codecraft": "entities"}  # others: cells

LINE = (
    "{seconds:6.0f} s  {rows} rows  loss {loss:.3f}  held out: {agreement:.1%} of {choices} choices ({commonest:.1%} by"
    " the commonest legal one; of the others {recall:.1%} are predicted, {precision:.1%} of these predictions are right)"
)
SHARES_LINE = "{cross_entropy:>25.3f} cross-entropy (least {entropy:.3f})"
VALUE_LINE = (
    "  value off by {value_outcome:.3f} from the outcome (the search's {search_outcome:.3f}), by {value_search:.3f} from"
    " the search's"
)


class Learner:
    """The network, and statistics of the choices in the datasets.

    learn: "shares", "played" and "value" are for the rows of searched(), "all" and "asked" for those of a dataset. mix: the weight
    of the search's value in the value to learn. temperature: of its choices when it plays.
    """

    def __init__(
        self, envs: moonfarm.VectorEnv, body: Body, device: str, learn: str = "all", mix: float = 0.5, temperature: float = 1
    ) -> None:
        self.body, self.temperature = body.to(device), temperature
        self.device, self.choices, self.heads = device, envs.choices, len(envs.heads)
        self.learn, self.mix = learn, mix
        if learn == "value":
            for part in self.body.children():
                part.requires_grad_(part is self.body.value)
        self.common = torch.zeros(envs.choices, device=device)  # how often each choice was made

    def tensor(self, batch: Batch, name: str) -> Tensor:
        return torch.as_tensor(batch[name], device=self.device)

    def labels(self, batch: Batch, learn: str) -> Tensor:
        """Returns each head's label: the choice that was made, that a policy would make, or the largest share's."""
        choices = self.tensor(batch, {"shares": "best", "asked": "asked"}.get(learn, "action"))
        return choices.long().reshape(len(batch["mask"]), -1)

    def legal(self, batch: Batch) -> Tensor:
        """Returns the masks, bool [rows, choices]."""
        if not isinstance(batch["mask"], Tensor):
            return torch.from_numpy(moonfarm.unpack_masks(batch["mask"], self.choices)).to(self.device)
        bits = torch.arange(8, dtype=torch.uint8, device=self.device)  # Memory has the bytes
        return (batch["mask"][:, :, None] >> bits & 1).flatten(1)[:, : self.choices].bool()

    def see(self, batch: Batch) -> Seen:
        names = [*self.body.inputs, *(["player"] if "player" in batch else [])]
        return self.body.see({name: self.tensor(batch, name) for name in names if name != "mask"}, self.legal(batch))

    def loss(self, batch: Batch) -> Tensor:
        """Returns the mean over rows of the heads' cross-entropies, and the mean square of the value's error."""
        labels, shares = self.labels(batch, self.learn), None
        if self.learn == "shares":
            shares = self.tensor(batch, "shares")
        seen = self.see(batch)
        total = torch.zeros((), device=self.device)
        for said in self.body.say(seen, labels, self.body.most) if self.learn != "value" else ():
            label = labels[said.rows, said.heads]
            if shares is None:
                loss = self.body.cross_entropy(said, label)
            else:
                loss = cross_entropy(said, shares)[0]
            total = total + (said.weights * loss).sum()
            made = said.choices.gather(1, label[:, None])[:, 0]
            self.common.index_add_(0, made, said.weights)
        total = total / len(labels)
        if seen.value is None:
            return total
        outcome = self.tensor(batch, "outcome").float()
        if self.searches:
            outcome = torch.lerp(outcome, self.tensor(batch, "search_value"), self.mix)
        return total + F.mse_loss(seen.value.float(), outcome)

    @property
    def searches(self) -> bool:
        """It learns from rows in which a policy searched."""
        return self.learn in ("shares", "played", "value")

    @torch.no_grad()
    def agreement(self, batches: Iterable[Rows]) -> dict[str, float]:
        """Returns how often the network's likeliest choice is the label, and how often the commonest legal choice is;
        which part of all other labels the network predicts, and which part of its other predictions is right; and for
        searches the cross-entropy and the errors of the value.
        """
        n = right = common = found = predicted = 0
        sums, rows, shares = torch.zeros(5, dtype=torch.float64), 0, False
        for batch in batches:
            shares = "shares" in batch
            labels, seen = self.labels(batch, "shares" if self.searches else self.learn), self.see(batch)
            if self.searches:
                outcome, value = self.tensor(batch, "outcome"), self.tensor(batch, "search_value")
                for i, error in enumerate((seen.value - outcome, value - outcome, seen.value - value)):
                    sums[i] += float((error**2).sum())
                rows += len(value)
            for said in self.body.say(seen, labels):
                label, best = labels[said.rows, said.heads], said.logits.argmax(1)
                usual = self.common[said.choices].masked_fill(said.logits == -1e9, -1).argmax(1)
                good = best == label
                n, right, common = n + len(label), right + int(good.sum()), common + int((usual == label).sum())
                found, predicted = found + int((good & (best != usual)).sum()), predicted + int((best != usual).sum())
                if "shares" in batch:
                    for i, of in enumerate(cross_entropy(said, self.tensor(batch, "shares")), 3):
                        sums[i] += float(of.sum())
        point = {
            "choices": n, "agreement": right / max(n, 1), "commonest": common / max(n, 1),
            "recall": found / max(n - common, 1), "precision": found / max(predicted, 1),
        }  # fmt: skip
        if not self.searches:
            return point
        errors = (sums[:3] / max(rows, 1)).sqrt().tolist()
        names = ("value_outcome", "search_outcome", "value_search", *(("cross_entropy", "entropy") if shares else ()))
        return {**point, **dict(zip(names, [*errors, *(sums[3:] / max(rows, 1)).tolist()]))}

    @torch.no_grad()
    def choose(self, seen: Seen, greedy: bool = False) -> tuple[Tensor, Tensor]:
        """Returns actions, int64 [rows, heads], the likeliest or drawn by their probabilities, and the logarithm of the
        probability of each head's choice."""
        actions = torch.zeros(len(seen.mask), self.heads, dtype=torch.long, device=self.device)
        logs = torch.zeros(actions.shape, device=self.device)
        for said in self.body.say(seen):
            logits = said.logits / self.temperature
            logs_of = F.log_softmax(logits, 1)
            if not greedy:
                logits = logits - torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            chosen = logits.argmax(1)
            actions[said.rows, said.heads] = chosen
            logs[said.rows, said.heads] = logs_of.gather(1, chosen[:, None])[:, 0]
        return actions, logs

    def __call__(self, obs: Rows, infos: dict[str, Any], greedy: bool = False) -> np.ndarray:
        """Returns actions to play, as step takes them."""
        with torch.no_grad():
            actions, _ = self.choose(self.see({**obs, "mask": infos["mask"]}), greedy)
        return actions[:, 0 if self.heads == 1 else slice(None)].to("cpu", torch.int32).numpy()


def wilson(share: float, games: int) -> tuple[float, float]:
    """Returns Wilson's interval (95 %) of a share of games."""
    z = 1.96
    middle, root = share + z * z / (2 * games), z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return max((middle - root) / (1 + z * z / games), 0.0), min((middle + root) / (1 + z * z / games), 1.0)


def play(learner: Learner, kind: dict[str, Any], opponent: str, games: int, args: argparse.Namespace) -> float:
    """Returns the share of games that the learner wins, with draws as half; its seat is random. kind: game, form, rules."""
    envs = moonfarm.make_vec(num_envs=games, opponent=opponent, seat="random", max_turns=args.max_turns, **kind)
    obs, infos = envs.reset(seed=args.seed)
    results = np.full(games, np.nan)
    while np.isnan(results).any():
        obs, _, terminated, truncated, infos = envs.step(learner(obs, infos, args.greedy))
        fresh = (terminated | truncated) & np.isnan(results)  # the first episode of each game counts
        if fresh.any():
            results[fresh] = infos["result"][fresh]
    envs.close()
    return float((results.mean() + 1) / 2)


def compete(learner: Learner, kind: dict[str, Any], games: int, args: argparse.Namespace) -> dict[str, float]:
    """Plays every opponent that many times, prints the scores, and returns them."""
    scores = {}
    for opponent in args.opponent if games else []:
        scores[opponent] = score = play(learner, kind, opponent, games, args)
        low, high = wilson(score, games)
        print(f"{100 * score:.1f} % against {opponent} in {games} games, between {100 * low:.1f} and {100 * high:.1f} %", flush=True)
    return scores


def save(learner: Learner, envs: moonfarm.VectorEnv, curve: list[dict[str, Any]], args: argparse.Namespace) -> None:
    """Writes the network in the formats of PyTorch and ONNX, and the curve."""
    keep_weights(learner.body.state_dict(), args.out / "clone.pt")
    write(learner.body, envs, args.out / "clone.onnx")
    table(curve, args.out / "curve.csv")


def table(curve: list[dict[str, Any]], file: Path) -> None:
    """Writes a curve as CSV."""
    names = dict.fromkeys(name for point in curve for name in point)
    with whole(file) as part, part.open("w", newline="") as f:
        writer = csv.DictWriter(f, names)
        writer.writeheader()
        writer.writerows(curve)


class Run:
    """The state of a run, which can be saved and continued."""

    def __init__(self, learner: Learner, optimiser: torch.optim.Optimizer, sources: list[Source]) -> None:
        self.learner, self.optimiser, self.sources = learner, optimiser, sources
        self.curve: list[dict[str, Any]] = []
        self.seconds, self.rows, self.played = 0.0, 0, 0

    def keep(self, file: Path, **more: Any) -> None:
        """Writes the state, and more, to a file."""
        state = {
            "body": self.learner.body.state_dict(), "optimiser": self.optimiser.state_dict(), "common": self.learner.common,
            "curve": self.curve, "seconds": self.seconds, "rows": self.rows, "played": self.played,
            "epochs": [source.epoch for source in self.sources], **more,
        }  # fmt: skip
        keep_weights(state, file)

    def continues(self, file: Path) -> dict[str, Any]:
        """Reads the state of a file, and returns it; the rows of the epochs that were begun come again, in another order."""
        with reading(file):
            state: dict[str, Any] = torch.load(file, map_location=self.learner.device)
            self.learner.body.load_state_dict(state["body"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.learner.common.copy_(state["common"])
            self.curve, self.seconds, self.rows, self.played = (state[name] for name in ("curve", "seconds", "rows", "played"))
            for source, epoch in zip(self.sources, state["epochs"]):
                source.epoch = epoch + 1
        return state


def begin(body: Body, folder: Path, device: str) -> None:
    """Gives a body the weights of the network of a run, or of a round of dagger.py."""
    file = next((f for f in (folder / "checkpoint.pt", folder / "run.pt") if f.exists()), None)
    if file is None:
        raise SystemExit(f"--begin {folder}: there is no checkpoint.pt or run.pt")
    with reading(file):
        body.load_state_dict(torch.load(file, map_location=device)["body"])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="+", help="folder of a dataset; several of the same game, of which each gives its share of the rows")
    parser.add_argument("--form", help="form of observations and actions (default: orders for terminal, entities for codecraft, else cells)")
    parser.add_argument("--seconds", type=float, default=300, help="seconds of training")
    parser.add_argument(
        "--learn", choices=("shares", "played", "all", "asked", "value"),
        help="shares: learn the search's shares, in the rows with a search; played: learn the choices played in the same"
        " rows; all: learn the choices played in all rows; asked: learn the choices of the policy of generate --ask;"
        " value: only the value of the rows with a search"
        " (default: asked or shares if the dataset has them, played if it has searches without shares, else all)",
    )  # fmt: skip
    parser.add_argument("--begin", type=Path, help="folder of a run, or of a round of dagger.py, whose network to begin with (with the same --width)")
    parser.add_argument(
        "--value-mix", type=float, default=0.5, metavar="X",
        help="if a policy searches, the value learns X · the search's value + (1 - X) · the outcome (default 0.5)",
    )  # fmt: skip
    parser.add_argument("--opponent", action="append", default=[], help="policy to play against; may be given several times")
    parser.add_argument("--games", type=int, default=200, help="games against each opponent")
    parser.add_argument("--matches", type=int, default=3, help="how many times to play them, the last time at the end")
    parser.add_argument("--max-turns", type=int, default=0, help="the games are cut after this many turns; 0: no cut")
    parser.add_argument(
        "--greedy", action=argparse.BooleanOptionalAction,
        help="play the likeliest choices instead of drawing them (default: after learning shares)",
    )  # fmt: skip
    parser.add_argument("--temperature", type=float, default=1, help="of its choices when it plays (entities are learned for 0.5)")
    parser.add_argument("--out", type=Path, help="folder for the network and the curve; a run in it is continued")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=0, help="rows per batch; 0: depends on the size of an observation")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--validation", type=float, default=0.1, help="share of the episodes for validation")
    parser.add_argument("--policy", action="append", help="learn only from the rows of this policy, or member of a mix")
    parser.add_argument("--imitate", action="append", default=[], help="likewise, and tell the network which of several it should imitate")
    parser.add_argument("--seat", action="append", type=int, help="learn only from this seat")
    parser.add_argument("--chosen", action="append", type=int, help="learn only from rows in which the member of a mix with this number chose")
    parser.add_argument(
        "--outcome", action="append", choices=["win", "draw", "loss"], help="learn only from seats with this outcome, such as win"
    )  # fmt: skip
    parser.add_argument("--rows", type=int, default=0, help="rows of them to measure; 0: depends on the network")
    parser.add_argument("--threads", type=int, default=0, help="PyTorch's threads; 0: its default")
    return parser.parse_args()


def choose(data: list[moonfarm.Dataset], body: Body, args: argparse.Namespace) -> str:
    """Returns what to learn."""
    columns = set.intersection(*(set(d.columns) for d in data))
    searches, shares = "search_value" in columns, "search_policy" in columns
    learn: str = args.learn or ("asked" if all(map(asked, data)) else "all")
    if args.learn is None and searches and learn == "all":
        learn = "shares" if shares else "played"
    if learn in ("shares", "played", "value") and not searches:
        raise SystemExit(f"--learn {learn}: no policy of {args.dataset[0]} searches")
    if learn == "shares" and not shares:
        raise SystemExit("--learn shares: the shares exist only in the form of the dataset")
    if learn == "value" and not args.begin:
        raise SystemExit("--learn value: expected --begin with a network, whose choices stay as they are")
    if learn == "asked" and not any(map(asked, data)):
        raise SystemExit(f"--learn asked: no policy was asked for {args.dataset[0]} (generate --ask)")
    return learn


def start(args: argparse.Namespace) -> tuple[Run, moonfarm.VectorEnv]:
    """Returns the run, new or continued, and a vector of the game and form."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    game = moonfarm.dataset(args.dataset[0]).game
    form = args.form or FORMS.get(game, "cells")
    data = [moonfarm.dataset(folder, form=form) for folder in args.dataset]
    envs = moonfarm.make_vec(game, 1, rules=data[0].metadata["job"]["rules"][-1], form=form)
    body = make(envs, args.width, players=len(args.imitate))
    learn = choose(data, body, args)
    if args.greedy is None:
        args.greedy = learn == "shares"
    learner = Learner(envs, body, device, learn, args.value_mix, args.temperature)
    players = range(len(args.imitate)) if args.imitate else [None]
    sources = [Source(d, learner, player, args, len(data) * len(players)) for d in data for player in players]
    run = Run(learner, torch.optim.Adam(body.parameters(), args.rate), sources)
    continued = args.out is not None and (args.out / "checkpoint.pt").exists()
    if continued:
        run.continues(args.out / "checkpoint.pt")
    elif args.begin:
        begin(body, args.begin, device)
    for d in data:
        print(f"{d.path}: {d.num_episodes} games, {distinct(d)} of them different", flush=True)
    if continued:
        print(f"continues after {run.seconds:.0f} s", flush=True)
    return run, envs


def held_out(run: Run, args: argparse.Namespace) -> list[Rows]:
    """Returns the batches to measure."""
    local = isinstance(run.learner.body, Cells) and run.learner.body.places[0].count > 1
    rows = (args.rows or (500 if local else 20_000)) / len(run.sources)
    batches = [itertools.islice(source.batches("validation", 0), max(1, round(rows / source.size))) for source in run.sources]
    out = [*itertools.chain.from_iterable(batches)]
    if not out:
        raise SystemExit(f"{args.dataset[0]}: no rows to learn from are held out; expected more episodes")
    return out


def measure(run: Run, held: list[Rows], loss: float) -> None:
    """Adds a point to the curve, and prints it."""
    point = run.learner.agreement(held)
    run.curve.append({"seconds": round(run.seconds, 1), "rows": run.rows, "loss": loss, **point})
    print(LINE.format(**run.curve[-1]), flush=True)
    if run.learner.searches:
        print(((SHARES_LINE if "entropy" in point else "") + VALUE_LINE).format(**run.curve[-1]), flush=True)


def main() -> None:
    args = arguments()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    run, envs = start(args)
    learner, optimiser = run.learner, run.optimiser
    held = held_out(run, args)
    batches = blend(run.sources, run.sources[0].size, args.seed + run.rows)
    data = run.sources[0].data
    kind = {"game": data.game, "form": data.form, "rules": data.metadata["job"]["rules"][-1]}
    said, losses = run.seconds, list[float]()
    since = time.perf_counter()
    while run.seconds < args.seconds or not run.curve:
        batch = next(batches)
        for group in optimiser.param_groups:
            group["lr"] = args.rate * max(1 - run.seconds / args.seconds, 0.02)
        loss = learner.loss(batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learner.body.parameters(), 10.0)
        optimiser.step()
        losses.append(loss.item())
        run.rows += len(batch["mask"])
        run.seconds += time.perf_counter() - since  # without the time of measuring
        since = time.perf_counter()
        over = run.seconds >= args.seconds
        if not over and run.seconds - said < max(2, args.seconds / 12):
            continue
        measure(run, held, float(np.mean(losses)))
        if not over and run.seconds >= args.seconds * (run.played + 1) / args.matches:
            run.curve[-1] |= compete(learner, kind, args.games, args)
            run.played += 1
        if args.out:
            run.keep(args.out / "checkpoint.pt")
            save(learner, envs, run.curve, args)
        said, losses, since = run.seconds, [], time.perf_counter()
    print("agreement  " + "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * point["agreement"]))] for point in run.curve))
    run.curve[-1] |= compete(learner, kind, args.games, args)
    if args.out:
        save(learner, envs, run.curve, args)


if __name__ == "__main__":
    main()
