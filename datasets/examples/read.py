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

root = pathlib.Path(sys.argv[1])
manifest = json.loads((root / "manifest.json").read_text())


def tensor(column, shape):
    """The values of a tensor column, [rows, *shape], without a copy of them."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), *shape)


shapes = {c["name"]: c["shape"] for c in manifest["steps"]["columns"] if c.get("tensor")}
sums = {name: hashlib.sha256() for name in shapes}
rows = 0
for shard in manifest["shards"]:
    with pa.memory_map(str(root / shard["steps"]["path"])) as source:
        reader = pa.ipc.open_file(source)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            rows += batch.num_rows
            for name, shape in shapes.items():
                values = tensor(batch.column(name), shape)
                sums[name].update(np.ascontiguousarray(values).tobytes())

print("rows", rows)
for name, shape in shapes.items():
    print(name, shape, sums[name].hexdigest())  # as `moonfarm inspect --sums` prints
