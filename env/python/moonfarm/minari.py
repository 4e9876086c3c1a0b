"""Datasets in the format of Minari 0.5: HDF5 by h5py, and metadata as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arguments, library
from .arrays import ended_mask
from .exporting import Progress, beside, refuse
from .registration import GAMES
from .single import make_env

if TYPE_CHECKING:
    from .dataset import Dataset

VERSION = "0.5.3"  # the version of Minari whose format this is


def export(
    ds: Dataset, folder: str | os.PathLike[str], *, progress: Progress | None = None, force: bool = False, **options: Any
) -> dict[str, Any]:
    """Writes a new folder with data/main_data.hdf5 and data/metadata.json.

    Each episode of the dataset becomes one episode per seat, numbered consecutively. options
    are those of Dataset.episodes; the default is planes if the dataset has no observations.
    Observations are a dict of planes or packed, and scalars, with one entry more than there
    are steps; infos has as many masks: after the last step only the choice that orders nothing
    is legal. An action is -1 where no choice stands for the orders. progress gets the number of
    rows done and the number of all rows.

    The env_spec in the metadata describes an environment like the first player's, against the
    second player's policy if that can be made from its text, else against random.

    force: an existing Minari dataset is replaced.

    Returns the numbers of rows and episodes, and the columns.
    """
    try:
        import h5py
    except ImportError as e:
        raise ImportError(f"Minari's files are written by h5py, which is not installed: python3 -m pip install h5py ({e})") from e
    folder = Path(arguments.path("folder", folder))
    part = beside(folder)
    refusal = refuse(folder, "minari", force)
    if refusal is not None:
        raise FileExistsError(refusal)
    if options.get("obs") is None and ds.metadata["observation"]["form"] == "none":
        options["obs"] = "planes"
    if options.get("obs") == "none":
        raise ValueError("obs: Minari's layout has observations; expected 'planes' or 'packed'")
    data = part / "data"
    data.mkdir(parents=True)
    try:
        with h5py.File(data / "main_data.hdf5", "w", track_order=True) as file:
            done = _write(file, ds, progress, options)
        done["metadata"] |= {"dataset_id": _name(ds, folder), "dataset_size": round((data / "main_data.hdf5").stat().st_size / 1e6, 1)}
        (data / "metadata.json").write_text(json.dumps(done.pop("metadata")))
        while force and folder.exists():  # another process may put one there again
            old = beside(folder)
            with contextlib.suppress(FileNotFoundError):
                folder.rename(old)
            shutil.rmtree(old, ignore_errors=True)
            with contextlib.suppress(OSError):
                part.rename(folder)
                return done
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return done


def _name(ds: Dataset, folder: Path) -> str:
    """Returns the name of the dataset in Minari, if the folder is GAME/NAME-vN below Minari's folder."""
    head, _, number = folder.name.rpartition("-v")
    return f"{ds.game}/{folder.name if head and number.isdigit() else folder.name + '-v0'}"


def _write(file: Any, ds: Dataset, progress: Progress | None, options: dict[str, Any]) -> dict[str, Any]:
    """Writes all episodes; returns the numbers written, and the metadata."""
    count = rows = 0
    spaces: dict[str, Any] = {}
    policies = ds.metadata["job"].get("policies") or []
    ended = ended_mask(ds.heads, ds.nothing)[None]
    for e in ds.episodes(**options):
        names = [n for n in ("planes", "packed", "scalars") if n in e]
        turns, players = e["reward"].shape
        for seat in range(players):
            group = file.create_group(f"episode_{count}")
            group.attrs.update({"id": count, "total_steps": turns, "episode": int(e["episode"][0, seat]), "seat": seat})
            group.attrs["outcome"] = float(e["outcome"][0, seat])
            if seat < len(policies):
                group.attrs["policy"] = policies[seat]
            seen = group.create_group("observations")
            for n in names:
                array = np.concatenate([e[n][:, seat], e[f"final_{n}"][None, seat]])
                seen.create_dataset(n, data=array, chunks=True, compression="gzip", compression_opts=1)
                spaces[n] = _box(array)
            mask = e["mask"][:, seat]
            group.create_group("infos").create_dataset("mask", data=np.concatenate([mask, ended]))
            group["actions"] = e["action"][:, seat]
            group["rewards"] = e["reward"][:, seat]
            group["terminations"] = e["terminated"][:, seat]
            group["truncations"] = e["truncated"][:, seat]
            count, rows = count + 1, rows + turns
        if progress is not None:
            progress(rows, len(ds))
    if not count:
        raise ValueError("there are no episodes in this split or part")
    file.attrs.update({"total_episodes": count, "total_steps": rows})
    heads = ds.heads
    action = {"type": "Discrete", "dtype": "int64", "start": 0, "n": heads[0]}
    if len(heads) > 1:
        action = {"type": "MultiDiscrete", "dtype": "int32", "nvec": heads, "start": [0] * len(heads)}
    metadata = {
        "total_episodes": count, "total_steps": rows, "data_format": "hdf5", "jpeg_encoding": False, "minari_version": VERSION,
        "observation_space": json.dumps({"type": "Dict", "subspaces": spaces}), "action_space": json.dumps(action),
        "algorithm_name": ", ".join(policies), "moonfarm": ds.metadata, "env_spec": json.dumps(_spec(ds, options)),
    }  # fmt: skip
    columns = ["observations", "actions", "rewards", "terminations", "truncations", "infos"]
    return {"rows": rows, "episodes": count, "columns": columns, "metadata": metadata}


def _box(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Returns the space of the rows of an array in Minari's form."""
    shape, dtype = array.shape[1:], array.dtype
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (0, int(np.iinfo(dtype).max))
    return {
        "type": "Box", "dtype": str(dtype), "shape": list(shape), "low": np.full(shape, low, dtype).tolist(), "high": np.full(shape, high, dtype).tolist(),
    }  # fmt: skip


def _spec(ds: Dataset, options: dict[str, Any]) -> dict[str, Any]:
    """Returns the gymnasium.envs.registration.EnvSpec, as its to_json writes it, of the first player's environment."""
    job = ds.metadata["job"]
    arguments = {
        "game": ds.game, "obs": options.get("obs") or ds.metadata["observation"]["form"],
        "reward": options.get("reward") or ds.metadata["reward"]["name"], "max_turns": job.get("max_turns") or 0,
        "memory": bool(options.get("memory") or ds.metadata["observation"].get("remembered")),
    }  # fmt: skip
    if job.get("rules"):
        arguments["rules"] = job["rules"][0]
    arguments["opponent"] = next(o for o in [*(job.get("policies") or [])[1:2], "random"] if _plays(o, arguments))
    name = next(name for name, game in GAMES.items() if game == ds.game)
    return {
        "id": f"moonfarm/{name}-v0", "entry_point": "moonfarm.single:make_env", "reward_threshold": None,
        "nondeterministic": False, "max_episode_steps": None, "order_enforce": True, "disable_env_checker": False,
        "kwargs": arguments, "additional_wrappers": [], "vector_entry_point": "moonfarm.registration:make_vec",
    }  # fmt: skip


def _plays(opponent: str, arguments: dict[str, Any]) -> bool:
    """Whether the opponent can be made here. A network whose file is elsewhere, or a bot, cannot."""
    try:
        make_env(opponent=opponent, **arguments).close()
    except (library.Error, ValueError):
        return opponent == "random"
    return True
