"""Functions that a reader of datasets needs: which episodes are for validation, and
the planes of packed observations.

FORMAT.md defines both; the same functions are in moonfarm.mjs, and in Go
ReadOptions.Split and features.Unpacker. Only unpack_rows needs numpy.
"""

_G = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


def _mix(x):
    x &= _WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    return x ^ x >> 31


def in_validation(game, share):
    """Whether an episode is for validation if that share of all games, 0 … 1, is.

    game is from the column of that name, so that equal games are on one side.
    """
    k = _mix(_G)
    k = _mix((k ^ int(game)) + _G)
    k = _mix(k + _G)
    k = _mix((k ^ 5) + _G)
    return (_mix(k + _G) >> 11) * 2.0**-53 < share


def _cells(runs):
    return [run["first"] + i * run["step"] for run in runs for i in range(run["count"])]


def unpack(observation, words):
    """Returns the planes of one packed observation, bytes [planes × height × width].

    observation is from the manifest, words a sequence of ints [words].
    """
    layout, size = observation["packed_layout"], observation["height"] * observation["width"]
    words = [int(w) for w in words]
    lists = [_cells(runs) for runs in layout["cells"]]
    planes = bytearray(observation["planes"] * size)

    def number(of, k):
        bit = of["first"] + k * of["step"]
        return words[bit >> 6] >> (bit & 63) & (1 << of["width"]) - 1

    def add(part, k, cell):
        if "if" in part and number(part["if"], k) not in part["if"]["in"]:
            return
        value = number(part["number"], k) if part["number"]["width"] else 1
        planes[part["plane"] * size + cell] += part["times"] * value

    for part in layout["parts"]:
        cells = lists[part["cells"]]
        if "at" in part:
            k = number(part["at"], 0)
            if k < len(cells):
                add(part, 0, cells[k])
        else:
            for k, cell in enumerate(cells):
                add(part, k, cell)
    return bytes(planes)


def unpack_rows(observation, packed):
    """Like unpack for many rows: numpy uint64 [rows, words] to uint8 [rows, planes, height, width]."""
    import numpy as np

    layout = observation["packed_layout"]
    shape = observation["planes"], observation["height"], observation["width"]
    rows, size = len(packed), shape[1] * shape[2]
    halves = np.ascontiguousarray(packed, dtype="<u8").view("<u4")
    lists = [np.array(_cells(runs)) for runs in layout["cells"]]
    planes = np.zeros((rows, shape[0], size), np.uint8)

    def number(of, n):
        bit = of["first"] + of["step"] * np.arange(n)
        return halves[:, bit >> 5] >> (bit & 31).astype(np.uint32) & np.uint32((1 << of["width"]) - 1)

    for part in layout["parts"]:
        cells = lists[part["cells"]]
        n = 1 if "at" in part else len(cells)
        value = number(part["number"], n) if part["number"]["width"] else np.ones((rows, n), np.uint32)
        value = value * np.uint32(part["times"])
        if "if" in part:
            value = value * np.isin(number(part["if"], n), part["if"]["in"])
        if "at" in part:
            k = number(part["at"], 1)[:, 0]
            there = np.flatnonzero(k < len(cells))
            planes[there, part["plane"], cells[k[there]]] += value[there, 0].astype(np.uint8)
        else:
            planes[:, part["plane"], cells] += value.astype(np.uint8)
    return planes.reshape(rows, *shape)
