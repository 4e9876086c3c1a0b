package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/games"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim/prng"
)

// interpreters returns, by language, functions that run a program with the module of
// examples beside this package. Languages that are not installed are missing.
func interpreters(t *testing.T, javascript, python string) map[string]*exec.Cmd {
	found := map[string]*exec.Cmd{}
	if path, err := exec.LookPath("node"); err == nil {
		found["JavaScript"] = exec.Command(path, "--input-type=module", "-e", javascript)
	}
	if path, err := exec.LookPath("python3"); err == nil {
		found["Python"] = exec.Command(path, "-B", "-c", python)
		found["Python"].Env = append(os.Environ(), "PYTHONPATH=examples:"+os.Getenv("PYTHONPATH"))
	}
	if len(found) == 0 {
		t.Skip("neither node nor python3")
	}
	return found
}

// TestSplitElsewhere: programs in other languages split as Batches does.
func TestSplitElsewhere(t *testing.T) {
	var in, want strings.Builder
	r := prng.New(11)
	for i := range 2000 {
		game, share := r.Uint64()>>(r.IntN(64)), r.Float64()
		if i%4 == 0 { // a share equal to the draw: validation has draws below it
			k := prng.New(prng.StreamSeed(0, game, 0, 0, prng.PurposeSplit))
			share = k.Float64()
		}
		fmt.Fprintf(&in, "%d %v\n", game, share)
		fmt.Fprintf(&want, "%d\n", about.Flag(games.Draw(game) < share))
	}
	for language, cmd := range interpreters(t, `
		import { readFileSync } from "node:fs";
		import { inValidation } from "./examples/moonfarm.mjs";
		for (const line of readFileSync(0, "utf8").trim().split("\n")) {
			const [game, share] = line.split(" ");
			console.log(Number(inValidation(BigInt(game), Number(share))));
		}`, `
import sys, moonfarm
for line in sys.stdin:
    game, share = line.split()
    print(int(moonfarm.in_validation(int(game), float(share))))`) {
		cmd.Stdin = strings.NewReader(in.String())
		out, err := cmd.Output()
		require.NoError(t, err, language)
		require.True(t, want.String() == string(out), "%s splits otherwise", language)
	}
}

// realMakers returns the makers of a game of the catalog.
func realMakers(t *testing.T, game string) Makers {
	g, err := catalog.Find(game)
	require.NoError(t, err)
	return Makers{
		Vector: func(rules string, c env.Settings) (env.Vector, error) { return g.New(rules, c) },
		Policy: func(name string, _ rollout.Files) (rollout.Maker, error) { return policy.New(game, name) },
	}
}

// TestUnpackEverywhere: for every game, Go, JavaScript and Python unpack a packed
// dataset to the planes of the same episodes.
func TestUnpackEverywhere(t *testing.T) {
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) {
			j := Job{Game: g.Name, Policies: []string{"random", "random"}, Seed: 5, Episodes: 3, MaxTurns: 60}
			if names := policy.Names(g.Name); len(names) > 2 {
				j.Policies[0] = names[1].Name
			}
			var dirs [2]string
			for i, o := range []Obs{ObsPlanes, ObsPacked} {
				dirs[i], j.Obs = filepath.Join(t.TempDir(), string(o)), o
				_, err := Generate(t.Context(), dirs[i], j, realMakers(t, g.Name), Options{Workers: 1})
				require.NoError(t, err)
			}
			planes, packed := sampleOf(t, dirs[0]), sampleOf(t, dirs[1])
			d := opened(t, dirs[1])
			u, err := d.Manifest().Unpacker()
			require.NoError(t, err)
			o := d.Manifest().Observation
			words, want := packed.Packed, planes.Planes
			require.Equal(t, packed.Rows, planes.Rows)
			size := o.Planes * o.Height * o.Width
			got := make([]uint8, len(want))
			for i := range packed.Rows {
				u.Unpack(got[i*size:], words[i*o.Words:])
			}
			require.True(t, bytes.Equal(want, got), "Go")
			require.NotEmpty(t, bytes.Trim(want, "\x00"))

			var in bytes.Buffer
			require.NoError(t, binary.Write(&in, binary.LittleEndian, words))
			for language, cmd := range interpreters(t, unpackMJS, unpackPY) {
				cmd.Stdin = bytes.NewReader(in.Bytes())
				cmd.Args = append(cmd.Args, filepath.Join(dirs[1], about.ManifestName))
				var problems bytes.Buffer
				cmd.Stderr = &problems
				out, err := cmd.Output()
				require.NoError(t, err, "%s: %s", language, problems.String())
				require.True(t, bytes.Equal(want, out), "%s: %s", language, problems.String())
				t.Logf("%s: %d rows%s", language, packed.Rows, problems.String())
			}
		})
	}
}

