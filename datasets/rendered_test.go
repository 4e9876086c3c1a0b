package datasets

import (
	"encoding/binary"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy"
	"moonfarm/sim/simtest"
)

// rowID identifies a row of a dataset.
type rowID struct {
	episode uint64
	turn    int32
	seat    uint8
}

// readRows reads all rows. It returns their IDs in order, and all columns of each row
// as text.
func readRows(t testing.TB, d *Dataset, o ReadOptions) (ids []rowID, rows map[rowID]string) {
	t.Helper()
	rows = map[rowID]string{}
	for b := range each(t, d.Batches(o)) {
		if !o.Whole && o.Rows > 0 {
			require.LessOrEqual(t, b.Rows, o.Rows)
		}
		for i := range b.Rows {
			id := rowID{b.Episode[i], b.Turn[i], b.Seat[i]}
			ids = append(ids, id)
			require.NotContains(t, rows, id)
			rows[id] = rowText(b, i)
		}
	}
	return ids, rows
}

// listFields maps the fields of a Batch that hold the ends of lists to the fields with
// the lists.
var listFields = map[string][]string{
	"OrderEnds": {"Orders"}, "SearchEnds": {"SearchPolicy", "SearchCounts"}, "SearchChoiceEnds": {"SearchChoices"},
}

// rowText returns a row as bytes, with the names of the columns.
func rowText(b *Batch, i int) string {
	var text []byte
	add := func(name string, values any) {
		text = append(append(text, name...), ' ')
		text, _ = binary.Append(text, binary.LittleEndian, values) // slices of numbers: cannot fail
	}
	v := reflect.ValueOf(*b)
	for k := range v.NumField() {
		name, f := v.Type().Field(k).Name, v.Field(k)
		if !v.Type().Field(k).IsExported() || f.Kind() != reflect.Slice || f.Len() == 0 || slices.Contains([]string{"Orders", "SearchPolicy", "SearchCounts", "SearchChoices"}, name) {
			continue
		}
		if lists, ok := listFields[name]; ok {
			for _, list := range lists {
				begin, end := int(f.Index(i).Int()), int(f.Index(i+1).Int())
				if from := v.FieldByName(list); begin < end && from.Len() > 0 {
					add(list, from.Slice(begin, end).Interface())
				}
			}
			continue
		}
		size := f.Len() / b.Rows
		add(name, f.Slice(i*size, (i+1)*size).Interface())
	}
	return string(text)
}

// ways lists options that yield the same rows.
var ways = []ReadOptions{
	{Rows: 7}, {Rows: 64, Workers: 3}, {Rows: 1000, Workers: 2}, {Rows: 16, Shuffle: 100}, {Rows: 50, Shuffle: 333, Workers: 3}, {Whole: true}, {Whole: true, Workers: 2, Shuffle: 1},
}

// requireRendered compares the replayed rows of a dataset with the rows in the files of
// another.
func requireRendered(t *testing.T, from, as *Dataset, m Makers, o ReadOptions) {
	t.Helper()
	order, want := readRows(t, as, ReadOptions{})
	require.EqualValues(t, as.Manifest().Totals.Rows, len(want))
	for _, way := range ways {
		o := o
		o.Makers, o.Rows, o.Shuffle, o.Workers, o.Whole = &m, way.Rows, way.Shuffle, way.Workers, way.Whole
		ids, got := readRows(t, from, o)
		require.True(t, reflect.DeepEqual(want, got), "%+v", way)
		columns, err := from.ReadColumns(o)
		require.NoError(t, err)
		require.Equal(t, as.Tables[about.StepsTable].Schema.Columns, columns)
		require.Equal(t, o.Shuffle == 0, slices.Equal(order, ids), "%+v", way)
		o.Workers = 5 - o.Workers
		again, _ := readRows(t, from, o)
		require.Equal(t, ids, again, "any number of workers: the same order")
	}
}

