"""Learns to choose like the players of datasets, then plays.

    moonfarm generate towerdefence --policy econ --episodes 20000 --obs none --out data/econ
    moonfarm train clone towerdefence data/econ --seconds 300 --opponent econ

It takes any game and form; --form names it (default: orders for Terminal, entities for CodeCraft, else cells). The
observations are made from the datasets' orders while they are read. The program prints how often the network's
likeliest legal choice is the one that was made, in episodes that it does not learn from; heads with one legal choice
do not count. A random script cannot be predicted perfectly: in Tower Defence at most 79 % of econ's choices can. If
an action has a head for each of many cells, nearly all choices order nothing, and so does the commonest choice: the
other choices show what has been learnt. The network plays every --opponent, --matches times while it learns and
afterwards. Its second output, the value, learns the games' outcomes. See run.py for the files.

    moonfarm generate towerdefence --policy 'mcts(sims=400),econ' --episodes 4000 --obs none --out data/m
    moonfarm train clone towerdefence data/m --seconds 300 --opponent econ --temperature 0

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
plays best with --temperature 0.

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
import itertools
import time
from collections.abc import Sequence

import torch
from torch import Tensor, nn

import moonfarm

from . import options
from .bodies import Cells
from .learner import Learner, compete
from .networks import make, write
from .rows import Rows, Source, asked, blend, distinct
from .run import Run, begin

LINE = (
    "{seconds:6.0f} s  {rows} rows  loss {loss:.3f}  held out: {agreement:.1%} of {choices} choices ({commonest:.1%} by"
    " the commonest legal one; of the others {recall:.1%} are predicted, {precision:.1%} of these predictions are right)"
)
SHARES_LINE = "{cross_entropy:>25.3f} cross-entropy (least {entropy:.3f})"
VALUE_LINE = (
    "  value off by {value_outcome:.3f} from the outcome (the search's {search_outcome:.3f}), by {value_search:.3f} from"
    " the search's"
)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    p = options.parser("clone", __doc__)
    p.add_argument("dataset", nargs="+", help="folder of a dataset; several of the same game, of which each gives its share of the rows")
    p.add_argument("--seconds", type=options.POSITIVE, default=300, help="seconds of learning (default 300)")
    p.add_argument(
        "--learn", choices=("shares", "played", "all", "asked", "value"),
        help="shares: learn the search's shares, in the rows with a search; played: learn the choices played in the same"
        " rows; all: learn the choices played in all rows; asked: learn the choices of the policy of generate --ask;"
        " value: only the value of the rows with a search"
        " (default: asked or shares if the dataset has them, played if it has searches without shares, else all)",
    )  # fmt: skip
    p.add_argument(
        "--value-mix", type=options.SOME, default=0.5, metavar="X",
        help="if a policy searches, the value learns X · the search's value + (1 - X) · the outcome (default 0.5)",
    )  # fmt: skip
    p.add_argument("--matches", type=options.COUNT, default=3, help="how many times the opponents are played, the last time at the end (default 3)")
    p.add_argument("--validation", type=options.POSITIVE, default=0.1, help="share of the episodes for validation (default 0.1)")
    p.add_argument("--policy", action="append", help="learn only from the rows of this policy, or member of a mix")
    p.add_argument("--imitate", action="append", default=[], help="likewise, and tell the network which of several it should imitate")
    p.add_argument("--seat", action="append", type=int, help="learn only from this seat")
    p.add_argument("--chosen", action="append", type=int, help="learn only from rows in which the member of a mix with this number chose")
    p.add_argument("--outcome", action="append", choices=["win", "draw", "loss"], help="learn only from seats with this outcome, such as win")
    p.add_argument("--rows", type=options.NATURAL, default=0, help="rows of the validation to measure; 0: depends on the network")
    return options.parse(p, given)


def choose(data: list[moonfarm.Dataset], learn: str | None, begins: bool) -> str:
    """Returns what to learn. learn: what was wished; begins: the network has weights already."""
    columns = set.intersection(*(set(d.columns) for d in data))
    searches, shares, wish = "search_value" in columns, "search_policy" in columns, learn
    learn = wish or ("asked" if all(map(asked, data)) else "all")
    if wish is None and searches and learn == "all":
        learn = "shares" if shares else "played"
    if learn in ("shares", "played", "value") and not searches:
        raise SystemExit(f"--learn {learn}: no policy of {data[0].path} searches")
    if learn == "shares" and not shares:
        raise SystemExit("--learn shares: the shares exist only in the form of the dataset")
    if learn == "value" and not begins:
        raise SystemExit("--learn value: expected --begin with a network, whose choices stay as they are")
    if learn == "asked" and not any(map(asked, data)):
        raise SystemExit(f"--learn asked: no policy was asked for {data[0].path} (generate --ask)")
    return learn


class Cloning:
    """A run with its learner and its datasets."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        data = [moonfarm.dataset(folder, form=args.form) for folder in args.dataset]
        for d in data:
            if d.game != args.game:
                raise SystemExit(f"{d.path}: a dataset of {d.game}; expected one of {args.game}")
        self.rules = data[0].metadata["job"]["rules"][-1]
        self.envs = options.games(args, self.rules)
        body = make(self.envs, args.width, players=len(args.imitate))
        learn = choose(data, args.learn, bool(args.begin))
        self.learner = Learner(self.envs, body, args.device, learn, args.value_mix, args.temperature or 1, args.compile)
        players = range(len(args.imitate)) if args.imitate else [None]
        self.sources = [Source(d, self.learner, player, args, len(data) * len(players)) for d in data for player in players]
        self.optimiser, self.mirror = torch.optim.Adam(body.parameters(), args.rate), options.mirror(args, self.envs)
        self.run, self.rows, self.played, self.losses = Run(args), 0, 0, list[Tensor]()
        file = args.out / "checkpoint.pt"
        if file.exists():  # the rows of the epochs that were begun come again, in another order
            state = self.run.continues(file, body, self.optimiser)
            self.rows, self.played = state["rows"], state["played"]
            self.learner.common.copy_(state["common"])
            for source, epoch in zip(self.sources, state["epochs"]):
                source.epoch = epoch + 1
        elif args.begin:
            begin(body, args.begin, args.device)
        for d in data:
            self.run.say(f"{d.path}: {d.num_episodes} games, {distinct(d)} of them different")
        if file.exists():
            self.run.say(f"continues after {self.run.seconds:.0f} s, {self.rows} rows")

    def held_out(self) -> list[Rows]:
        """Returns the batches to measure."""
        local = isinstance(self.learner.body, Cells) and self.learner.body.places[0].count > 1
        rows = (self.args.rows or (500 if local else 20_000)) / len(self.sources)
        batches = [itertools.islice(s.batches("validation", 0), max(1, round(rows / s.size))) for s in self.sources]
        out = [*itertools.chain.from_iterable(batches)]
        if not out:
            raise SystemExit(f"{self.args.dataset[0]}: no rows to learn from are held out; expected more episodes")
        return out

    @property
    def learned(self) -> float:
        """Returns the seconds of learning."""
        return self.run.spent.get("learning", 0.0)

    def learn(self, batch: Rows) -> None:
        if self.mirror and len(self.losses) % 2:
            batch = self.mirror.rows(batch)
        for group in self.optimiser.param_groups:
            group["lr"] = self.args.rate * max(1 - self.learned / self.args.seconds, 0.02)
        with options.autocast(self.args):
            loss = self.learner.loss(batch)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.learner.body.parameters(), 10.0)
        self.optimiser.step()
        self.losses.append(loss.detach())
        self.rows += len(batch["mask"])

    def measure(self, held: list[Rows], play: bool, greedy: bool) -> None:
        """Adds a point to the curve, and keeps the run. play: against the opponents, too."""
        run, args = self.run, self.args
        with run.timed("measuring"):
            point = {"rows": self.rows, "loss": float(torch.stack(self.losses).mean()), **self.learner.agreement(held)}
            self.losses = []
            run.say(LINE.format(seconds=run.seconds, **point))
            if self.learner.searches:
                run.say(((SHARES_LINE if "entropy" in point else "") + VALUE_LINE).format(**point))
            if play:
                kind = {"game": args.game, "form": args.form, "rules": self.rules}
                point |= compete(run, self.learner, kind, args.games, greedy)
                self.played += 1
        run.point(**point)
        with run.timed("writing"):
            epochs = [source.epoch for source in self.sources]
            more = {"rows": self.rows, "played": self.played, "common": self.learner.common, "epochs": epochs}
            run.keep(args.out / "checkpoint.pt", self.learner.body, self.optimiser, **more)
            write(self.learner.body, self.envs, args.out / "network.onnx")


def main(given: Sequence[str] | None = None) -> None:
    args = arguments(given)
    cloning = Cloning(args)
    run = cloning.run
    with run.timed("reading"):
        held = cloning.held_out()
    batches = blend(cloning.sources, cloning.sources[0].size, args.seed + cloning.rows)
    said, over = cloning.learned, cloning.learned >= args.seconds and bool(run.curve)
    while not over:
        with run.timed("learning"):  # and reading
            begun = time.perf_counter()
            while time.perf_counter() - begun < 0.2 or not cloning.losses:
                cloning.learn(next(batches))
        run.now(f"{cloning.rows} rows  loss {float(cloning.losses[-1]):.3f}")
        over = cloning.learned >= args.seconds
        if over or cloning.learned - said >= max(2, args.seconds / 12):
            said = cloning.learned
            play = over or cloning.learned >= args.seconds * (cloning.played + 1) / args.matches
            cloning.measure(held, play, args.temperature == 0)
    run.say("agreement  " + "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * point["agreement"]))] for point in run.curve))
    run.close()
