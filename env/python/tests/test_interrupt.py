"""Ctrl-C while opponents search."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

# The program steps against a search that would take many minutes; the test reads its output.
PROGRAM = """
import signal
import numpy as np
import moonfarm

signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes ignore it
envs = moonfarm.make_vec("towerdefence", 64, opponent="mcts(sims=1000000)", workers=1)
one = moonfarm.make_env("towerdefence", opponent="mix(1*mcts(sims=1000000))")
envs.reset(seed=1)
one.reset(seed=1)
idle = np.full(64, 320)

def received():
    envs.send(idle)
    envs.recv()

many = moonfarm.make_vec("terminal", 2048, opponent="planner", workers=1, obs=("mask",), action_mask=False)
many.reset(seed=1)
nothing = np.zeros((2048, len(many.heads)), np.int32)
many._c_step.long = True  # as after a step that took long

def stepping():
    while True:
        many.step(nothing)

def asking():
    envs.ask("mcts(sims=1000000)")

for call in (lambda: envs.step(idle), asking, lambda: one.step(320), asking, received, stepping):
    try:
        print("begun", flush=True)
        call()
    except KeyboardInterrupt:
        print("interrupted", envs.arrays["turn"].max(), flush=True)
envs.close()
one.close()
many.close()
print("closed", flush=True)
"""

ENOUGH = 60  # seconds: an interrupt takes a tenth of one, the search many minutes


class Interrupts(unittest.TestCase):
    @unittest.skipIf(sys.platform == "win32", "Windows has no SIGINT for one process")
    def test_ctrl_c(self):
        """step and recv return without playing, and close does not wait for the search."""
        folder = Path(__file__).parents[1]
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        watch = threading.Timer(ENOUGH, child.kill)
        watch.start()
        try:
            for _ in range(6):
                self.assertEqual(child.stdout.readline(), "begun\n")
                time.sleep(0.3)  # then it is in the call; an earlier interrupt ends it as well
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.stdout.readline(), "interrupted 0\n")
            self.assertEqual(child.stdout.read(), "closed\n")
            self.assertEqual(child.wait(), 0)
        finally:
            watch.cancel()
            child.kill()
            child.wait()
            child.stdout.close()


if __name__ == "__main__":
    unittest.main()