// TestRenderedIsRead: for every game, the rows replayed from a dataset of orders alone
// are the rows in the files of datasets with observations.
func TestRenderedIsRead(t *testing.T) {
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) {
			m := realMakers(t, g.Name)
			j := Job{Game: g.Name, Policies: []string{"random", "random"}, Seed: 5, Episodes: 5, ShardEpisodes: 3, MaxTurns: 40}
			if names := policy.Names(g.Name); len(names) > 2 {
				j.Policies[0] = "mix(1*" + names[1].Name + ",1*random)"
			}
			if g.Name == "codecraft" {
				j.Episodes, j.MaxTurns = 2, 12
			}
			v, err := m.Vector("", env.Settings{N: 1})
			require.NoError(t, err)
			rewards := v.Spec().Rewards
			bare := j
			bare.Obs, bare.Codec = ObsNone, None
			from := opened(t, generated(t, bare, m, Options{Workers: 2}))
			requireRendered(t, from, from, m, ReadOptions{})
			for i, o := range []Obs{ObsPlanes, ObsPacked} {
				j.Obs, j.Reward, j.Discount = o, rewards[len(rewards)-1-i].Name, 0.5+0.25*float64(i)
				as := opened(t, generated(t, j, m, Options{Workers: 2}))
				requireRendered(t, from, as, m, ReadOptions{Obs: o, Reward: j.Reward, Discount: j.Discount})
				requireRendered(t, as, as, m, ReadOptions{})
			}
		})
	}
}

// TestRenderedSeats: other numbers of seats and heads, and memory in fog.
func TestRenderedSeats(t *testing.T) {
	for seats := 2; seats <= 4; seats++ {
		j := toyJob(seats, 2)
		j.Episodes, j.ShardEpisodes, j.Obs = 7, 3, ObsNone
		from := opened(t, generateToy(t, j, Options{}))
		j.Obs, j.Discount = ObsPlanes, 0.9
		as := opened(t, generateToy(t, j, Options{}))
		requireRendered(t, from, as, toyMakers(), ReadOptions{Obs: ObsPlanes, Discount: 0.9})
	}
	j, m := toyJob(2, 8), foggyMakers(fog)
	j.Episodes = 12
	j.Obs = ObsNone
	from := opened(t, generated(t, j, m, Options{}))
	j.Obs, j.Memory = ObsPlanes, true
	requireRendered(t, from, opened(t, generated(t, j, m, Options{})), m, ReadOptions{Obs: ObsPlanes, Memory: true})
}

// TestDerivedColumns compares returns of some turns, actions of opponents and finals
// with the columns that they follow from.
func TestDerivedColumns(t *testing.T) {
	j := toyJob(3, 2)
	d, m := opened(t, generateToy(t, j, Options{})), toyMakers()
	finals := map[uint64]Final{}
	for f := range each(t, d.Finals()) {
		finals[f.Episode] = Final{Episode: f.Episode, Turns: f.Turns, Planes: slices.Clone(f.Planes), Scalars: slices.Clone(f.Scalars)}
	}
	columns := []string{about.ColEpisode, about.ColTurn, about.ColSeat, about.ColPlanes, about.ColScalars, about.ColAction, about.ColReward, about.ColNStep, about.ColOpponent}
	episodes := 0
	for b := range each(t, d.Batches(ReadOptions{Makers: &m, Columns: columns, Steps: 2, Discount: 0.5, Whole: true})) {
		require.Equal(t, []int{b.Rows, 2, 2}, b.Shape(about.ColOpponent))
		require.Equal(t, []int{b.Rows}, b.Shape(about.ColNStep))
		require.Nil(t, b.Return)
		for i := range b.Rows {
			require.Equal(t, [3]int{episodes, i / 3, i % 3}, [3]int{int(b.Episode[i]), int(b.Turn[i]), int(b.Seat[i])})
			want := b.Reward[i]
			if i+3 < b.Rows {
				want += b.Reward[i+3] / 2
			}
			require.InDelta(t, want, b.NStep[i], 1e-6)
			for k := range 2 {
				other := i/3*3 + (i%3+1+k)%3
				require.Equal(t, b.Action[other*2:other*2+2], b.Opponent[(i*2+k)*2:(i*2+k)*2+2])
			}
		}
		require.Equal(t, finals[b.Episode[0]], *b.Final)
		episodes++
	}
	require.EqualValues(t, j.Episodes, episodes)

	_, want := readRows(t, d, ReadOptions{Makers: &m, Columns: columns, Steps: 2, Discount: 0.5})
	for _, o := range ways { // with opponents but no action, and with pieces of episodes
		o.Makers, o.Columns, o.Steps, o.Discount = &m, columns, 2, 0.5
		_, got := readRows(t, d, o)
		require.Equal(t, want, got)
		o.Columns = []string{about.ColEpisode, about.ColTurn, about.ColSeat, about.ColOpponent}
		for b := range each(t, d.Batches(o)) {
			require.Nil(t, b.Action)
			opponent, _ := binary.Append([]byte("Opponent "), binary.LittleEndian, b.Opponent[:4])
			require.Contains(t, want[rowID{b.Episode[0], b.Turn[0], b.Seat[0]}], string(opponent))
		}
	}
}

