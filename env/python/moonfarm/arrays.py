"""The arrays that the library reads and writes, and checks of the caller's arrays."""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .library import CSlabs, CSpec, spare

# Parts of an observation that can be arrays.
PARTS = ("planes", "packed", "scalars", "mask", "action_mask", "key")

# The parts that an obs text stands for.
OBS: dict[str, tuple[str, ...]] = {
    "planes": ("planes", "scalars"),
    "packed": ("packed", "scalars"),
    "both": ("planes", "packed", "scalars"),
}

_words = np.dtype(np.uint64)
_types: dict[str, np.dtype[Any]] = {
    "planes": np.dtype(np.uint8), "packed": _words, "scalars": np.dtype(np.float32), "mask": _words,
    "key": _words, "action": np.dtype(np.int32), "reward": np.dtype(np.float32), "turn": np.dtype(np.int32),
    "seat": np.dtype(np.uint8), "episode": _words, "final_planes": np.dtype(np.uint8), "final_packed": _words,
    "final_scalars": np.dtype(np.float32), "final_score": np.dtype(np.float32), "final_result": np.dtype(np.float32),
    "opponent": np.dtype(np.uint8), "waits": np.dtype(np.bool_),
    "action_mask": np.dtype(np.bool_),
}  # fmt: skip


class Unended(np.float32):
    """The score or result of an episode that goes on: NaN, but equal to itself, because Gymnasium and PettingZoo compare infos."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unended)

    __hash__ = np.float32.__hash__

    def __reduce__(self) -> str:  # type: ignore[override]
        return "UNENDED"  # a copy is the same object

    def __deepcopy__(self, memo: Any) -> Unended:
        return self


UNENDED = Unended("nan")


def parts_of(obs: str | tuple[str, ...] | list[str]) -> tuple[tuple[str, ...], bool]:
    """Returns the parts that an obs argument asks for, and whether an observation is one array instead of a dict."""
    if isinstance(obs, str):
        if obs not in OBS:
            raise ValueError(
                f"obs: {obs!r} is not one of {', '.join(map(repr, OBS))}; "
                f"a tuple names parts: {', '.join(map(repr, PARTS))}"
            )
        return OBS[obs], False
    parts = tuple(obs)
    if not parts or len(set(parts)) < len(parts) or any(p not in PARTS for p in parts):
        raise ValueError(f"obs: {obs!r} must name parts, each once: {', '.join(map(repr, PARTS))}")
    return parts, len(parts) == 1


def shapes(s: CSpec) -> dict[str, tuple[int, ...]]:
    """Returns the shape of every array for environments of these sizes."""
    rows, games = s.rows, s.num_envs
    planes, packed, scalars = (rows, s.planes, s.height, s.width), (rows, s.words), (rows, s.scalars)
    return {
        "planes": planes, "packed": packed, "scalars": scalars, "mask": (rows, s.mask_words), "key": (rows,),
        "action": (rows, s.heads), "reward": (rows,), "turn": (games,), "seat": (games,), "episode": (games,),
        "final_planes": planes, "final_packed": packed, "final_scalars": scalars,
        "final_score": (rows,), "final_result": (rows,), "opponent": (games, s.players), "waits": (rows,),
        "action_mask": (rows, s.choices),
    }  # fmt: skip


def row_shapes(
    parts: Sequence[str], tensors: Sequence[Mapping[str, Any]], s: CSpec
) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of a row of views()."""
    out: dict[str, tuple[int, ...]] = {}
    for part in parts:
        if part == "planes" and tensors:
            out.update({t["name"]: tuple(t["dims"]) for t in tensors})
        else:
            out[part] = shapes(s)[part][1:]
    return out


def views(
    parts: Sequence[str], tensors: Sequence[Mapping[str, Any]], arrays: Mapping[str, NDArray[Any]], prefix: str = ""
) -> list[tuple[str, NDArray[Any]]]:
    """Returns the arrays of an observation with these parts, by name, as views.

    tensors: of the form, from its description. If there are any, their arrays stand in the place of
    planes, in which they lie one after the other.
    """
    out: list[tuple[str, NDArray[Any]]] = []
    for part in parts:
        array = arrays[prefix + part]
        if part != "planes" or not tensors:
            out.append((part, array))
            continue
        values, first = array.reshape(len(array), -1), 0
        for t in tensors:
            end = first + math.prod(t["dims"])
            out.append((t["name"], values[:, first:end].reshape(len(array), *t["dims"])))
            first = end
    return out


