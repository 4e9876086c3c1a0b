# %% [markdown]
# # moonfarm in an hour
#
# Games of Tower Defence (Entelect Challenge 2018): step thousands of turns, make a dataset, read it, teach a small network what a script does, and let
# it play. All cells together take about half a minute on two cores.
#
# Install the wheel of a release, or build the package from a clone with Go and gcc; the network needs PyTorch:
#
# - `%pip install moonfarm-*.whl`
# - `%pip install ./env/python`

# %%
import subprocess
import sys
import time

import moonfarm
import numpy as np

for game in moonfarm.games():
    print(f"{game['name']}: {game['doc']}")

# %% [markdown]
# ## Step many games at once
#
# 256 games against the script `econ`, with actions drawn from the masks of the legal ones. A vector is a `gymnasium.vector.VectorEnv` where Gymnasium is
# installed. `moonfarm.make` makes one game, whose picture is the value of the next cell.

# %%
envs = moonfarm.make_vec("towerdefence", 256, opponent="econ")
obs, infos = envs.reset(seed=1)
begun = time.monotonic()
for _ in range(200):
    legal = infos["action_mask"]  # bool [256, 322]
    actions = (legal * np.random.random(legal.shape)).argmax(axis=1)
    obs, rewards, terminations, truncations, infos = envs.step(actions)
print(f"{256 * 200 / (time.monotonic() - begun):,.0f} turns a second; planes {obs['planes'].shape}, scalars {obs['scalars'].shape}")

# %%
env = moonfarm.make("TowerDefence-v0", opponent="econ")
env.reset(seed=1)
for _ in range(40):
    env.step(env.ask("turtle"))  # what another script would do
env

# %% [markdown]
# ## Make a dataset
#
# 300 games of `econ` against a player that mostly does the same, so that the games differ. The same call, and the same seed, give the same bytes on any
# machine. A row is a turn of a player: observation, mask, action, reward, return and outcome.

# %%
data = moonfarm.generate("towerdefence", "data/first", episodes=300, policy=["econ", "mix(0.7*econ,0.3*random)"], seed=1)
batch = next(iter(data.batches(256, shuffle=1 << 16, reward="score", discount=0.99)))
print(data)
print({name: array.shape for name, array in batch.items() if hasattr(array, "shape")})

# %% [markdown]
# ## Look at a game
#
# The command `view` draws a game of the dataset; without `--gif` it writes a page to play, stop and step.

# %%
from IPython.display import Image

subprocess.run([sys.executable, "-m", "moonfarm", "view", "data/first", "--episodes", "0", "--gif", "first.gif"], check=True)
Image("first.gif")

# %% [markdown]
# ## Learn what the script does
#
# Behaviour cloning: a network of one hidden layer learns the choices of `econ` among the legal ones.

# %%
import torch
from torch import nn
from torch.nn import functional

card = moonfarm.make_vec("towerdefence").description  # the largest usual value of each plane and scalar is its scale
scales = [plane["scale"] for plane in card["planes"] for _ in range(card["height"] * card["width"])] + [s["scale"] for s in card["scalars"]]


def seen(obs):
    """Returns the network's input: all planes and scalars of each row, about 0 to 1."""
    return torch.cat([torch.from_numpy(obs["planes"]).flatten(1), torch.from_numpy(obs["scalars"])], 1) / torch.tensor(scales)


torch.manual_seed(1)
network = nn.Sequential(nn.Linear(len(scales), 64), nn.ReLU(), nn.Linear(64, 322))
optimizer = torch.optim.Adam(network.parameters(), 3e-3)
for epoch in range(2):
    for batch in data.batches(256, columns=["planes", "scalars", "mask", "action"], shuffle=1 << 16, seed=epoch, policy="econ"):
        legal, chosen = torch.from_numpy(data.masks(batch["mask"])), torch.from_numpy(batch["action"]).long()
        logits = network(seen(batch)).masked_fill(~legal, -1e9)
        loss = functional.cross_entropy(logits, chosen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.2f}, {(logits.argmax(1) == chosen).float().mean().item():.0%} of the last choices as the script's")

# %% [markdown]
# ## Let it play
#
# `evaluate` rates scripts, searches, bots and ONNX files against each other. The network plays 64 games against each of three scripts, one vector for each.

# %%
moonfarm.evaluate("towerdefence", ["econ", "turtle", "rush", "random"], games=20)

# %%
for opponent in ("random", "rush", "turtle"):
    envs = moonfarm.make_vec("towerdefence", 64, opponent=opponent, seat="random", seed=1)
    obs, infos = envs.reset()
    results = np.full(64, np.nan)
    while np.isnan(results).any():
        with torch.no_grad():
            logits = network(seen(obs)).numpy()
        obs, _, _, _, infos = envs.step(np.where(infos["action_mask"], logits, -np.inf).argmax(axis=1))
        results = np.where(np.isnan(results), infos["result"], results)  # 1 won, -1 lost
    print(f"the network won {(results > 0).mean():.0%} against {opponent}")

# %% [markdown]
# ## Go on
#
# Imitation of `econ` beats what `econ` beats. Better teachers (`planner`, `mcts`), labels in the states that the learner reaches (`envs.ask`), self-play
# and searches with networks are in the examples beside this notebook, which also write the ONNX files that `evaluate` and `generate` play.
