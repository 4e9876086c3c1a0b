"""Reading of datasets: the arguments, and batches as arrays."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, library

Batch = dict[str, NDArray[Any]]

SPLITS = ("all", "train", "validation", "test")
FORMS = ("planes", "packed", "none")
OUTCOMES = ("win", "draw", "loss")

# Columns of lists: the field that counts their values, and the array of their ends.
_lists: dict[str, tuple[str, str]] = {
    "orders": ("orders", "order_ends"), "search_policy": ("moves", "search_ends"),
    "search_counts": ("moves", "search_ends"), "search_choices": ("choices", "search_choice_ends"),
}  # fmt: skip

# Arrays of a batch that are lists in some game: they have no entry per row.
FLAT = frozenset([*_lists, *(ends for _, ends in _lists.values())]) - {"search_policy"}

# The types of values in numpy.
TYPES: dict[str, Any] = {
    "uint8": np.uint8, "int32": np.int32, "uint64": np.uint64, "float32": np.float32, "bool": np.bool_,
}  # fmt: skip


def list_ends(batch: Batch) -> dict[str, str]:
    """Returns the arrays of a batch that hold the values of lists, with the array of their ends."""
    return {name: ends for name, (_, ends) in _lists.items() if name in batch and ends in batch}


def rows_in(batch: Batch) -> int:
    """Returns the number of rows of a batch."""
    name, ends = next(iter(batch)), list_ends(batch)
    return len(batch[ends[name]]) - 1 if name in ends else len(batch[name])


class Open:
    """An open handle of the library."""

    def __init__(self, handle: ctypes.c_uint64) -> None:
        self.handle: ctypes.c_uint64 | None = handle

    def close(self) -> None:
        """Closes the handle. It may be called again."""
        handle, self.handle = getattr(self, "handle", None), None
        if handle is not None and not library.Process.forked:
            library.library().call("mf_close", handle)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from None


def one_of(name: str, value: Any, all_: Sequence[str]) -> str:
    """Returns the value; ValueError unless it is one of these."""
    if value not in all_:
        raise ValueError(f"{name}: {value!r} is not one of {', '.join(map(repr, all_))}")
    return value


def reading(
    *, size: int, shuffle: int, columns: Sequence[str] | None, seed: int, epoch: int, split: str,
    validation: float, test: float, part: int, parts: int, obs: str | None, memory: bool, reward: str | None,
    discount: float | None, steps: int, workers: int, play: bool | None, next: bool = False, whole: bool = False,
    policy: str | Sequence[str] | None = None, seat: int | Sequence[int] | None = None,
    chosen: int | Sequence[int] | None = None, outcome: str | Sequence[str] | None = None, opening: bool = True,
    form: str | None = None,
) -> library.CReading:  # fmt: skip
    """Returns the arguments of batches() in the form of the library. form: of the rows; None: that of the dataset."""
    if isinstance(columns, (str, bytes)):
        raise TypeError("columns: expected names in a list, got one text")
    names = None if columns is None else [arguments.name("columns", n) for n in columns]
    if names is not None and not names:
        raise ValueError("columns: there is no name in the list")
    if any(b"\n" in n for n in names or ()):
        raise ValueError(f"columns: a name with a line break: {columns!r}")
    remade = bool(memory or steps or next) or any(x is not None for x in (obs, reward, discount, form))
    if play is None:
        play = remade or bool({b"nstep", b"opponent"} & set(names or ()))
    elif not play and remade:
        raise ValueError(
            "play: False is for the rows in the files: form, obs, memory, reward, discount, steps and next cannot be chosen then"
        )
    if discount is not None and not 0 < _number("discount", discount) <= 1:
        raise ValueError(f"discount: {discount} is not above 0 and at most 1")
    workers = arguments.whole("workers", workers, 1, 4096)
    return library.CReading(
        size=ctypes.sizeof(library.CReading),
        split=SPLITS.index(one_of("split", split, SPLITS)),
        validation=_number("validation", validation),
        test=_number("test", test),
        columns=None if names is None else b"\n".join(names),
        rows=arguments.whole("size", size, 1, 2**30),
        shuffle=arguments.whole("shuffle", shuffle, 0, 2**30),
        seed=arguments.seed_of(seed),
        epoch=arguments.whole("epoch", epoch, 0, 2**64 - 1),
        part=arguments.whole("part", part, 0, 2**20),
        parts=arguments.whole("parts", parts, 1, 2**20),
        play=bool(play),
        whole=whole,
        memory=bool(memory),
        workers=workers if play else 0,
        obs=None if obs is None else one_of("obs", obs, FORMS).encode(),
        reward=None if reward is None else arguments.name("reward", reward),
        discount=0 if discount is None else discount,
        steps=arguments.whole("steps", steps, 0),
        next=bool(next),
        filter=_filter(policy, seat, chosen, outcome, opening),
        form=None if form is None else form.encode(),
    )


def _each(name: str, value: Any, one: type | tuple[type, ...]) -> list[Any]:
    """Returns the values that a filter accepts: one or several; None accepts all."""
    if value is None:
        return []
    values = [value] if isinstance(value, one) else list(value)
    if not values:
        raise ValueError(f"{name}: there is nothing in the list, which no row would match; None takes all")
    return values


def _filter(policy: Any, seat: Any, chosen: Any, outcome: Any, opening: bool) -> bytes | None:
    """Returns the filter of rows in the form of the library."""
    lines = []
    for given in _each("policy", policy, str):
        line = arguments.name("policy", given)
        if b"\n" in line:
            raise ValueError(f"policy: a name with a line break: {given!r}")
        lines.append(b"policy=" + line.strip())
    for what, numbers in (("seat", seat), ("chosen", chosen)):
        for n in _each(what, numbers, (int, np.integer)):
            lines.append(f"{what}={arguments.whole(what, n, 0, 255)}".encode())
    for given in _each("outcome", outcome, str):
        lines.append(b"outcome=" + one_of("outcome", given, OUTCOMES).encode())
    if not opening:
        lines.append(b"opening=no")
    return b"\n".join(lines) or None


class Reader(Iterator[Batch]):
    """Reads a dataset batch by batch: see Dataset.batches. columns: its columns, by name."""

    def __init__(
        self, dataset: Open, players: int, heads: list[int], tensors: Sequence[dict[str, Any]],
        how: library.CReading, copy: bool,
    ) -> None:  # fmt: skip
        self._library, self._whole, self._copy = library.library(), bool(how.whole), copy
        handle = ctypes.c_uint64()
        self._library.call("mf_reader_open", dataset.handle or 0, how, handle)
        self._open = Open(handle)
        cards = json.loads(self._library.text("mf_reader_describe", handle).rstrip(b"\0"))
        self._read_columns: dict[str, dict[str, Any]] = {c["name"]: c for c in cards}
        self.columns = dict(self._read_columns)
        self._choices = 0  # number of choices of the one head, if shares are spread over them
        if len(heads) == 1 and {"search_policy", "search_choices"} <= set(self.columns):
            self._choices = heads[0]
            self.columns["search_policy"] = {**self.columns["search_policy"], "shape": list(heads), "list": False}
            del self.columns["search_choices"]
        self._tensors = tensors
        for prefix in ("", "next_") if tensors else ():
            if (whole := self.columns.pop(f"{prefix}planes", None)) is not None:
                for t in tensors:
                    self.columns[prefix + t["name"]] = {**whole, "name": prefix + t["name"], "doc": t["doc"], "shape": list(t["dims"])}
        self._size = 0 if self._whole else how.rows
        self._room = {_lists[name][0]: 0 for name, c in self._read_columns.items() if c["list"]}
        self._kept: dict[str, NDArray[Any]] = {}
        self._players = players

    def as_lists(self) -> Reader:
        """Keeps the shares of searches as lists, as in the files, not spread over all choices. Returns self."""
        self._choices, self.columns = 0, dict(self._read_columns)
        return self

    def close(self) -> None:
        """Ends reading."""
        self._open.close()

    def __next__(self) -> Batch:
        if self._open.handle is None:
            raise StopIteration
        try:
            return self._read()
        except library.EndError:
            self.close()
            raise StopIteration from None
        except library.Error:
            self.close()
            raise

    def _array(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        if self._copy:
            return np.empty(shape, dtype)
        kept = self._kept.get(name)
        if kept is None or kept.shape[0] < shape[0]:
            kept = self._kept[name] = np.empty(shape, dtype)
        return kept

    def _arrays(self) -> Batch:
        """Returns arrays for a batch of the size of the latest one."""
        out: Batch = {}
        for name, c in self._read_columns.items():
            dtype, shape = TYPES[c["type"]], c["shape"]
            if c["list"]:  # one more, because the library does not write arrays without an address
                count, ends = _lists[name]
                out[name] = self._array(name, (self._room[count] + 1,), dtype)
                out[ends] = self._array(ends, (self._size + 1,), np.int32)
                continue
            out[name] = self._array(name, (self._size, *shape), dtype)
            if self._whole and name in ("planes", "packed", "scalars"):
                out[f"final_{name}"] = self._array(f"final_{name}", (self._players, *shape), dtype)
        return out

    def _read(self) -> Batch:
        while True:
            out = self._arrays()
            batch = library.CBatch(size=ctypes.sizeof(library.CBatch), capacity=self._size)
            for name, room in self._room.items():
                setattr(batch, f"{name}_capacity", room)
            for name, array in out.items():
                if array.size:
                    setattr(batch, "returns" if name == "return" else name, array.ctypes.data)
            self._library.call("mf_reader_next", self._open.handle, batch)
            rows, counts = batch.rows, {name: getattr(batch, f"{name}_count") for name in self._room}
            if rows <= self._size and all(counts[name] <= room for name, room in self._room.items()):
                break
            self._size = max(self._size, rows)
            self._room = {name: max(self._room[name], n + n // 4) for name, n in counts.items()}
        sizes = {name: rows for name in out if not name.startswith("final_")}
        for name, (count, ends) in _lists.items():
            if name in out:
                sizes[name], sizes[ends] = counts[count], rows + 1
        out = {name: a[: sizes[name]] if name in sizes else a for name, a in out.items()}
        for prefix in ("", "final_", "next_") if self._tensors else ():
            if (planes := out.pop(f"{prefix}planes", None)) is not None:
                out.update(self._divided(prefix, planes))
        return self._spread(out) if self._choices else out

    def _divided(self, prefix: str, planes: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yields the tensors of a form without planes, as views."""
        rows, at = planes.reshape(len(planes), -1), 0
        for t in self._tensors:
            size = int(np.prod(t["dims"]))
            yield prefix + t["name"], rows[:, at : at + size].reshape(-1, *t["dims"])
            at += size

    def _spread(self, out: Batch) -> Batch:
        """Spreads the shares of moves, each of which is a choice of the one head, over all choices."""
        shares, choices, ends = (out.pop(name) for name in ("search_policy", "search_choices", "search_ends"))
        del out["search_choice_ends"]
        rows = len(ends) - 1
        dense = out["search_policy"] = self._array("dense", (rows, self._choices), np.float32)[:rows]
        dense.fill(0)
        said = (choices >= 0) & (choices < self._choices)
        row = np.repeat(np.arange(rows), np.diff(ends))
        np.add.at(dense, (row[said], choices[said]), shares[said])
        return out


class Episodes(Iterator[Batch]):
    """The episodes of a reader: dicts of arrays [turns, players, …]. len() is the number of all of them."""

    def __init__(self, reader: Reader, players: int, count: Callable[[], int]) -> None:
        self._reader, self._players, self._count = reader, players, count
        self._flat = FLAT | {name for name, c in reader.columns.items() if c["list"]}
        self._len: int | None = None

    def __next__(self) -> Batch:
        return {
            name: a if name in self._flat or name.startswith("final_") else a.reshape(-1, self._players, *a.shape[1:])
            for name, a in next(self._reader).items()
        }

    def __len__(self) -> int:
        if self._len is None:
            self._len = self._count()
        return self._len

    def close(self) -> None:
        """Ends reading."""
        self._reader.close()
