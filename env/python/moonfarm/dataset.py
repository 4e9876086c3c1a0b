"""Datasets as arrays.

    ds = moonfarm.dataset("data/td")
    for batch in ds.batches(1024, shuffle=1 << 16, obs="planes", reward="score", discount=0.99):
        batch["planes"], batch["action"], batch["return"]

A dataset is its orders: with obs, reward, discount or play=True the rows are
made by playing the episodes again while they are read, so that any dataset of a
game gives observations of any form, masks, actions, any reward and its returns,
also one made with `--obs none`. Columns are documented in datasets/FORMAT.md.
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator, Sequence
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import library
from .arrays import unpack_masks

if TYPE_CHECKING:
    from .torchdata import TorchRows

Batch = dict[str, NDArray[Any]]

SPLITS = ("all", "train", "validation", "test")
FORMS = ("planes", "packed", "none")


class CReading(ctypes.Structure):
    """mf_reading."""

    _fields_ = [
        ("size", c_uint32), ("split", c_int32), ("validation", c_double), ("test", c_double), ("columns", c_char_p),
        ("rows", c_int64), ("shuffle", c_int64), ("seed", c_uint64), ("epoch", c_uint64), ("part", c_int32), ("parts", c_int32),
        ("play", c_int32), ("whole", c_int32), ("memory", c_int32), ("workers", c_int32), ("obs", c_char_p), ("reward", c_char_p),
        ("discount", c_double), ("steps", c_int32), ("reserved", c_int32),
    ]  # fmt: skip


class CBatch(ctypes.Structure):
    """mf_batch. Fields of columns are addresses."""

    _fields_ = [
        ("size", c_uint32), ("reserved", c_uint32), ("capacity", c_int64), ("rows", c_int64),
        ("orders_capacity", c_int64), ("orders_count", c_int64),
    ] + [
        (name, c_void_p)
        for name in (
            "episode", "turn", "seat", "planes", "packed", "scalars", "mask", "action", "opponent",
            "reward", "returns", "nstep", "outcome", "terminated", "truncated", "chosen", "orders", "order_ends",
            "final_planes", "final_packed", "final_scalars",
        )
    ]  # fmt: skip


_types = {"uint8": np.uint8, "int32": np.int32, "uint64": np.uint64, "float32": np.float32, "bool": np.bool_}
_handle = c_uint64
_text = [c_void_p, ctypes.c_size_t, POINTER(ctypes.c_size_t)]


def _library() -> library.Library:
    """The library, with what this module calls."""
    lib = library.library()
    if not hasattr(lib, "_reads"):
        lib.check_size("mf_reading", CReading)
        lib.check_size("mf_batch", CBatch)
        lib.declare("mf_dataset_open", [c_char_p, POINTER(c_uint64)])
        lib.declare("mf_dataset_describe", [_handle, *_text])
        lib.declare("mf_reader_open", [_handle, POINTER(CReading), POINTER(c_uint64)])
        lib.declare("mf_reader_describe", [_handle, *_text])
        lib.declare("mf_reader_next", [_handle, POINTER(CBatch)])
        lib._reads = True  # type: ignore[attr-defined]
    return lib


class _Open:
    """What a handle stands for."""

    def __init__(self, handle: c_uint64) -> None:
        self.handle: c_uint64 | None = handle

    def close(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle is not None and not library.Process.forked:
            _library().call("mf_close", handle)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass


def _whole(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{name}: expected a whole number, got {type(value).__name__}") from None
    if not least <= number <= most:
        raise ValueError(f"{name}: {number} is not from {least} to {most}")
    return number


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from None


def _one_of(name: str, value: Any, all_: Sequence[str]) -> str:
    if value not in all_:
        raise ValueError(f"{name}: {value!r} is none of {', '.join(map(repr, all_))}")
    return value


def _bytes(name: str, value: Any) -> bytes:
    if not isinstance(value, str) or "\0" in value:
        raise TypeError(f"{name}: expected a text, got {value!r}")
    return value.encode()


def dataset(path: str | os.PathLike[str]) -> Dataset:
    """Opens the dataset in a folder."""
    return Dataset(path)


class Dataset:
    """A dataset on disk, made by `moonfarm generate` or `moonfarm import`.

    path: its folder. metadata: its manifest. game: the name of its game.
    players, num_episodes: how many there are. len(ds): its rows, one for each turn
    and player. It can be pickled: the copy opens the folder again.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        handle = c_uint64()
        _library().call("mf_dataset_open", os.fsencode(self.path), handle)
        self._open = _Open(handle)
        self.metadata: dict[str, Any] = json.loads(_library().text("mf_dataset_describe", handle).rstrip(b"\0"))
        self.game: str = self.metadata["game"]["name"]
        self.players: int = self.metadata["game"]["players"]
        self.num_episodes: int = self.metadata["totals"]["episodes"]

    def __len__(self) -> int:
        return self.metadata["totals"]["rows"]

    def __repr__(self) -> str:
        return f"<moonfarm.Dataset {str(self.path)!r}: {self.game}, {self.num_episodes} episodes, {len(self)} rows>"

    def __reduce__(self) -> Any:
        return Dataset, (self.path,)

    @property
    def columns(self) -> list[str]:
        """The columns of its files: what batches() yields without any argument."""
        return [c["name"] for c in self.metadata["steps"]["columns"]]

    @property
    def heads(self) -> list[int]:
        """The choices of each head of an action."""
        return self.metadata["action"]["heads"]

    def masks(self, mask: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """The column mask as bool [..., choices of all heads]: True is legal."""
        heads, unmasked = self.heads, self.metadata["action"]["unmasked"]
        return unpack_masks(mask, sum(heads[: len(heads) - unmasked]), sum(heads))

    def batches(
        self, size: int = 1024, *, columns: Sequence[str] | None = None, shuffle: int = 0, seed: int = 0, epoch: int = 0,
        split: str = "all", validation: float = 0.1, test: float = 0.0, part: int = 0, parts: int = 1, play: bool | None = None,
        obs: str | None = None, memory: bool = False, reward: str | None = None, discount: float | None = None, steps: int = 0,
        workers: int = 1, copy: bool = True,
    ) -> Reader:  # fmt: skip
        """Reads batches of rows: an iterator of dicts of arrays.

        size: rows of a batch; the last may have fewer.
        columns: their names; None: all that there are, but for opponent and
            orders. Orders are an array of all rows, "orders", and "order_ends":
            those of row i are orders[order_ends[i]:order_ends[i + 1]].
        shuffle: 0 for the order of the files, else rows are shuffled in windows
            of so many, and the files too; seed and epoch choose the order. A
            window is in memory, with more than one of workers two.
        split: "all", "train", "validation" or "test"; validation and test are
            the shares of the episodes. An episode is in the same split for
            every reader, whatever the order.
        part, parts: read one of so many parts of the episodes, which are apart
            and together the whole.
        play: make the rows by playing the episodes again. None: if one of what
            follows, or a column that is there only then, asks for it.
        obs: "planes", "packed", or "none", which is without masks and actions
            too; memory: planes show what was last seen where fog hides it.
        reward, discount: of the columns reward and return.
        steps: the column nstep is the return of so many turns.
        workers: threads that play; with more than one also while the program
            works with a batch.
        copy: False writes each batch into the same arrays: it is valid until
            the next.
        The column "opponent" holds the actions of the other players in the turn.
        """
        size = _whole("size", size, 1, 2**30)
        shuffle = _whole("shuffle", shuffle, 0, 2**30)
        return Reader(self, _reading(
            size=size, shuffle=shuffle, columns=columns, seed=seed, epoch=epoch, split=split, validation=validation, test=test, part=part,
            parts=parts, play=play, obs=obs, memory=memory, reward=reward, discount=discount, steps=steps, workers=workers,
        ), bool(copy))  # fmt: skip

    def episodes(
        self, *, columns: Sequence[str] | None = None, shuffle: bool = False, seed: int = 0, epoch: int = 0,
        split: str = "all", validation: float = 0.1, test: float = 0.0, part: int = 0, parts: int = 1, obs: str | None = None,
        memory: bool = False, reward: str | None = None, discount: float | None = None, steps: int = 0, workers: int = 1,
    ) -> Iterator[Batch]:  # fmt: skip
        """Reads whole episodes, played again: dicts of arrays [turns, players, …].

        Arguments are as for batches(); shuffle is for the order of the episodes.
        Beside the columns there are final_planes, final_packed and final_scalars
        [players, …], what the players see after the last turn, where there are
        columns of observations.
        """
        reader = Reader(self, _reading(
            size=1, shuffle=int(bool(shuffle)), columns=columns, seed=seed, epoch=epoch, split=split, validation=validation, test=test,
            part=part, parts=parts, play=True, obs=obs, memory=memory, reward=reward, discount=discount, steps=steps, workers=workers,
            whole=True,
        ), True)  # fmt: skip
        return _sequences(reader, self.players)

    def torch(
        self, size: int = 1024, *, rank: int | None = None, world: int | None = None, **options: Any
    ) -> TorchRows:
        """The batches as a torch.utils.data.IterableDataset of dicts of tensors.

        Arguments are those of batches(). Workers of a DataLoader and ranks share
        the episodes without overlap; rank and world are those of
        torch.distributed if that is in use, else 0 of 1. Numbers that torch does
        not have (uint64) are given as int64 with the same bits. Batches are made
        here: the DataLoader has batch_size=None, and with num_workers=N also
        multiprocessing_context="spawn". set_epoch(n) chooses the order of the
        next epoch.
        """
        from .torchdata import TorchRows

        for name in ("part", "parts", "epoch", "copy"):
            if name in options:
                raise TypeError(f"torch() has no argument {name!r}")
        self.batches(size, **options).close()  # raises now what is wrong
        return TorchRows(self, size, rank, world, options)

    def arrow(self, table: str = "steps", columns: Sequence[str] | None = None) -> Any:
        """The table "steps", "episodes" or "finals" as a pyarrow.Table. With the codec none its columns are mapped, not copied."""
        try:
            import pyarrow as pa
        except ImportError as e:
            raise ImportError("arrow() needs pyarrow, which is not installed; batches() needs nothing but numpy") from e
        files = sorted((self.path / _one_of("table", table, ("steps", "episodes", "finals"))).glob("*.arrow"), key=lambda f: int(f.stem))
        if not files:
            raise ValueError(f"table: {self.path} has no {table}")
        tables = [pa.ipc.open_file(pa.memory_map(str(f))).read_all() for f in files]
        return pa.concat_tables([t if columns is None else t.select(list(columns)) for t in tables])

    def export(self, file: str | os.PathLike[str], **options: Any) -> None:
        """Writes all rows to a compressed .npz file: an array for each column, and "metadata", the manifest as JSON.

        Arguments are those of batches(), but for size and copy. All rows are in
        memory at once.
        """
        parts = list(self.batches(4096, **options))
        if not parts:
            raise ValueError("export: there are no rows of this split or part")
        if "orders" in parts[0]:
            raise ValueError("columns: orders are lists, which .npz files do not have")
        arrays = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
        np.savez_compressed(file, metadata=np.array(json.dumps(self.metadata)), **arrays)


def _reading(
    *, size: int, shuffle: int, columns: Sequence[str] | None, seed: int, epoch: int, split: str, validation: float, test: float,
    part: int, parts: int, play: bool | None, obs: str | None, memory: bool, reward: str | None, discount: float | None, steps: int,
    workers: int, whole: bool = False,
) -> CReading:  # fmt: skip
    """The library's form of the arguments of batches()."""
    if isinstance(columns, (str, bytes)):
        raise TypeError("columns: expected names in a list, got one text")
    names = None if columns is None else [_bytes("columns", n) for n in columns]
    if names is not None and not names:
        raise ValueError("columns: there is no name in the list")
    chosen = bool(memory or steps) or any(x is not None for x in (obs, reward, discount))
    if play is None:
        play = chosen or bool({b"nstep", b"opponent"} & set(names or ()))
    elif not play and chosen:
        raise ValueError("play: False is for the rows in the files: obs, memory, reward, discount and steps cannot be chosen then")
    if discount is not None and not 0 < _number("discount", discount) <= 1:
        raise ValueError(f"discount: {discount} is not above 0 and at most 1")
    workers = _whole("workers", workers, 1, 4096)
    return CReading(
        size=ctypes.sizeof(CReading), split=SPLITS.index(_one_of("split", split, SPLITS)),
        validation=_number("validation", validation), test=_number("test", test),
        columns=None if names is None else b"\n".join(names), rows=size, shuffle=shuffle,
        seed=_whole("seed", seed, 0, 2**64 - 1), epoch=_whole("epoch", epoch, 0, 2**64 - 1),
        part=_whole("part", part, 0, 2**20), parts=_whole("parts", parts, 1, 2**20),
        play=bool(play), whole=whole, memory=bool(memory), workers=workers if play else 0,
        obs=None if obs is None else _one_of("obs", obs, FORMS).encode(),
        reward=None if reward is None else _bytes("reward", reward),
        discount=0 if discount is None else discount, steps=_whole("steps", steps, 0, 2**31 - 1),
    )  # fmt: skip


class Reader(Iterator[Batch]):
    """Reads a dataset batch by batch: see Dataset.batches. columns: those it yields, by name."""

    def __init__(self, of: Dataset, reading: CReading, copy: bool) -> None:
        self._library, self._whole, self._copy = _library(), bool(reading.whole), copy
        handle = c_uint64()
        self._library.call("mf_reader_open", of._open.handle or 0, reading, handle)
        self._open = _Open(handle)
        cards = json.loads(self._library.text("mf_reader_describe", handle).rstrip(b"\0"))
        self.columns: dict[str, dict[str, Any]] = {c["name"]: c for c in cards}
        self._size, self._orders = (0 if self._whole else reading.rows), 0
        self._kept: dict[str, NDArray[Any]] = {}
        self._players = of.players

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

    def _read(self) -> Batch:
        while True:
            size, batch = self._size, CBatch(size=ctypes.sizeof(CBatch), capacity=self._size, orders_capacity=self._orders)
            out: Batch = {}
            for name, c in self.columns.items():
                if c["list"]:
                    out[name] = self._array(name, (self._orders + 1,), np.uint64)  # never empty: without an address they are not wanted
                    out["order_ends"] = self._array("order_ends", (size + 1,), np.int32)
                    continue
                out[name] = self._array(name, (size, *c["shape"]), _types[c["type"]])
                if self._whole and name in ("planes", "packed", "scalars"):
                    out[f"final_{name}"] = self._array(f"final_{name}", (self._players, *c["shape"]), _types[c["type"]])
            for name, array in out.items():
                if array.size:
                    setattr(batch, "returns" if name == "return" else name, array.ctypes.data)
            self._library.call("mf_reader_next", self._open.handle, batch)
            rows, orders = batch.rows, batch.orders_count
            if rows <= size and ("orders" not in out or orders <= self._orders):
                break
            self._size, self._orders = max(size, rows), max(self._orders, orders + orders // 4)
        ends = {"orders": orders, "order_ends": rows + 1}
        return {name: a if name.startswith("final_") else a[: ends.get(name, rows)] for name, a in out.items()}


def _sequences(reader: Reader, players: int) -> Iterator[Batch]:
    flat = ("orders", "order_ends", "final_planes", "final_packed", "final_scalars")
    for batch in reader:
        yield {name: a if name in flat else a.reshape(-1, players, *a.shape[1:]) for name, a in batch.items()}


def advantages(
    reward: NDArray[np.float32], value: NDArray[np.float32], last: NDArray[np.float32] | None = None, *,
    discount: float = 1.0, decay: float = 0.95,
) -> NDArray[np.float32]:  # fmt: skip
    """Generalised advantage estimates (Schulman and others, 2016) of an episode.

    reward, value: [turns, …], value what the caller estimates. last […]: what
    comes after the last turn, the estimate of the final observation if a limit
    cut the episode; None: 0, as where the rules ended it. decay: lambda.
    Returns [turns, …].
    """
    reward, value = np.asarray(reward, np.float32), np.asarray(value, np.float32)
    if reward.shape != value.shape:
        raise ValueError(f"value: expected shape {reward.shape}, got {value.shape}")
    out = np.empty_like(reward)
    after = np.zeros(reward.shape[1:]) if last is None else np.asarray(last, np.float64)
    if after.shape != reward.shape[1:]:
        raise ValueError(f"last: expected shape {reward.shape[1:]}, got {after.shape}")
    total = np.zeros(reward.shape[1:])
    for t in range(len(reward) - 1, -1, -1):
        now = value[t].astype(np.float64)
        total = reward[t] + discount * after - now + discount * decay * total
        out[t], after = total, now
    return out