// sampleOf returns some rows of a dataset.
func sampleOf(t *testing.T, dir string) *Batch {
	d := opened(t, dir)
	for b := range each(t, d.Batches(ReadOptions{Rows: 7, Shuffle: 200})) {
		return b
	}
	return nil
}

// The programs read packed words from standard input and write planes.
const (
	unpackMJS = `
		import { readFileSync, writeFileSync } from "node:fs";
		import { unpacker } from "./examples/moonfarm.mjs";
		const o = JSON.parse(readFileSync(process.argv[1], "utf8")).observation;
		const bytes = readFileSync(0);
		const words = new BigUint64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
		const unpack = unpacker(o), size = o.planes * o.height * o.width;
		const planes = new Uint8Array(words.length / o.words * size).fill(0x5a);
		for (let i = 0; i * o.words < words.length; i++) {
			unpack(planes.subarray(i * size, (i + 1) * size), words.subarray(i * o.words, (i + 1) * o.words));
		}
		writeFileSync(1, planes);`
	unpackPY = `
import array, json, sys, moonfarm
o = json.load(open(sys.argv[1]))["observation"]
words = array.array("Q", sys.stdin.buffer.read())
rows = [words[i:i + o["words"]] for i in range(0, len(words), o["words"])]
planes = b"".join(moonfarm.unpack(o, row) for row in rows)
try:
    import numpy
except ImportError:
    print(", without numpy", file=sys.stderr)
else:
    many = moonfarm.unpack_rows(o, numpy.array(words).reshape(len(rows), -1))
    assert many.shape == (len(rows), o["planes"], o["height"], o["width"]), many.shape
    assert many.tobytes() == planes, "unpack_rows differs from unpack"
    print(", with numpy", file=sys.stderr)
sys.stdout.buffer.write(planes)`
)

// TestCardReads runs what the card says of Python in the folder of a dataset, and examples/read.py,
// where pyarrow and Hugging Face datasets are installed.
func TestCardReads(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import pyarrow").Run() != nil {
		t.Skip("no pyarrow")
	}
	for _, tensors := range []Tensors{TensorsPlain, TensorsExtension} {
		j := toyJob(3, 2)
		j.TensorMetadata, j.ShardEpisodes = tensors, j.Episodes // one shard: the card names its file
		dir := generateToy(t, j, Options{Workers: 2})
		blocks := strings.Split(string(contents(t, dir, about.CardName)), "```python\n")[1:]
		require.Len(t, blocks, map[Tensors]int{TensorsPlain: 2, TensorsExtension: 1}[tensors])
		for _, block := range blocks {
			block, _, _ = strings.Cut(block, "```")
			if strings.Contains(block, "from datasets ") && exec.Command(python, "-c", "import datasets").Run() != nil {
				t.Log("left out: no Hugging Face datasets")
				continue
			}
			cmd := exec.Command(python, "-c", block+"print(len(steps))")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HF_HOME="+t.TempDir(), "HF_HUB_OFFLINE=1")
			out, err := cmd.Output()
			require.NoError(t, err, block)
			require.Equal(t, fmt.Sprintln(opened(t, dir).Manifest().Totals.Rows), string(out), block)
		}
		out, err := exec.Command(python, "-B", "examples/read.py", dir).Output()
		require.NoError(t, err)
		sum, err := opened(t, dir).ColumnSHA256("steps", about.ColPlanes)
		require.NoError(t, err)
		require.Contains(t, string(out), fmt.Sprint(sum))
	}
}
