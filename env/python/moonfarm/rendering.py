"""Boards as text, pixels and SVG."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arguments, library

_pictures = itertools.count()  # ids on a page


class Rendering:
    """The part of a vector environment that draws its games. A person sees them, so that there is no fog of war."""

    render_mode: str | None
    num_games: int
    _lib: library.Library
    _handle: Any
    _open: Any
    _game: Any

    def _begin_rendering(self, width: Any) -> None:
        self._width = arguments.width_of("render_width", width)
        self._picture_sizes: dict[int, int] = {}  # in bytes, by width

    def render(self) -> tuple[Any, ...] | None:
        """Returns the board of each game: as text with render_mode "ansi", as uint8 [height, width, 3] with "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(self.rendered(i) for i in range(self.num_games))

    def rendered(self, game: int = 0) -> Any:
        """Returns the board of one game in the render mode."""
        if self.render_mode is None:
            return None
        return self.text(game) if self.render_mode == "ansi" else self.pixels(game)

    def text(self, game: int = 0) -> str:
        """Returns the board of one game as text."""
        self._open()
        return self._lib.text("mf_render", self._handle, self._game(game)).rstrip(b"\0").decode()

    def pixels(self, game: int = 0, width: int | None = None) -> NDArray[np.uint8]:
        """Returns the board of one game as uint8 [height, width, 3], by default of the render_width; odd widths are made even."""
        self._open()
        width = self._width if width is None else arguments.width_of("width", width)
        need = ctypes.c_size_t(self._picture_sizes.get(width, 0))
        while True:
            picture = np.empty(need.value, np.uint8)
            self._lib.call("mf_render_rgb", self._handle, self._game(game), width, picture.ctypes.data, picture.size, need)
            if need.value == picture.size:
                return picture.reshape(-1, width, 3)
            self._picture_sizes[width] = need.value

    def svg(self, game: int = 0) -> str:
        """Returns the board of one game, the numbers of its players and a legend as an svg element, for pages."""
        self._open()
        name = f"moonfarm-{next(_pictures)}".encode()
        return self._lib.text("mf_render_svg", self._handle, self._game(game), name).rstrip(b"\0").decode()
