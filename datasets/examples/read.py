"""Reads a dataset with pyarrow and numpy.

    pip install pyarrow numpy
    python read.py DIR
"""

import hashlib
import json
import pathlib
import sys

import numpy as np
import pyarrow as pa

import moonfarm  # beside this file

root = pathlib.Path(sys.argv[1])
manifest = json.loads((root / "manifest.json").read_text())


def tensor(column, shape):
    """Returns the values of a tensor column, [rows, *shape], without a copy of them."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), *shape)


shapes = {c["name"]: c["shape"] for c in manifest["steps"]["columns"] if c.get("tensor")}
sums = {name: hashlib.sha256() for name in shapes}
planes = hashlib.sha256()
rows = 0
validation = []
for shard in range(manifest["totals"]["shards"]):
    with pa.memory_map(str(root / f"steps/{shard:05}.arrow")) as source:
        reader = pa.ipc.open_file(source)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            rows += batch.num_rows
            for name, shape in shapes.items():
                values = tensor(batch.column(name), shape)
                sums[name].update(np.ascontiguousarray(values).tobytes())
                if name == "packed":
                    planes.update(moonfarm.unpack_rows(manifest["observation"], values).tobytes())
    with pa.memory_map(str(root / f"episodes/{shard:05}.arrow")) as source:
        episodes = pa.ipc.open_file(source).read_all()
        for episode, game in zip(episodes["episode"].to_pylist(), episodes["game"].to_pylist()):
            if moonfarm.in_validation(game, 0.1):
                validation.append(episode)

print("rows", rows)
for name, shape in shapes.items():
    print(name, shape, sums[name].hexdigest())  # as `moonfarm inspect --sums` prints them
print("validation", *validation)  # with a tenth of the games for validation
if "packed" in shapes:
    print("unpacked", planes.hexdigest())
if "finals" in manifest:  # observations after the last turn, to bootstrap games that a limit cut
    with pa.memory_map(str(root / "finals/00000.arrow")) as source:
        print(pa.ipc.open_file(source).read_all().select(["episode", "turn", "seat"]).slice(0, 4))