def allocate(
    s: CSpec, names: list[str], given: Mapping[str, NDArray[Any]] | None
) -> dict[str, NDArray[Any]]:
    """Returns the named arrays, filled with 0; arrays of the caller are returned as they are.

    A caller's array must be a writable numpy array in C order of the right
    shape and dtype, else TypeError or ValueError names it.
    """
    sizes = shapes(s)
    out: dict[str, NDArray[Any]] = {}
    for name, array in (given or {}).items():
        if name not in names:
            raise ValueError(f"buffers: there is no array {name!r} here; there are {', '.join(names)}")
        check(f"buffers[{name!r}]", array, sizes[name], _types[name])
        for other, theirs in out.items():
            if np.may_share_memory(array, theirs):
                raise ValueError(f"buffers: {name!r} and {other!r} overlap")
        out[name] = array
    for name in names:
        if name not in out:
            out[name] = np.zeros(sizes[name], _types[name])
    if sum(array.nbytes for array in out.values()) >= 64 << 20:
        spare()
    return out


def check(what: str, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raises TypeError or ValueError if the library cannot write to the array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{what}: expected a numpy array of {dtype} {list(shape)}, got {type(array).__name__}")
    if array.dtype != dtype:
        raise TypeError(f"{what}: expected dtype {dtype}, got {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{what}: expected shape {shape}, got {array.shape}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what}: expected an array in C order without gaps (numpy.ascontiguousarray makes one)")
    if not array.flags.writeable:
        raise ValueError(f"{what}: the array is read-only")
    if not array.flags.aligned:
        raise ValueError(f"{what}: the array is not aligned to its dtype")


def selection(what: str, given: Any, rows: int) -> NDArray[np.bool_]:
    """Returns the caller's array of bool [rows] in C order. TypeError or ValueError names the argument."""
    if not isinstance(given, np.ndarray) or given.dtype != np.bool_:
        raise TypeError(f"{what}: expected a numpy array of bool")
    if given.shape != (rows,):
        raise ValueError(f"{what}: expected shape {(rows,)}, got {given.shape}")
    return np.ascontiguousarray(given)


def slabs(arrays: Mapping[str, NDArray[Any]], terminated: NDArray[Any], truncated: NDArray[Any]) -> CSlabs:
    """Returns the addresses of the arrays in the form of the library."""
    out = CSlabs(size=ctypes.sizeof(CSlabs), terminated=terminated.ctypes.data, truncated=truncated.ctypes.data)
    for name, array in arrays.items():
        if array.size and name != "action_mask":  # this one is written in Python
            setattr(out, name, array.ctypes.data)
    return out


_numbers = frozenset({int, np.int32, np.int64})

# Numbers beyond 32 bits become the largest or smallest int32, which no head has as a choice.
_most, _least = np.array(2**31 - 1), np.array(-(2**31))


def _has_bool(given: Any) -> bool:
    """Whether there is a bool among the numbers of lists: numpy would take it for 0 or 1."""
    if isinstance(given, (list, tuple)):
        return not _numbers.issuperset(map(type, given)) and any(map(_has_bool, given))
    return isinstance(given, bool) or getattr(given, "dtype", None) == np.bool_


def put(what: str, to: NDArray[np.int32], given: Any) -> None:
    """Copies the caller's actions to an array of int32. TypeError or ValueError names the argument."""
    a = given if isinstance(given, np.ndarray) else np.asarray(given)
    if a.shape != to.shape:
        raise ValueError(f"{what}: expected shape {to.shape}, got {a.shape}")
    kind = a.dtype
    if kind.kind not in "iu" or _has_bool(given):
        found = kind if kind.kind not in "iu" else "a bool among them"
        raise TypeError(f"{what}: expected whole numbers (int32 is copied quickest), got {found}")
    if kind.itemsize == 8 or kind == np.uint32:
        if kind.kind == "u":
            a = np.minimum(a, np.array(2**31 - 1, kind))
        else:
            a = np.maximum(np.minimum(a, _most), _least)
        np.copyto(to, a, casting="unsafe")
    else:
        to[...] = a


def unpacking(mask: NDArray[np.uint64], choices: int) -> Callable[[], NDArray[np.bool_]]:
    """Returns a function that returns unpack_masks of this array. It is faster, because it prepares the work once."""
    if sys.byteorder != "little" or mask.strides[-1:] != (8,):
        return functools.partial(unpack_masks, mask, choices)
    seen, unpack, kind = mask.view(np.uint8), np.unpackbits, np.bool_
    return lambda: unpack(seen, -1, choices, "little").view(kind)


def ended_mask(heads: list[int], nothing: int) -> NDArray[np.uint64]:
    """Returns the mask of a game that has ended, uint64 [words]: only the choice that orders nothing is legal."""
    bits = np.zeros(-(-sum(heads) // 64) * 64, np.uint8)
    bits[np.concatenate([[0], np.cumsum(heads)[:-1]]) + nothing] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def unpack_masks(mask: NDArray[np.uint64], choices: int) -> NDArray[np.bool_]:
    """Returns masks as bool [..., choices].

    mask: uint64 [..., words], bit i%64 of word i//64 for choice i. choices: their number in all heads.
    """
    return np.unpackbits(
        np.ascontiguousarray(mask, "<u8").view(np.uint8), axis=-1, count=choices, bitorder="little"
    ).view(np.bool_)