// TestParts: the parts of ranks × workers have no row in common and together have all,
// in every epoch and split, read from files or replayed.
func TestParts(t *testing.T) {
	j := toyJob(2, 1)
	j.Obs = ObsNone
	d, m := opened(t, generateToy(t, j, Options{})), toyMakers()
	all, _ := readRows(t, d, ReadOptions{})
	for _, makers := range []*Makers{nil, &m} {
		for _, shuffled := range []int{0, 40} {
			o := ReadOptions{Columns: []string{about.ColEpisode, about.ColTurn, about.ColSeat}, Rows: 16, Shuffle: shuffled, Makers: makers, Validation: 0.2, Test: 0.3}
			var orders [][]rowID
			for o.Epoch = range 3 {
				var ids []rowID
				for split := Train; split <= Test; split++ {
					episodes := map[uint64]int{}
					for part := range 6 {
						o.Split, o.Part, o.Parts = split, part, 6
						own, _ := readRows(t, d, o)
						ids = append(ids, own...)
						for _, id := range own {
							if was, ok := episodes[id.episode]; ok {
								require.Equal(t, was, part)
							}
							episodes[id.episode] = part
						}
					}
					require.InDelta(t, []float64{0, 50, 20, 30}[split], len(episodes), 15)
				}
				require.ElementsMatch(t, all, ids)
				orders = append(orders, ids)
			}
			o.Split, o.Part, o.Parts, o.Epoch = All, 0, 0, 1
			whole, _ := readRows(t, d, o)
			again, _ := readRows(t, d, o)
			require.Equal(t, whole, again, "the options choose the order")
			back := 0 // rows of an episode that come before earlier ones
			for i := range whole[1:] {
				if a, b := whole[i], whole[i+1]; a.episode == b.episode && b.turn < a.turn {
					back++
				}
			}
			require.Equal(t, shuffled > 0, back > 10)
			require.Equal(t, shuffled == 0, reflect.DeepEqual(orders[0], orders[1]))
			for _, o.Parts = range []int{2, 150} { // 150: more parts than episodes
				n := 0
				for o.Part = range o.Parts {
					own, _ := readRows(t, d, o)
					n += len(own)
				}
				require.Equal(t, len(all), n)
			}
		}
	}
}

