"""The shared library: how it is found, loaded and called.

It is loaded when it is first needed, not when the package is imported. All structures
of moonfarm.h are declared here; their sizes are compared with the library's when it is
loaded.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import sys
import time
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

ABI = 6

OK, ARGUMENT, HANDLE, STATE, DATA, INTERNAL, END, TIMEOUT, MEMORY = range(9)
ALL_SEATS, ANY_SEAT = -1, -2
NEXT_STEP, SAME_STEP, DISABLED = range(3)


class Error(RuntimeError):
    """An error of the library. `code` is one of moonfarm.h."""

    code = INTERNAL


class ArgumentError(Error, ValueError):
    """An argument has an invalid value."""

    code = ARGUMENT


class HandleError(Error):
    """The object was closed before."""

    code = HANDLE


class StateError(Error):
    """The call came at a wrong time, such as a step while others are under way."""

    code = STATE


class DataError(Error, ValueError):
    """Bytes, a file or a dataset are damaged, or of another game or version."""

    code = DATA


class EndError(Error):
    """There is nothing more to read."""

    code = END


class WaitError(Error, TimeoutError):
    """Nothing was ready in time."""

    code = TIMEOUT


class RoomError(Error, MemoryError):
    """There is not enough memory."""

    code = MEMORY


_errors: dict[int, type[Error]] = {
    e.code: e for e in (ArgumentError, HandleError, StateError, DataError, EndError, WaitError, RoomError)
}


class CError(ctypes.Structure):
    """mf_error."""

    _fields_ = [("size", c_uint32), ("code", c_int32), ("text", ctypes.c_char * 1016)]

    def __init__(self) -> None:
        super().__init__(size=ctypes.sizeof(CError))


class CConfig(ctypes.Structure):
    """mf_config."""

    _fields_ = [
        ("size", c_uint32), ("num_envs", c_int32),
        ("game", c_char_p), ("rules", c_char_p), ("reward", c_char_p), ("form", c_char_p),
        ("opponents", c_char_p), ("seat", c_int32), ("autoreset", c_int32), ("max_turns", c_int32), ("memory", c_int32),
        ("workers", c_int32), ("batch_size", c_int32), ("seed", c_uint64),
    ]  # fmt: skip


class CSpec(ctypes.Structure):
    """mf_spec."""

    _fields_ = [("size", c_uint32)] + [
        (name, c_int32)
        for name in (
            "players", "num_envs", "rows", "blocks", "batch_size",
            "planes", "height", "width", "words", "scalars", "mask_words", "heads",
            "choices", "max_orders", "max_turns",
        )
    ]  # fmt: skip


class CSlabs(ctypes.Structure):
    """mf_slabs. The fields are addresses; moonfarm.h documents the arrays."""

    _fields_ = [("size", c_uint32), ("reserved", c_uint32)] + [
        (name, c_void_p)
        for name in (
            "planes", "packed", "scalars", "mask", "key", "action", "reward",
            "terminated", "truncated", "turn", "seat", "episode",
            "final_planes", "final_packed", "final_scalars", "final_score", "final_result", "opponent",
            "waits",
        )
    ]  # fmt: skip


class CReading(ctypes.Structure):
    """mf_reading."""

    _fields_ = [
        ("size", c_uint32), ("split", c_int32), ("validation", c_double), ("test", c_double),
        ("columns", c_char_p), ("rows", c_int64), ("shuffle", c_int64), ("seed", c_uint64), ("epoch", c_uint64),
        ("part", c_int32), ("parts", c_int32), ("play", c_int32), ("whole", c_int32), ("memory", c_int32),
        ("workers", c_int32), ("obs", c_char_p), ("reward", c_char_p),
        ("discount", c_double), ("steps", c_int32), ("next", c_int32), ("filter", c_char_p),
        ("form", c_char_p),
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
    ] + [
        (name, c_int64) for name in ("moves_capacity", "moves_count", "choices_capacity", "choices_count")
    ] + [
        (name, c_void_p)
        for name in (
            "search_value", "search_policy", "search_counts", "search_ends", "search_choices", "search_choice_ends",
            "asked", "step", "next_planes", "next_packed", "next_scalars", "next_mask", "next_discount",
        )
    ]  # fmt: skip


_structs: dict[str, type[ctypes.Structure]] = {
    "mf_error": CError, "mf_config": CConfig, "mf_spec": CSpec, "mf_slabs": CSlabs,
    "mf_reading": CReading, "mf_batch": CBatch,
}  # fmt: skip

_handle, _error, _text = c_uint64, POINTER(CError), [c_void_p, c_size_t, POINTER(c_size_t)]

# The arguments of each function without the mf_error at the end.
_functions: dict[str, list[Any]] = {
    "mf_open": [POINTER(CConfig), POINTER(c_uint64)],
    "mf_close": [_handle],
    "mf_get_spec": [_handle, POINTER(CSpec)],
    "mf_describe": [_handle, *_text],
    "mf_bind": [_handle, POINTER(CSlabs)],
    "mf_set_weights": [_handle, c_void_p],
    "mf_reset": [_handle, c_void_p, c_void_p],
    "mf_ask": [_handle, c_char_p, c_void_p, c_void_p, c_int32],
    "mf_step": [_handle],
    "mf_step_with": [_handle, c_void_p],
    "mf_step_for": [_handle, c_void_p, c_int32],
    "mf_interrupt": [_handle],
    "mf_send": [_handle, c_int32],
    "mf_recv": [_handle, c_int32, POINTER(c_int32)],
    "mf_get_state": [_handle, c_int32, *_text],
    "mf_set_state": [_handle, c_int32, c_char_p, c_size_t],
    "mf_observe": [_handle],
    "mf_render": [_handle, c_int32, *_text],
    "mf_render_rgb": [_handle, c_int32, c_int32, *_text],
    "mf_render_svg": [_handle, c_int32, c_char_p, *_text],
    "mf_state_from": [c_char_p, c_char_p, c_char_p, c_size_t, c_int32, c_uint64, *_text],
    "mf_message_describe": [c_char_p, c_char_p, c_char_p, c_size_t, c_int32, *_text],
    "mf_answer_from": [c_char_p, c_char_p, c_char_p, c_size_t, c_int32, c_void_p, c_int32, *_text],
    "mf_games": [*_text],
    "mf_dataset_open": [c_char_p, POINTER(c_uint64)],
    "mf_dataset_describe": [_handle, *_text],
    "mf_reader_open": [_handle, POINTER(CReading), POINTER(c_uint64)],
    "mf_reader_describe": [_handle, *_text],
    "mf_reader_next": [_handle, POINTER(CBatch)],
    "mf_advantages": [c_void_p, c_void_p, c_void_p, c_int64, c_int64, c_double, c_double, c_void_p],
}

FORKED = (
    "moonfarm was used before this process was forked, and what it runs on does not survive a fork. "
    'Start processes afresh, with multiprocessing.get_context("spawn") (DataLoader(multiprocessing_context="spawn"), '
    'AsyncVectorEnv(context="spawn"), multiprocessing.set_start_method("spawn") before those of SuperSuit), '
    "or use moonfarm in the child only"
)


class Process:
    """State of which a process has one."""

    library: Library | None = None
    forked = False  # this is a child of a process that had loaded the library


def refuse_fork() -> None:
    """Raises RuntimeError in a forked child of a process that had loaded the library."""
    if Process.forked:
        raise RuntimeError(FORKED)


def _after_fork() -> None:
    if Process.library is not None:
        Process.forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def file_name() -> str:
    """Returns the library's file name on this system."""
    return {"darwin": "libmoonfarm.dylib", "win32": "moonfarm.dll"}.get(sys.platform, "libmoonfarm.so")


