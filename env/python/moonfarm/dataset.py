"""Datasets as arrays.

    ds = moonfarm.dataset("data/td")
    for batch in ds.batches(1024, shuffle=1 << 16, obs="planes", reward="score", discount=0.99):
        batch["planes"], batch["action"], batch["return"]

A dataset holds the orders of its episodes. With obs, reward, discount or play=True,
rows are made by playing the episodes again while reading. So any dataset of a game, also
one made with `--obs none`, gives observations of any form, masks, actions, any reward and
its returns. datasets/FORMAT.md documents the columns.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Callable, Sequence
from ctypes import c_uint64
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import arguments, exporting
from .arrays import unpack_masks
from .library import library
from .making import make_vec
from .reading import FLAT, Batch, Episodes, Open, Reader, one_of, reading
from .rows import Rows, alone, number

if TYPE_CHECKING:
    from .torchdata import TorchRows


# Arguments of episodes() that do not affect which episodes are read.
_NOT_WHICH = frozenset({"columns", "shuffle", "seed", "epoch", "obs", "memory", "reward", "discount", "steps", "workers"})


def dataset(path: str | os.PathLike[str], form: str | None = None) -> Dataset:
    """Opens the dataset in a folder.

    form: the form of its rows, such as "orders" for terminal; None: the form that it was
    made with. In another form all rows are made by playing the episodes again. In a
    sequential form a row is an action of a player, a turn has a row for each of them, and
    the reward of a turn stands at the action with which the player ends it.

    If the library was built with the tag stores (GOFLAGS=-tags=stores python3
    env/python/build.py), path may also be a URL such as "s3://bucket/data/td".
    """
    return Dataset(path, form)


class Dataset:
    """A dataset made by `moonfarm generate` or `moonfarm import`.

    path: its folder or URL. metadata: its manifest. game: the name of its game. form: of
    the rows. players, num_episodes: their numbers. len(ds): the number of rows, one for
    each turn and player; ds[i]: a row; both only in the form that it was made with. It
    can be pickled: the copy opens it again.
    """

    def __init__(self, path: str | os.PathLike[str], form: str | None = None) -> None:
        text = arguments.path("path", path)
        self.path: Path | str = text if "://" in text else Path(text)
        handle = c_uint64()
        library().call("mf_dataset_open", os.fsencode(self.path), handle)
        self._open = Open(handle)
        self.metadata: dict[str, Any] = json.loads(library().text("mf_dataset_describe", handle).rstrip(b"\0"))
        self.game: str = self.metadata["game"]["name"]
        self.players: int = self.metadata["game"]["players"]
        self._rows: Rows | None = None
        made: str = self.metadata["job"].get("form", "cells")
        self.form: str = made if form is None else arguments.name("form", form).decode()
        old = form is not None and self.metadata["action"]["unmasked"] > 0  # of a form that had other actions
        self._form: str | None = self.form if old or self.form != made else None  # to be asked for
        self._card: dict[str, Any] = make_vec(self.game, form=self.form).description if self._form else {}
        self.num_episodes: int = self.metadata["totals"]["episodes"]

    def __len__(self) -> int:
        if self._form:
            raise TypeError(f"rows of the form {self.form!r} are made while they are read: they have no numbers")
        return self.metadata["totals"]["rows"]

    def __repr__(self) -> str:
        rows = f"form {self.form}" if self._form else f"{len(self)} rows"
        return f"<moonfarm.Dataset {str(self.path)!r}: {self.game}, {self.num_episodes} episodes, {rows}>"

    def __reduce__(self) -> Any:
        return Dataset, (self.path, self._form)

    @property
    def columns(self) -> list[str]:
        """The columns that batches() returns without arguments: those of its files, or those of the form."""
        if self._form:
            with contextlib.closing(self.batches()) as reader:
                return list(reader.columns)
        return [c["name"] for c in self.metadata["steps"]["columns"]]

    @property
    def heads(self) -> list[int]:
        """The number of choices of each head of an action."""
        return self._card["heads"] if self._form else self.metadata["action"]["heads"]

    @property
    def tensors(self) -> list[dict[str, Any]]:
        """The arrays that stand for planes in a form without planes: each a name, doc, dims, axis and fields."""
        return self._card["tensors"] if self._form else self.metadata["observation"].get("tensors", [])

    @property
    def nothing(self) -> int:
        """The choice of every head that orders nothing, which alone is legal in a game that has ended."""
        if len(self.heads) > 1:
            return 0
        return make_vec(self.game, form=self.form).description["nothing"]

    def masks(self, mask: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Returns the column mask as bool [..., choices of all heads]: True is legal."""
        return unpack_masks(mask, sum(self.heads))

    def shares(self, batch: Batch) -> NDArray[np.float32]:
        """Returns the search's share of each choice: [size, choices of all heads].

        batch: a batch of batches() with the columns of searches. In games of several
        heads the share of a choice is the sum over the moves that contain it; the share of
        choice 0 of a head is the sum over the moves without orders for the head. Networks
        with independent heads learn these shares. The shares of a head sum to 1, minus the
        shares of moves whose orders for the head no choice expresses; without a search they
        are 0.
        """
        policy = batch["search_policy"]
        if len(self.heads) == 1:
            return policy
        ends, counts, numbers = batch["search_ends"], batch["search_counts"], batch["search_choices"]
        size, first = len(ends) - 1, np.concatenate([[0], np.cumsum(self.heads)])
        row = np.repeat(np.arange(size), np.diff(ends))
        out, unsaid = np.zeros((size, first[-1]), np.float32), np.zeros((size, len(self.heads)), np.float32)
        of, share, said = np.repeat(row, counts), np.repeat(policy, counts), numbers >= 0
        np.add.at(out, (of[said], numbers[said]), share[said])
        np.add.at(unsaid, (of[~said], -1 - numbers[~said]), share[~said])
        searched = np.diff(ends)[:, None] > 0
        out[:, first[:-1]] = np.maximum(0, searched - np.add.reduceat(out, first[:-1], axis=1) - unsaid)
        return out

    def batches(
        self, size: int = 1024, *, columns: Sequence[str] | None = None, shuffle: int = 0, seed: int = 0,
        epoch: int = 0, split: str = "all", validation: float = 0.1, test: float = 0.0, part: int = 0, parts: int = 1,
        play: bool | None = None, obs: str | None = None, memory: bool = False, reward: str | None = None,
        discount: float | None = None, steps: int = 0, next: bool = False, workers: int = 1, copy: bool = True,
        policy: str | Sequence[str] | None = None, seat: int | Sequence[int] | None = None,
        chosen: int | Sequence[int] | None = None, outcome: str | Sequence[str] | None = None, opening: bool = True,
    ) -> Reader:  # fmt: skip
        """Reads batches of rows: returns an iterator of dicts of arrays.

        size: rows per batch; the last batch may have fewer.
        columns: their names; None: all except opponent and orders. Orders are one
            array for all rows, "orders", and "order_ends": row i has
            orders[order_ends[i]:order_ends[i + 1]].
        shuffle: 0 reads in the order of the files. Otherwise files are shuffled, and
            rows in windows of this many; seed and epoch choose the order. One window
            is in memory, two with more than one of workers.
        split: "all", "train", "validation" or "test"; validation and test are their
            shares of the episodes. An episode is in the same split for every reader,
            whatever the order.
        part, parts: read one of this many parts of the episodes, which are disjoint
            and complete.
        play: make the rows by playing the episodes again. None: only if one of the
            following arguments, or a column that needs it, asks for it.
        obs: "planes", "packed", or "none", which also leaves out masks and actions;
            memory: planes show the last seen values where fog hides cells.
        reward, discount: of the columns reward and return.
        steps: the column nstep is the return of this many turns, in a sequential form of
            actions of the seat; 0: there is none.
        next: adds what offline reinforcement learning needs beside a row: next_planes,
            next_packed, next_scalars and next_mask, which the seat has `steps` (0: 1) of its
            actions later, or after the last turn of the episode; nstep, the reward up to
            there; and next_discount, the weight of the next observation's value: discount
            to the power of the actions, 0 where the rules had ended the episode. So
            nstep + next_discount * value(next observation) is the target of a value, also
            where a limit cut the episode. terminated and truncated are those of the row.
        workers: threads that play; more than one play also while the program works
            with a batch.
        copy: False writes all batches into the same arrays: a batch is valid until
            the next one.
        policy: only rows in which this policy, or one of a list, chose: a name in
            metadata["job"]["policies"], or the name of a member of a mix; for
            recordings, a name in the episodes. seat: only rows of this seat, or of
            several. chosen: only rows in which the member of a mix with this number,
            or one of several, chose. outcome: only rows of a seat whose episode ended
            with a "win", "draw" or "loss", or one of several. opening: False leaves
            out the turns of an opening (generate --opening), in which no policy
            chose; policy and chosen always leave them out.
        The column "opponent" holds the actions of the other players in the turn. In a dataset
        made with `generate --ask POLICY` the column "asked" holds the actions that this policy
        would choose, -1 where no choice says its orders.

        Policies that search add "search_value" [size], NaN in rows without a search, and
        "search_policy". In games of one head this is float32 [size, choices]: the
        search's share of each choice, 0 in rows without a search. In games of several
        heads a move is a choice of each head: "search_policy" has the shares of the moves
        of all rows, and "search_ends" the ends of each row's moves, as for orders;
        "search_choices" and "search_choice_ends" have the choices of these moves, and
        "search_counts" the number of choices of each move. FORMAT.md documents their
        numbering; shares() sums the shares by choice.
        """
        given: dict[str, Any] = {name: x for name, x in locals().items() if name not in ("self", "copy")}
        return self._reader(given, bool(copy))

    def _reader(self, given: dict[str, Any], copy: bool) -> Reader:
        """Begins to read, with the arguments of reading()."""
        names = given["columns"]
        if len(self.heads) == 1 and not isinstance(names, (str, bytes, type(None))) and "search_policy" in names:
            given["columns"] = [*names, *({"search_choices"} - set(names))]
        own = {prefix + t["name"] for t in self.tensors for prefix in ("", "next_")}
        if own and given["columns"] is not None and own & set(given["columns"]):
            raise ValueError(f"columns: {sorted(own)} are read together: ask for planes")
        return Reader(self._open, self.players, self.heads, self.tensors, reading(**given, form=self._form), copy)

    def episodes(
        self, *, columns: Sequence[str] | None = None, shuffle: bool = False, seed: int = 0, epoch: int = 0,
        split: str = "all", validation: float = 0.1, test: float = 0.0, part: int = 0, parts: int = 1,
        obs: str | None = None, memory: bool = False, reward: str | None = None, discount: float | None = None,
        steps: int = 0, workers: int = 1,
    ) -> Episodes:  # fmt: skip
        """Reads whole episodes, played again: dicts of arrays [turns, players, …]; in a sequential form [steps, players, …].

        The arguments are as for batches(); shuffle only shuffles the episodes. If there
        are columns of observations, final_planes, final_packed and final_scalars
        [players, …] hold the observations after the last turn. len() of the result is the
        number of episodes.
        """
        given: dict[str, Any] = {name: x for name, x in locals().items() if name != "self"}
        which = {name: x for name, x in given.items() if name not in _NOT_WHICH}
        given.update(shuffle=int(bool(shuffle)), size=1, play=True, whole=True)
        return Episodes(self._reader(given, True), self.players, functools.partial(self._count, which))

    def _count(self, which: dict[str, Any]) -> int:
        """Returns the number of episodes, with the arguments of batches() that select some."""
        if which["split"] == "all" and set(which) <= {"split", "validation", "test", "part", "parts"}:
            part, parts = which["part"], which["parts"]
            return self.num_episodes * (part + 1) // parts - self.num_episodes * part // parts
        found = 0
        last = None
        for batch in Dataset(self.path).batches(1 << 16, columns=["episode"], play=False, **which):
            episode = batch["episode"]
            found += int(np.count_nonzero(np.diff(episode))) + int(last is None or episode[0] != last)
            last = episode[-1]
        return found

    @overload
    def __getitem__(self, i: slice) -> Batch: ...

    @overload
    def __getitem__(self, i: int) -> dict[str, Any]: ...

    def __getitem__(self, i: Any) -> Any:
        """Returns row i as batches() does: a dict of columns without the dimension of rows; values of lists as arrays.

        A slice is a batch of its rows. Rows of an episode are read together, so reading
        neighbours is fast; batches() is faster for many rows.
        """
        rows = len(self)
        if self._rows is None:
            self._rows = Rows(self)
        if isinstance(i, slice):
            first, end, step = i.indices(rows)
            if step != 1:
                raise ValueError(f"row: a slice with the step {step}: rows are read one after the other")
            if first >= end:
                raise IndexError(f"row: there are no rows from {first} to {end}")
            return self._rows.between(first, end)
        first = number(i, rows)
        return alone(self._rows.between(first, first + 1))

    def __getitems__(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Returns [self[i] for i in numbers], as PyTorch's DataLoader asks for a batch; each episode is read once."""
        rows = len(self)
        if self._rows is None:
            self._rows = Rows(self)
        return self._rows.each([number(i, rows) for i in numbers])

    def torch(
        self, size: int = 1024, *, rank: int | None = None, world: int | None = None, drop_last: bool = False, **options: Any
    ) -> TorchRows:
        """Returns the batches as a torch.utils.data.IterableDataset of dicts of tensors.

        The arguments are those of batches(). Workers of a DataLoader and ranks share the
        episodes without overlap; rank and world default to those of torch.distributed if
        it is in use, else to 0 and 1. Numbers of a type that torch lacks (uint64) become
        int64 with the same bits. The batches are made here: give the DataLoader
        batch_size=None, and with num_workers=N also multiprocessing_context="spawn".

        Each rank has the same number of batches, len() of the result, with any number of
        workers. Every row comes once, so that batches have a few rows fewer or, with
        several workers, more than size. drop_last=True: all batches have `size` rows; the
        last rows are left out, and a worker with too few rows repeats some.

        set_epoch(n) selects the order of the next epoch, also in workers that persist.
        state_dict() says how far an epoch was read, and load_state_dict() goes on from there,
        which takes the time of reading what came before.
        """
        from .torchdata import TorchRows

        for name in ("part", "parts", "epoch", "copy"):
            if name in options:
                raise TypeError(f"torch() has no argument {name!r}")
        self.batches(size, **options).close()  # raises now what is wrong
        return TorchRows(self, size, rank, world, drop_last, options)

    def arrow(self, table: str = "steps", columns: Sequence[str] | None = None) -> Any:
        """Returns the table "steps", "episodes" or "finals" as a pyarrow.Table, memory-mapped with the codec none."""
        try:
            import pyarrow as pa
        except ImportError as e:
            raise ImportError("arrow() needs pyarrow, which is not installed; batches() needs nothing but numpy") from e
        if isinstance(self.path, str):
            raise ValueError(f"arrow: {self.path} is no folder; batches() reads from stores, too")
        if columns is not None and not (columns := [*columns]):
            raise ValueError("columns: there is no name in the list")
        folder = self.path / one_of("table", table, ("steps", "episodes", "finals"))
        files = sorted(folder.glob("*.arrow"), key=lambda f: int(f.stem))
        if not files:
            raise ValueError(f"table: {self.path} has no {table}")
        tables = [pa.ipc.open_file(pa.memory_map(str(f))).read_all() for f in files]
        return pa.concat_tables([t if columns is None else t.select(list(columns)) for t in tables])

    def export(
        self, file: str | os.PathLike[str], *, format: str = "npz", progress: Callable[[int, int], None] | None = None, **options: Any
    ) -> None:
        """Writes the rows to a file in another format. The file appears, or is replaced, when it is complete.

        format: "npz", "parquet" or "minari". npz: compressed arrays for numpy.load, one per
        column, and the manifest as JSON, "metadata"; lists are left out. parquet: a Parquet file,
        written by pyarrow. minari: a new folder in Minari's format, written by h5py.
        progress is called with the number of rows done and the number of all rows. options are
        the arguments of batches() except size and copy; for minari those of episodes().
        `python3 -m moonfarm export` does the same; its help documents the contents of the files.
        """
        file = arguments.path("file", file)
        if format == "npz" and not file.endswith(".npz"):
            file += ".npz"
        exporting.export(self, file, format, force=format != "minari", progress=progress, **options)


def advantages(
    reward: NDArray[np.float32], value: NDArray[np.float32], last: NDArray[np.float32] | None = None, *,
    discount: float = 1.0, decay: float = 0.95,
) -> NDArray[np.float32]:  # fmt: skip
    """Returns the generalised advantage estimates (Schulman and others, 2016) of an episode.

    reward, value: [turns, …]; value holds the caller's estimates. last […]: the value
    after the last turn, which is the estimate of the final observation if a limit cut
    the episode; None: 0, as where the rules ended it. decay: lambda. Returns
    [turns, …].
    """
    reward, value = (np.asarray(a, np.float32, order="C") for a in (reward, value))
    if reward.shape != value.shape:
        raise ValueError(f"value: expected shape {reward.shape}, got {value.shape}")
    if last is not None:
        last = np.asarray(last, np.float32, order="C")
        if last.shape != reward.shape[1:]:
            raise ValueError(f"last: expected shape {reward.shape[1:]}, got {last.shape}")
    out = np.empty_like(reward)
    if out.size:
        addresses = [None if a is None else a.ctypes.data for a in (reward, value, last)]
        rows = out.size // len(out)
        library().call("mf_advantages", *addresses, len(out), rows, discount, decay, out.ctypes.data)
    return out