// TestRenderRefused: wrong options and makers are refused.
func TestRenderRefused(t *testing.T) {
	d, m := opened(t, generateToy(t, toyJob(2, 1), Options{})), toyMakers()
	fail := func(o ReadOptions, words ...string) {
		t.Helper()
		n := 0
		for b, err := range d.Batches(o) {
			n++
			require.Nil(t, b)
			for _, w := range words {
				require.ErrorContains(t, err, w)
			}
		}
		require.Equal(t, 1, n)
		_, err := d.ReadColumns(o)
		require.Error(t, err)
	}
	for _, o := range []ReadOptions{{Obs: ObsPacked}, {Reward: "stones"}, {Discount: 1}, {Steps: 1}, {Next: true}, {Whole: true}, {Workers: 2}, {Memory: true}} {
		fail(o, "Makers is missing")
	}
	fail(ReadOptions{Rows: -1}, "-1 rows")
	fail(ReadOptions{Shuffle: -1}, "shuffle -1")
	fail(ReadOptions{Columns: []string{"nothing"}}, `no column "nothing"`)
	fail(ReadOptions{Part: 1}, "part 1 of 1")
	fail(ReadOptions{Part: -1, Parts: 2}, "part -1 of 2")
	fail(ReadOptions{Validation: 0.6, Test: 0.6}, "test share 0.6")
	fail(ReadOptions{Validation: math.NaN()}, "share NaN")
	fail(ReadOptions{Split: 4}, "split 4")
	fail(ReadOptions{Rows: about.MaxWindow + 1}, "rows")
	fail(ReadOptions{Makers: &Makers{}}, "make no games")
	fail(ReadOptions{Makers: &m, Reward: "gold"}, `no reward "gold"`)
	fail(ReadOptions{Makers: &m, Obs: "bits"}, `no observations "bits"`)
	fail(ReadOptions{Makers: &m, Discount: -1}, "discount of -1")
	fail(ReadOptions{Makers: &m, Steps: -1}, "-1 turns")
	fail(ReadOptions{Makers: &m, Workers: -1}, "-1 workers")
	fail(ReadOptions{Makers: &m, Next: true, Whole: true}, "expected Whole without Next")
	fail(ReadOptions{Makers: &m, Obs: ObsPacked, Columns: []string{about.ColPlanes}}, `no column "planes"`, "packed")
	fail(ReadOptions{Makers: &m, Memory: true, Obs: ObsPlanes}, "no fog")
	other := m
	other.Vector = func(rules string, c env.Settings) (env.Vector, error) {
		return m.Vector("seats=2 orders=2", c)
	}
	fail(ReadOptions{Makers: &other}, "rules")
	tron := realMakers(t, "tron")
	fail(ReadOptions{Makers: &tron}, "read: ")
}

// TestRenderHostile changes the episodes of a shard: the reader reports every change
// that matters, and does nothing else, with any number of workers.
func TestRenderHostile(t *testing.T) {
	view := func(t *arrowfile.RecordBatch, name string) *arrowfile.Data { return t.Col(name) }
	for words, change := range map[string]func(*arrowfile.RecordBatch){
		"found episode 99, expected 20": func(t *arrowfile.RecordBatch) { arrowfile.View[uint64](view(t, about.ColEpisode).Fixed)[5] = 99 },
		"episode 20: ":                  func(t *arrowfile.RecordBatch) { arrowfile.View[uint64](view(t, about.ColSeed).Fixed)[5]++ },
		"rules number 3":                func(t *arrowfile.RecordBatch) { arrowfile.View[int32](view(t, about.ColRules).Fixed)[5] = 3 },
		"-1 turns":                      func(t *arrowfile.RecordBatch) { arrowfile.View[int32](view(t, about.ColTurns).Fixed)[5] = -1 },
		"status 7":                      func(t *arrowfile.RecordBatch) { view(t, about.ColStatus).Fixed[5] = 7 },
		"recorded as":                   func(t *arrowfile.RecordBatch) { arrowfile.View[float32](view(t, about.ColResults).Fixed)[10] = 0.25 },
		"ends of orders go from":        func(t *arrowfile.RecordBatch) { arrowfile.View[int32](view(t, about.ColEnds).List(5))[0] = 1 << 20 },
		"seat 0 is {Result:0 Score:0}": func(t *arrowfile.RecordBatch) {
			lengthen(view(t, about.ColTurns), view(t, about.ColEnds), view(t, ColOrders))
		},
	} {
		t.Run(words, func(t *testing.T) {
			dir := generateToy(t, toyJob(2, 1), Options{})
			tamperWith(t, dir, about.EpisodesDir, change)
			for _, o := range ways {
				m := toyMakers()
				o.Makers = &m
				var last error
				for b, err := range opened(t, dir).Batches(o) {
					require.True(t, (b == nil) == (err != nil))
					last = err
				}
				require.ErrorContains(t, last, words)
			}
		})
	}
}

