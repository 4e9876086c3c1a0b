package bench

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// generated lists the figures of generate, which every game has. They write datasets of
// random play to a temporary folder.
func generated(game string, e suite) []measure {
	var list []measure
	for _, c := range []struct {
		what string
		obs  datasets.Obs
	}{
		{"generate", datasets.ObsPlanes}, {"generate-packed", datasets.ObsPacked}, {"generate-none", datasets.ObsNone},
	} {
		list = append(list, measure{what: c.what, unit: "rows/s", cores: -1,
			note:  fmt.Sprintf("random play, zstd, %d episodes in shards of %d, all workers", e.episodes, e.shard),
			setup: func(o *Options) (pass, int, error) { return setupGenerate(game, e, c.obs, o) },
		})
	}
	return list
}

func setupGenerate(game string, e suite, obs datasets.Obs, o *Options) (pass, int, error) {
	g, err := catalog.Find(game)
	if err != nil {
		return nil, 0, err
	}
	makers := datasets.Makers{
		Vector: g.New,
		Policy: func(name string, files rollout.Files) (rollout.Maker, error) {
			return policy.NewReproducible(game, name, files)
		},
	}
	v, err := g.New("", env.Settings{N: 1})
	if err != nil {
		return nil, 0, err
	}
	job := datasets.Job{Game: game, Seed: 1, Episodes: e.episodes, ShardEpisodes: e.shard, Obs: obs}
	job.Policies = slices.Repeat([]string{"random"}, v.Spec().Info.Players)
	rows := 0
	pass := func() (uint64, error) {
		dir, err := os.MkdirTemp("", "moonfarm-bench-")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		dir = filepath.Join(dir, "data")
		r, err := datasets.Generate(context.Background(), dir, job, makers, datasets.Options{Workers: o.Workers})
		if err != nil {
			return 0, err
		}
		rows = int(r.Manifest.Totals.Rows)
		d, err := datasets.Open(dir)
		if err != nil {
			return 0, err
		}
		sum := uint64(0)
		for s, err := range d.Shards() {
			if err != nil {
				return 0, err
			}
			for _, f := range []datasets.File{s.Steps, s.Episodes} {
				h, err := hex.DecodeString(f.SHA256)
				if err != nil || len(h) < 8 {
					return 0, fmt.Errorf("%s: sha256 %q", f.Path, f.SHA256)
				}
				for _, b := range h[:8] {
					sum = prng.Mix(sum ^ uint64(b))
				}
			}
		}
		return sum, nil
	}
	if _, err := pass(); err != nil { // to count the rows
		return nil, 0, err
	}
	return pass, rows, nil
}

// vectorGames is the number of games in a measured vector.
const vectorGames = 64

// observed measures turns of a vector of games with orders chosen beforehand. Before every
// turn the vector fills the slabs of want. choose appends the orders of a seat in game i of
// the vector to dst.
func observed(game, what string, want env.Want, turns int, choose func(dst []sim.Order, v env.Vector, i int, p sim.Player) []sim.Order) measure {
	setup := func(*Options) (pass, int, error) {
		v, err := vectorOf(game, vectorGames)
		if err != nil {
			return nil, 0, err
		}
		b := env.NewBatch(v.Spec(), vectorGames, want)
		players := v.Spec().Info.Players
		chosen := chosenOrders{rows: b.Rows, width: v.Spec().Info.MaxOrders}
		for t := range turns {
			for row := range b.Rows {
				chosen.list = choose(chosen.list, v, row/players, sim.Player(row%players))
				chosen.ends = append(chosen.ends, len(chosen.list))
			}
			chosen.play(v, b, t)
		}
		pass := func() (uint64, error) {
			for i := range vectorGames {
				v.Reset(i, 0)
			}
			sum := uint64(0)
			for t := range turns {
				v.Observe(b)
				chosen.play(v, b, t)
				if t%64 == 0 {
					sum = digest(sum, b)
				}
			}
			return sum, nil
		}
		return pass, turns * vectorGames, nil
	}
	return measure{what: what, unit: "turns/s", setup: setup,
		note: fmt.Sprintf("%d games side by side, observations and masks of all seats before every turn", vectorGames)}
}

// chosenOrders are the orders of many turns of a vector, row by row. The orders of a row
// end at ends[turn*rows+row], where the orders of the next row begin.
type chosenOrders struct {
	rows, width int
	list        []sim.Order
	ends        []int
}

// play plays one turn and restarts the games that ended.
func (c *chosenOrders) play(v env.Vector, b *env.Batch, turn int) {
	k := turn * c.rows
	from := 0
	if k > 0 {
		from = c.ends[k-1]
	}
	for row := range c.rows {
		to := c.ends[k+row]
		b.OrderLen[row] = int32(copy(b.Orders[row*c.width:(row+1)*c.width], c.list[from:to]))
		from = to
	}
	v.Step(b)
	for i, s := range b.Status {
		if s != sim.Running {
			v.Reset(i, 0)
		}
	}
}

// digest mixes the content of a Batch into a checksum.
func digest(sum uint64, b *env.Batch) uint64 {
	sum = polynomial(sum, b.Planes)
	for _, x := range b.Packed {
		sum = prng.Mix(sum ^ x)
	}
	for _, x := range b.Scalars {
		sum = prng.Mix(sum ^ uint64(int64(x)))
	}
	for _, x := range b.Mask {
		sum = prng.Mix(sum ^ x)
	}
	return sum
}

// polynomial returns the sum after sum = sum*31 + x for every byte x. It takes eight bytes at a time,
// because their products do not depend on each other: byte by byte, the digest took a fifth of the
// time of a pass.
func polynomial(sum uint64, bytes []uint8) uint64 {
	const p1, p2, p3, p4 = 31, 31 * 31, 31 * 31 * 31, 31 * 31 * 31 * 31
	const p5, p6, p7, p8 = p4 * p1, p4 * p2, p4 * p3, p4 * p4
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		low := uint64(bytes[0])*p7 + uint64(bytes[1])*p6 + uint64(bytes[2])*p5 + uint64(bytes[3])*p4
		high := uint64(bytes[4])*p3 + uint64(bytes[5])*p2 + uint64(bytes[6])*p1 + uint64(bytes[7])
		sum = sum*p8 + low + high
	}
	for _, x := range bytes {
		sum = sum*31 + uint64(x)
	}
	return sum
}
