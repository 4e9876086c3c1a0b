"""Copies of environments, also to other processes: copy.copy, copy.deepcopy and pickle."""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar


class Copied:
    """An environment that can be copied with its complete state. The copy goes on as the original does.

    A subclass calls _seal at the end of its __init__ and has _made and _state.
    """

    _sealed: dict[str, Any]

    def _seal(self) -> None:
        """Stores which attributes the constructor sets: a copy gets them from its own constructor."""
        self._sealed = dict(self.__dict__)

    def _given_later(self) -> dict[str, Any]:
        """Returns the attributes that were added or replaced later: a generator, a spec, attributes of a subclass."""
        sealed = self._sealed
        return {
            name: value for name, value in self.__dict__.items()
            if name != "_sealed" and (name not in sealed or sealed[name] is not value)
        }  # fmt: skip

    def _made(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Returns a function that makes an equal new environment, and its arguments."""
        raise NotImplementedError

    def _state(self) -> dict[str, Any]:
        """Returns the argument of __setstate__, without the attributes that were added later."""
        raise NotImplementedError

    def __copy__(self) -> Any:
        # Two environments cannot share games, so there are no shallow copies.
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        make, given = self._made()
        other = memo[id(self)] = make(*copy.deepcopy(given, memo))
        other.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return other

    def __reduce_ex__(self, protocol: Any) -> Any:
        make, given = self._made()
        return make, tuple(_portable(x) for x in given), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self._state(), "later": self._given_later()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["later"])


_Class = TypeVar("_Class", bound=type)


def plain_class(kind: _Class) -> _Class:
    """Marks a class of this package that with_base derives from."""
    kind._plain = kind  # type: ignore[attr-defined]
    return kind


def with_base(kind: type, base: type) -> Any:
    """Returns a class that derives from a plain class and from a base class of another package."""
    return type(kind.__name__, (kind, base), {"__doc__": kind.__doc__, "__module__": kind.__module__, "_plain": kind})


def plain(kind: type) -> type:
    """Returns the plain class of a class made by with_base; other classes, such as callers' subclasses, unchanged."""
    return kind.__dict__.get("_plain", kind)


def is_plain(kind: type) -> bool:
    """Whether the class is one that plain_class marked, not a class derived from it."""
    return kind.__dict__.get("_plain") is kind


def _portable(given: Any) -> Any:
    """Returns an argument in its pickled form: functions that play are checked by their names."""
    if not isinstance(given, dict) or "opponent" not in given:
        return given
    opponent = given["opponent"]
    if callable(opponent):
        opponent = _Function(opponent)
    elif isinstance(opponent, (list, tuple)):
        opponent = [_Function(o) if callable(o) else o for o in opponent]
    return {**given, "opponent": opponent}


class _Function:
    """A function that plays, in its pickled form; unpickling returns the function itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __reduce_ex__(self, protocol: Any) -> Any:
        f = self.function
        if isinstance(f, types.FunctionType) and not _importable(f) and not _pickled_by_value():
            raise TypeError(
                f"opponent: the function {f.__qualname__} of {f.__module__} cannot be pickled, as no name of a module "
                "stands for it: define it with def at the top of a module, or pickle with cloudpickle"
            )
        return _itself, (f,)


def _itself(x: Any) -> Any:
    return x


def _importable(f: types.FunctionType) -> bool:
    """Whether pickle can write the function, of which it writes the name."""
    found: Any = sys.modules.get(f.__module__)
    for name in f.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is f


def _pickled_by_value() -> bool:
    """Whether the pickler in use writes whole functions: cloudpickle (also in Ray and joblib) or dill."""
    frame: Any = sys._getframe()
    while frame is not None:
        if {"cloudpickle", "dill"} & set(str(frame.f_globals.get("__name__")).split(".")):
            return True
        frame = frame.f_back
    return False