def path() -> Path:
    """Returns the path of the library: the environment variable MOONFARM_LIBRARY, or else a file beside this one."""
    named = os.environ.get("MOONFARM_LIBRARY")
    return Path(named) if named else Path(__file__).with_name(file_name())


def spare() -> None:
    """Raises MemoryError unless there is memory for the library's own use: where it lacks some, it ends the interpreter."""
    np.empty(96 << 20, np.uint8)


def _spare_addresses() -> None:
    """Raises MemoryError unless the process may have the addresses that the library reserves when it is loaded."""
    if sys.platform == "win32":
        return
    try:
        mmap.mmap(-1, 3 << 29, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 0).close()
    except OSError as e:
        raise MemoryError("moonfarm: loading the library takes 1.5 GiB of addresses, more than the process may still have (ulimit -v)") from e


class Library:
    """The loaded library.

    `call` and `text` check every result; the functions are attributes with their names in
    moonfarm.h.
    """

    def __init__(self, file: Path) -> None:
        if not file.exists():
            raise ImportError(
                f"moonfarm: the library {file} is not there. Build it with Go and gcc: "
                "python3 env/python/build.py, or install the package with pip"
            )
        _spare_addresses()
        try:
            self.c = ctypes.CDLL(str(file))
            self.c.mf_abi.restype = c_uint32
            abi = self.c.mf_abi()
        except (OSError, AttributeError) as e:
            raise ImportError(f"moonfarm: {file} cannot be loaded: {e}") from e
        if abi != ABI:
            raise ImportError(
                f"moonfarm: {file} has ABI {abi}, this package needs {ABI}: "
                "build it again (python3 env/python/build.py)"
            )
        self.c.mf_version.restype = c_char_p
        self.file = file
        self.version: str = self.c.mf_version().decode()
        self.c.mf_sizeof.argtypes = [c_char_p]
        self.c.mf_sizeof.restype = c_uint32
        for name, struct in _structs.items():
            self._check_size(name, struct)
        for name, arguments in _functions.items():
            self._declare(name, arguments)

    def _check_size(self, name: str, struct: type[ctypes.Structure]) -> None:
        """Raises ImportError unless a structure has the same size in the library."""
        theirs, ours = self.c.mf_sizeof(name.encode()), ctypes.sizeof(struct)
        if theirs != ours:
            raise ImportError(
                f"moonfarm: {name} has {theirs} bytes in {self.file} and {ours} in this package: "
                "build the library again (python3 env/python/build.py)"
            )

    def _declare(self, name: str, arguments: list[Any]) -> None:
        """Declares the arguments of a function, without the mf_error, which is always the last."""
        try:
            function = getattr(self.c, name)
        except AttributeError as e:
            raise ImportError(
                f"moonfarm: {self.file} has no {name}: build it again (python3 env/python/build.py)"
            ) from e
        function.argtypes = [*arguments, _error]
        function.restype = c_int32

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function and raises the error that it reports."""
        refuse_fork()
        error = CError()
        if getattr(self.c, name)(*arguments, error):
            fail(error)

    def text(self, name: str, *arguments: Any) -> bytes:
        """Calls a function that ends in buf, cap, need, and returns its result, for texts with the 0 at their end."""
        need = c_size_t(4096)
        while True:
            room = need.value
            buffer = ctypes.create_string_buffer(room)
            self.call(name, *arguments, buffer, room, need)
            if need.value <= room:
                return buffer.raw[: need.value]


def is_snapshot(state: bytes) -> bool:
    """Whether bytes begin like a state of the library."""
    return state[:4] == b"MFES"


def fail(error: CError) -> NoReturn:
    """Raises the error that a function has written to its mf_error."""
    text = error.text.decode(errors="replace")
    raise _errors.get(error.code, Error)(text)


class Step:
    """mf_step, or mf_step_with, which Ctrl-C ends while opponents are choosing: no turn is played then.

    long: opponents take long from the first step on; otherwise that is found out.
    """

    def __init__(self, c: Any, long: bool) -> None:
        self.c, self.always, self.long = c, long, long

    def __call__(self, handle: Any, error: Any, action: int | None = None) -> int:
        if self.always:
            return self._in_pieces(handle, error, action)
        begin = time.monotonic()
        if self.long:
            code = self._in_pieces(handle, error, action)
        elif action is None:
            code = self.c.mf_step(handle, error)
        else:
            code = self.c.mf_step_with(handle, action, error)
        self.long = time.monotonic() - begin > 0.2
        return code

    def _in_pieces(self, handle: Any, error: Any, action: int | None) -> int:
        """Lets Python look at signals ten times a second."""
        try:
            while (code := self.c.mf_step_for(handle, action, 100, error)) == TIMEOUT:
                pass
            return code
        except BaseException:
            self.c.mf_interrupt(handle, None)
            raise


def library() -> Library:
    """Returns the library, loaded by the first call."""
    refuse_fork()
    if Process.library is None:
        Process.library = Library(path())
    return Process.library


def games() -> list[dict[str, Any]]:
    """Returns the games.

    Each is a dict of name, doc, players, max_turns, shapes (of a row of the arrays planes,
    packed, scalars and mask), heads (number of choices of each), rewards, policies, rules and
    forms, all with the default rules. A form is a dict of name, doc, sequential, shapes,
    heads and tensors; shapes and heads of the game are those of its first form, the default.
    """
    return json.loads(library().text("mf_games").rstrip(b"\0"))
