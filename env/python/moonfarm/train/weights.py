"""Reads the weights of an ONNX file that networks.write has made, such as a network that comes with the program.

PyTorch's exporter keeps the names of parameters. The format is that of Protocol Buffers:
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union

import numpy as np
import torch
from torch import Tensor, nn

GRAPH, NODE, INITIALIZER = 7, 1, 5  # numbers of fields: of a model, and of its graph
INPUT, OUTPUT, OPERATOR = 1, 2, 4  # of a node
DIMS, TYPE, NAME, RAW = 1, 2, 8, 9  # of a tensor
TYPES: dict[int, np.dtype[Any]] = {1: np.dtype("<f4"), 10: np.dtype("<f2")}

Field = Union[int, memoryview]


def fields(data: memoryview) -> Iterator[tuple[int, Field]]:
    """Yields the fields of a message: their numbers, and whole numbers or bytes."""
    at = 0

    def number() -> int:
        nonlocal at
        x = shift = 0
        while True:
            byte, at = data[at], at + 1
            x |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return x

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
            continue
        size = number() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
        yield key >> 3, data[at : at + size]
        at += size


def texts(node: list[tuple[int, Field]], field: int) -> list[str]:
    return [str(x, "utf-8") for number, x in node if number == field and not isinstance(x, int)]


def weights(file: Path, body: nn.Module) -> dict[str, Tensor]:
    """Returns a network's weights by the names of a body's. ValueError: it lacks one of them."""
    found, same = dict[str, Tensor](), list[tuple[str, str]]()
    for number, graph in fields(memoryview(file.read_bytes())):
        if number != GRAPH or isinstance(graph, int):
            continue
        for kind, item in fields(graph):
            if kind not in (NODE, INITIALIZER) or isinstance(item, int):
                continue
            parts = [*fields(item)]
            if kind == NODE and texts(parts, OPERATOR) == ["Identity"]:  # equal arrays are written once
                same.append((texts(parts, OUTPUT)[0], texts(parts, INPUT)[0]))
            elif kind == INITIALIZER:
                dims, raw = [x for n, x in parts if n == DIMS and isinstance(x, int)], [x for n, x in parts if n == RAW and not isinstance(x, int)]
                dtype = TYPES.get(next((x for n, x in parts if n == TYPE and isinstance(x, int)), 0))
                if dtype is not None and raw:
                    array = np.frombuffer(raw[0], dtype).astype(np.float32).reshape(dims)
                    found[texts(parts, NAME)[0]] = torch.from_numpy(array)
    found |= {copy: found[original] for copy, original in same if original in found}
    for name, _ in body.named_parameters():
        if name not in found:
            raise ValueError(f"it has no weights {name}")
    return {name: found[name] for name in body.state_dict() if name in found}