// TestRenderTooLong: an episode longer than the game allows is refused, whatever the
// manifest says.
func TestRenderTooLong(t *testing.T) {
	dir, m := generateToy(t, toyJob(2, 1), Options{}), toyMakers()
	edit(t, dir, func(m *Manifest) { m.Game.MaxTurns = 1 << 20 })
	tamperWith(t, dir, about.EpisodesDir, func(t *arrowfile.RecordBatch) {
		d := t.Col(about.ColEnds)
		d.Bytes, d.Ends = d.Bytes[:0], d.Ends[:1]
		for i := range t.Rows {
			arrowfile.View[int32](t.Col(about.ColTurns).Fixed)[i] = 1 << 15
			ends := make([]int32, 1<<16)
			ends[1<<16-1] = int32(len(t.Col(ColOrders).List(i)) / 8)
			arrowfile.AppendList(d, ends)
		}
	})
	for _, o := range ways {
		o.Makers = &m
		var last error
		for _, err := range opened(t, dir).Batches(o) {
			last = err
		}
		require.ErrorContains(t, last, "32768 turns, the game has at most 16")
	}
}

// lengthen makes all episodes longer, and without orders.
func lengthen(turns, ends, orders *arrowfile.Data) {
	n := len(ends.Ends) - 1
	for _, d := range []*arrowfile.Data{ends, orders} {
		d.Bytes, d.Ends = d.Bytes[:0], d.Ends[:1]
	}
	for i := range n {
		arrowfile.View[int32](turns.Fixed)[i] = simtest.ToyTurns
		arrowfile.AppendList(ends, make([]int32, 2*simtest.ToyTurns))
		arrowfile.AppendList(orders, []uint64{})
	}
}

// TestRenderPanics: the reader returns a panic of the game as an error, from its own
// goroutine and from workers.
func TestRenderPanics(t *testing.T) {
	d, m := opened(t, generateToy(t, toyJob(2, 1), Options{})), toyMakers()
	good := m.Vector
	m.Vector = func(rules string, c env.Settings) (env.Vector, error) {
		v, err := good(rules, c)
		return bursting{v}, err
	}
	for _, o := range ways {
		o.Makers = &m
		var last error
		for _, err := range d.Batches(o) {
			last = err
		}
		require.ErrorContains(t, last, "episode ")
		require.ErrorContains(t, last, "burst")
	}
}

type bursting struct{ env.Vector }

func (b bursting) Step(*env.Batch) { panic("burst") }

// TestNothingIsLeftRunning: no goroutine outlives the calls, and a consumer may leave early.
func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	dir, m := generateToy(t, toyJob(2, 1), Options{Workers: 3}), toyMakers()
	verified(t, dir, m, VerifyOptions{Workers: 3, Recompute: -1})
	inspected(t, dir, InspectOptions{Workers: 3, Sums: true})
	d := opened(t, dir)
	for _, o := range append(ways, ReadOptions{Rows: 10, Shuffle: 20}) {
		if o.Makers = &m; o.Shuffle == 20 {
			o.Makers = nil
		}
		n := 0
		for range d.Batches(o) {
			if n++; n == 2 {
				break
			}
		}
	}
	for range d.Episodes() {
		break
	}
	for k := 0; runtime.NumGoroutine() > before && k < 1000; k++ {
		time.Sleep(10 * time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
