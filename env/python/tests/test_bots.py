"""The example bots that search, in short matches played by the command."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tests import program

FOLDER = Path(__file__).resolve().parent.parent
BOTS = FOLDER / "examples" / "bots"
NO_GO = None if shutil.which("go") else "left out: there is no go"


@unittest.skipIf(NO_GO, NO_GO)
class Bots(unittest.TestCase):
    def test_matches(self) -> None:
        """In both seats they answer in every turn, and the rules refuse none of their orders."""
        with tempfile.TemporaryDirectory() as made:
            for game, rules, flags, other in (
                ("towerdefence", "game.config.max-rounds=3\n", "--games 256 --depth 4", "random"),
                ("terminal", "moonfarm.maxTurns=4\n", "--games 32 --depth 1", "random"),
                ("codecraft", "max_tick_count=12\n", "--games 8 --depth 3 {host} {port} {token}", "quickstart"),
            ):
                with self.subTest(game):
                    (Path(made) / "rules").write_text(rules)
                    bot = f"'{sys.executable}' '{BOTS / ('search_' + game + '.py')}' {flags}"
                    done = subprocess.run(
                        [program(), "match", game, "--rules", "rules", "--player", bot, "--player", other, "--games", "2", "--json"],
                        cwd=made, capture_output=True, text=True, timeout=300,
                    )  # fmt: skip
                    self.assertEqual(done.returncode, 0, done.stderr)
                    games = json.loads(done.stdout)["games"]
                    self.assertEqual(len(games), 2)
                    for one in games:
                        for seat in one["seats"]:
                            self.assertFalse(seat["crashed"], seat)
                            self.assertEqual([f for f in seat["faults"] if f["kind"] != "illegal" or game != "terminal"], [])


if __name__ == "__main__":
    unittest.main()
