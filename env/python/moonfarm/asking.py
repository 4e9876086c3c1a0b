"""What a policy would choose in the rows of an environment."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, arrays, library


class Asking:
    """A vector environment whose rows the library's policies can be asked about."""

    _lib: library.Library
    _handle: Any
    _sizes: library.CSpec
    _short: set[bytes]  # policies whose latest answer took less than a fifth of a second

    def ask(self, policy: str, mask: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
        """Returns what a policy would choose in the rows at hand: labels in the states that a learner reaches.

        policy: a text as for opponent, such as "econ", "mcts(sims=200)" or the path of a network;
        policies with time budgets are refused here, too, and recurrent networks. It is made by the
        first call with its text (a file is read only then) and stays until close.

        mask: bool [num_envs]; only the rows that are True cost time, all others are -1. None: all rows.

        Returns int32 [num_envs], or [num_envs, heads] if an action has several heads: actions for
        step, in the form of the environment. In a sequential form an action is the next one on the
        way to the policy's orders of the whole turn. A head is -1 where no choice says what the policy
        wants, and in rows that have ended or wait; in step -1 orders nothing. An answer depends on
        nothing but its row: not on workers, other rows or earlier calls. A policy in the place of
        an opponent at the same seat plays what it answers here.
        """
        rows = self._sizes.rows
        selected = None if mask is None else arrays.selection("mask", mask, rows)
        return self._ask(policy, selected)

    def _ask(self, policy: str, mask: NDArray[np.bool_] | None) -> NDArray[np.int32]:
        """ask, for the rows of the library."""
        self._open()
        text = arguments.name("policy", policy)
        answers = np.empty((self._sizes.rows, self._sizes.heads), np.int32)
        error = library.CError()
        given = (self._handle, text, None if mask is None else mask.ctypes.data, answers.ctypes.data)
        begin = time.monotonic()
        wait = -1 if text in self._short else 100  # in pieces, so that Ctrl-C is noticed between them
        try:
            while (code := self._lib.c.mf_ask(*given, wait, error)) == library.TIMEOUT:
                pass
        except BaseException:
            self._lib.c.mf_interrupt(self._handle, None)
            raise
        if code:
            library.fail(error)
        (self._short.add if time.monotonic() - begin < 0.2 else self._short.discard)(text)
        return answers[:, 0] if self._sizes.heads == 1 else answers

    def _open(self) -> None:
        raise NotImplementedError
