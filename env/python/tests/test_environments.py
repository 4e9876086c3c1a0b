"""ENVIRONMENTS.md is what this file writes from the games' own documentation: MOONFARM_UPDATE=1 writes it again."""

from __future__ import annotations

import itertools
import os
import re
import unittest

import numpy as np

import moonfarm
from moonfarm.registration import GAMES
from tests import ROOT

PAGE = ROOT / "env/python/ENVIRONMENTS.md"

HEAD = """\
# Environments

Written by `MOONFARM_UPDATE=1 python3 -m unittest tests.test_environments` from the documentation in the code; a test compares the two.

Each environment has four kinds, by the same arguments: `gymnasium.make("moonfarm/TowerDefence-v0")` or `moonfarm.make("TowerDefence-v0")`,
one game; `gymnasium.make_vec` or `moonfarm.make_vec`, many games at once; `moonfarm.parallel_env`, or `from moonfarm import towerdefence_v0`
with `towerdefence_v0.parallel_env()` and `env()`, a game of PettingZoo whose players are all agents.

What all environments share:

- **Observations** show the position from the side of the player at the seat. `obs="packed"` and others: `help(moonfarm.make_vec)`.
- **Legal actions** are in `infos["action_mask"]`, bool, a value for each choice of each head, and as bits in `infos["mask"]`. Other
  actions are no errors: most of them order nothing.
- **Episodes** are terminated by the rules, also by their limit of turns, so that no environment is registered with `max_episode_steps`. They are
  truncated by `max_turns` and by `gymnasium.make(…, max_episode_steps=N)`. At the end infos have `score`, that of the game, and `result`, from −1
  (last) to 1 (first).
- **Arguments** of all games are `opponent` (a policy, a function or a list of both; of `moonfarm.make_vec` the default is None, every seat is a
  row), `seat`, `form`, `obs`, `reward`, `rules`, `max_turns`, `memory`, `render_mode` and `render_width`: `help(moonfarm.make_vec)`.
"""


def features(game: str, form: str = "", kind: str = "form|observation", default: str = "") -> str:
    """Returns the address of a form's section in the page of a game, or that of the default section."""
    page = f"features/{game}/FEATURES.md"
    for heading in re.findall(r"^#+ (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.M):
        if re.match(rf"The ({kind}) `?{form}\b", heading):
            default = "#" + re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
    return f"../../{page}{default}"


def table(*rows: tuple[str, ...]) -> str:
    """Returns a table; the first row has the names of its columns."""
    return "".join("| " + " | ".join(row) + " |\n" for row in (rows[0], ("---",) * len(rows[0]), *rows[1:]))


def observations(game: str, form: dict, card: dict) -> list[tuple[str, ...]]:
    """Returns a row for each array of an observation."""
    arrays = [(t["name"], t["dims"], re.split("[:;]", t["doc"])[0]) for t in form["tensors"]]
    if not arrays:
        arrays = [("planes", form["shapes"]["planes"], f"{len(card['planes'])} planes of cells")]
    rows = [(f"`{name}`", f"`Box(0, 255, ({', '.join(map(str, dims))}), uint8)`", doc) for name, dims, doc in arrays]
    count, first = len(card["scalars"]), card["scalars"][0]["name"]
    rows.append(("`scalars`", f"`Box(-2**31, 2**31, ({count},), float32)`", f"numbers such as `{first}`"))
    return [(f"`{form['name']}`", name, space, f"[{doc}]({features(game, form['name'])})") for name, space, doc in rows]


def actions(game: str, form: dict, card: dict) -> tuple[str, ...]:
    """Returns the row of a form's actions."""
    many = " + ".join(f"[{n}] * {len(list(same))}" for n, same in itertools.groupby(form["heads"]))
    space = f"Discrete({form['heads'][0]})" if len(form["heads"]) == 1 else f"MultiDiscrete({many})"
    first = re.split(r"[;:.\n]", card["actions"])[0]
    steps = "; a turn has several steps" if form["sequential"] else ""
    page = features(game, form["name"], "form", "#actions")
    return f"`{form['name']}`", f"`{space}`", str(card["nothing"]), f"[{first[0].lower()}{first[1:]}]({page}){steps}"


def described(game: str, form: str) -> dict:
    """Returns the description of a game in a form."""
    with moonfarm.make_vec(game, 1, form=form) as envs:
        return envs.description


def start(game: str) -> str:
    """Says whether the seed draws the start, which it shows by two starts."""
    with moonfarm.make_vec(game, 16, opponent="empty") as envs:
        seen = envs.reset(seed=1)[0]
    alike = all(np.array_equal(a[:1].repeat(len(a), 0), a) for a in seen.values())
    return "All games start alike" if alike else "The seed draws the start"


def section(name: str, game: dict) -> str:
    """Returns the section of a game."""
    rules, forms = f"../../sim/{game['name']}/RULES.md", game["forms"]
    cards = [described(game["name"], form["name"]) for form in forms]
    policies = ", ".join(f"`{p['name']}`" for p in game["policies"])
    return f"""
## {name}-v0

### Description

{game["doc"][0].upper()}{game["doc"][1:]}. {game["players"]} players move at the same time. The pages of [the rules]({rules}) and of
[observations and actions]({features(game["name"])}) have all details.

### Observation Space

{table(("form", "key", "space", "meaning"), *itertools.chain(*(observations(game["name"], *both) for both in zip(forms, cards))))}
### Action Space

{table(("form", "space", "orders nothing", "meaning"), *(actions(game["name"], *both) for both in zip(forms, cards)))}
### Rewards

{table(("`reward`", "meaning; the first is the default"), *((f"`{r['name']}`", r["doc"]) for r in game["rewards"]))}
### Starting State

{start(game["name"])} ([section 2 of the rules]({rules}#2-board)).

### Episode End

Terminated as [section 5 of the rules]({rules}#5-end-and-score) says, by the default rules after {game["max_turns"]} turns at the latest.

### Arguments

{table(
    ("argument", "default", "values"), ("`opponent`", "`random`", f"{policies}, [their options](../../rollout/policy/README.md)"),
    ("`form`", f"`{forms[0]['name']}`", "; ".join(f"`{f['name']}`: {f['doc']}" for f in forms)),
    ("`rules`", "", f"the name of a set of rules, or values, which this command lists: `python3 -m moonfarm games {game['name']} --rules`"),
)}
### Version History

- v0: rules {cards[0]["rules_version"]}; [CHANGELOG.md](../../CHANGELOG.md) lists what else has changed.
"""


class Environments(unittest.TestCase):
    def test_page(self):
        named = {game["name"]: game for game in moonfarm.games()}
        page = HEAD + "".join(section(name, named[game]) for name, game in GAMES.items())
        if os.environ.get("MOONFARM_UPDATE"):
            PAGE.write_text(page, encoding="utf-8")
        self.assertEqual(PAGE.read_text(encoding="utf-8"), page, "MOONFARM_UPDATE=1 writes it again")


if __name__ == "__main__":
    unittest.main()
