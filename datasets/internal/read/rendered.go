package read

import (
	"fmt"
	"io"
	"slices"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/filter"
	"moonfarm/datasets/internal/games"
	"moonfarm/datasets/internal/rows"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim/prng"
)

// renderedJob returns the job of the dataset with the reader's choices, and the specs
// of its games. It fails if the makers do not make the games of the dataset.
func (d *Dataset) renderedJob(o *ReadOptions) (about.Job, []env.Spec, error) {
	m := d.manifest
	j := m.Job
	if o.Obs != "" {
		j.Obs, j.Memory = o.Obs, o.Memory
	}
	if o.Reward != "" {
		j.Reward = o.Reward
	}
	if o.Form != "" {
		if about.FormOf(o.Form) != about.FormOf(j.Form) {
			j.Memory = o.Memory // of the dataset's own form
		}
		if j.Form = o.Form; o.Obs == "" && j.Obs == about.ObsNone {
			j.Obs = about.ObsPlanes
		}
	}
	if o.Discount != 0 {
		j.Discount = o.Discount
	}
	fail := func(err error) (about.Job, []env.Spec, error) { return j, nil, fmt.Errorf("%s: read: %w", d.Dir, err) }
	if o.Steps < 0 || o.Workers < 0 || o.Workers > about.MaxWorkers {
		return fail(fmt.Errorf("returns of %d turns, %d workers: there may be up to %d workers", o.Steps, o.Workers, about.MaxWorkers))
	}
	if o.Makers.Vector == nil {
		return fail(fmt.Errorf("the makers make no games"))
	}
	rules := j.Rules
	specs, err := j.Complete(*o.Makers)
	if err != nil {
		return fail(err)
	}
	for i, r := range m.Rules {
		if specs[i].Info.Rules != r.Version || j.Rules[i] != rules[i] {
			return fail(fmt.Errorf("made with version %s of the rules, this moonfarm plays %s", r.Version, specs[i].Info.Rules))
		}
	}
	if specs[0].Info.Players != m.Game.Players {
		return fail(fmt.Errorf("a game of %d seats, these makers make %d", m.Game.Players, specs[0].Info.Players))
	}
	if m.Job.Obs != about.ObsNone && o.Form == "" {
		if err := m.SameActions(specs[0]); err != nil {
			return fail(err)
		}
	}
	// The job was checked when the dataset was opened, and an imported one lacks its
	// list of shards now. So only the reader's choices are checked.
	chosen := about.Job{Game: j.Game, Form: j.Form, Rules: []string{""}, Episodes: 1, ShardEpisodes: 1, Discount: j.Discount, Obs: j.Obs, Memory: j.Memory,
		Codec: j.Codec, TensorMetadata: j.TensorMetadata}
	if err := chosen.Check(); err != nil {
		return fail(err)
	}
	return j, specs, nil
}

// maskedActions fails if rows of the dataset have actions with heads without a mask.
func (d *Dataset) maskedActions() error {
	if a := d.manifest.Action; a.Unmasked > 0 && d.manifest.Job.Obs != about.ObsNone {
		return fmt.Errorf("%s: read: its actions have %d heads, %d of them without a mask, which no game has now, expected a mask for each; choose a form when reading, and its orders make new rows",
			d.Dir, len(a.Heads), a.Unmasked)
	}
	return nil
}

// nextColumns lists the columns of later observations.
var nextColumns = []string{about.ColNextPlanes, about.ColNextPacked, about.ColNextScalars, about.ColNextMask}

// RenderedColumns returns the columns that a reader can have. same is set if rows have
// the form of the dataset: the moves of searches are given in that form.
func RenderedColumns(j *about.Job, s env.Spec, o *ReadOptions, same bool) []arrowfile.Column {
	c := about.StepColumns(s, j.Obs, j.Extras())
	if !same {
		c = slices.DeleteFunc(c, func(c arrowfile.Column) bool {
			return c.Name == about.ColSearchPolicy || c.Name == about.ColSearchChoices || c.Name == about.ColSearchCounts
		})
	}
	if s.Sequential {
		c = append(c, arrowfile.Column{Name: about.ColStep, Type: arrowfile.Int32, Doc: "number of the action in its turn, from 0"})
	}
	if o.Steps > 0 {
		c = append(c, arrowfile.Column{Name: about.ColNStep, Type: arrowfile.Float32, Doc: "rewards of the turn and of the next `ReadOptions.Steps` − 1 turns, that of k turns later times the discount to the power of k"})
	}
	if o.Next {
		for _, column := range slices.Clone(c) {
			if next := about.Next + column.Name; slices.Contains(nextColumns, next) {
				column.Name, column.Doc = next, "the `"+column.Name+"` of the seat `ReadOptions.Steps` actions later, or after the last turn"
				c = append(c, column)
			}
		}
		c = append(c, arrowfile.Column{Name: about.ColNextDiscount, Type: arrowfile.Float32, Doc: "weight of the value of the next observation: the discount to the power of the actions up to it, 0 if the rules had ended the episode"})
	}
	return about.AppendTensor(c, about.ColOpponent, arrowfile.Int32, "actions of the other seats in the same turn, as in `action`, from the next seat on", []string{"seat", "head"}, s.Info.Players-1, len(s.Heads))
}

// renderedAs returns the job with the reader's choices, the specs of its games, and the
// wanted columns.
func (d *Dataset) renderedAs(o *ReadOptions) (j about.Job, specs []env.Spec, columns []arrowfile.Column, err error) {
	if j, specs, err = d.renderedJob(o); err != nil {
		return j, nil, nil, err
	}
	same := about.FormOf(j.Form) == about.FormOf(d.manifest.Job.Form) && d.manifest.SameActions(specs[0]) == nil
	all := RenderedColumns(&j, specs[0], o, same)
	if len(o.Columns) == 0 {
		return j, specs, slices.DeleteFunc(all, func(c arrowfile.Column) bool { return c.Name == about.ColOpponent }), nil
	}
	for _, name := range o.Columns {
		if !slices.ContainsFunc(all, func(c arrowfile.Column) bool { return c.Name == name }) {
			return j, nil, nil, fmt.Errorf("%s: read: no column %q in rows that are played again with %s observations", d.Dir, name, j.Obs)
		}
	}
	return j, specs, slices.DeleteFunc(all, func(c arrowfile.Column) bool { return !slices.Contains(o.Columns, c.Name) }), nil
}

// ReadColumns describes the columns that Batches yields with these options. It
// fails as Batches does if an option is wrong.
func (d *Dataset) ReadColumns(o ReadOptions) ([]arrowfile.Column, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.Filter.Check(d.manifest.Players()); err != nil {
		return nil, fmt.Errorf("%s: read: %w", d.Dir, err)
	}
	if o.Makers != nil {
		_, _, columns, err := d.renderedAs(&o)
		return columns, err
	}
	if err := d.maskedActions(); err != nil {
		return nil, err
	}
	_, want, err := d.Find(about.StepsDir, o.Columns...)
	if err != nil {
		return nil, err
	}
	return d.Tables[about.StepsTable].Schema.Part(want).Columns, nil
}

// rendering replays episodes and yields their rows, batch by batch, as Batches does
// with ReadOptions.Makers. It is not safe for concurrent use.
type rendering struct {
	d      *Dataset
	o      ReadOptions
	way    *route
	reader *TableReader
	mixed  prng.Rand // order of the episodes
	file   *FileCursor
	at     stretch // that is being read
	first  uint64  // number of the first row in hand
	order  []int32 // in which the rows in hand are taken
	passed int     // of these rows
	e      Episode
	stream *rows.Stream
	who    *filter.Players
	rest   []uint8                // for each row of the stream's batch that was not taken yet: 1 if the filter wants it
	ended  error                  // why the stream ended
	made   *arrowfile.RecordBatch // the columns of the stream's batch
	b      Batch                  // of these columns
	final  Final
	// kept has the rows that are wanted. It is nil if none is left out: by the filter, or
	// because the seat waits in a sequential form.
	kept *arrowfile.RecordBatch
}

// render returns a rendering, whose close must be called. It fails if an option is
// wrong or Makers are missing.
func (d *Dataset) render(o ReadOptions) (*rendering, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Makers == nil {
		return nil, fmt.Errorf("read: rows are made by playing again, for which ReadOptions.Makers is missing")
	}
	j, specs, columns, err := d.renderedAs(&o)
	if err != nil {
		return nil, err
	}
	r := &rendering{d: d, o: o, who: d.manifest.Players()}
	if err := o.Filter.Check(r.who); err != nil {
		return nil, fmt.Errorf("%s: read: %w", d.Dir, err)
	}
	schema := about.FileSchema(j, specs[0].Info.Rules, about.StepsDir, columns, 1)
	if r.made, err = arrowfile.NewRecordBatch(schema, 0, nil); err != nil {
		return nil, err
	}
	random := o.rand()
	if r.way, err = d.route(&o, about.EpisodesTable, &random); err != nil {
		return nil, err
	}
	r.mixed = prng.New(random.Uint64()) // a generator of its own, because windows are shuffled in between
	if r.reader, err = d.Reader(about.EpisodesTable, nil); err != nil {
		return nil, err
	}
	c := streamOptions(&o, j, specs, columns)
	if !o.Filter.Empty() || c.Sequential && !o.Whole {
		c.Keep, c.Width[rows.Wanted] = r.wanted, 1
		r.kept = &arrowfile.RecordBatch{Cap: o.Rows}
		for _, column := range columns {
			r.kept.Data = append(r.kept.Data, arrowfile.NewData(column, o.Rows))
		}
	}
	r.stream = rows.NewStream(c, &random, r.next)
	return r, nil
}

// close ends the workers and closes the file in hand.
func (r *rendering) close() {
	r.stream.Close()
	if r.file != nil {
		r.file.Close()
	}
	r.reader.Close()
}

// rendered yields the batches of a rendering.
func (d *Dataset) rendered(o ReadOptions, yield func(*Batch) error) error {
	r, err := d.render(o)
	if err != nil {
		return err
	}
	defer r.close()
	for {
		b, err := r.batch()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = yield(b)
		}
		if err != nil {
			return err
		}
	}
}

// streamOptions returns the options of the stream that makes the wanted columns.
func streamOptions(o *ReadOptions, j about.Job, specs []env.Spec, columns []arrowfile.Column) rows.StreamOptions {
	c := rows.StreamOptions{Spec: *about.RowSpec(j, specs, columns), Rows: o.Rows, Shuffle: o.Shuffle, Whole: o.Whole, Workers: o.Workers}
	c.Steps = o.Steps
	for _, column := range columns {
		if _, ok := about.FixedColumns[column.Name]; ok {
			continue
		} else if column.Name == about.ColOrders {
			c.Orders = true
		} else {
			c.Moves = true
		}
	}
	c.Replays = func() rows.Replays { return about.NewReplays(j, *o.Makers).Of }
	return c
}

// next returns the next episode of the part and the split: in order, or with Shuffle in
// random order within each batch of the file.
func (r *rendering) next() (*rollout.Episode, int, error) {
	for {
		for r.passed < len(r.order) {
			row := int(r.order[r.passed])
			r.passed++
			id := r.at.first + r.first + uint64(row)
			if id < r.at.from || id >= r.at.to || !r.o.has(r.draw(row)) {
				continue
			}
			err := r.e.Set(r.reader.Table, row, r.d.manifest)
			if err == nil && r.e.ID != id {
				err = fmt.Errorf("found episode %d, expected %d", r.e.ID, id)
			}
			if err != nil {
				return nil, 0, fmt.Errorf("%s: row %d: %w", r.at.file().Path, r.first+uint64(row), err)
			}
			if !r.wants(&r.e.Episode) {
				continue
			}
			return &r.e.Episode, r.e.Rules, nil
		}
		if err := r.more(); err != nil {
			return nil, 0, err
		}
	}
}

// draw returns the number that decides to which part the episode in that row of the table belongs.
func (r *rendering) draw(row int) float64 {
	return games.Draw(arrowfile.View[uint64](r.reader.Table.Col(about.ColGame).Fixed)[row])
}

// more reads the next batch of the file, or opens the next file.
func (r *rendering) more() (err error) {
	if r.file == nil {
		if r.at, err = r.way.next(); err != nil {
			return err
		}
		r.file, err = r.reader.Open(r.at.file())
		return err
	}
	r.first = r.file.Rows
	more, err := r.file.Next()
	if !more {
		r.file.Close()
		r.file, r.order = nil, nil
		return err
	}
	var mixed *prng.Rand
	if r.o.Shuffle > 0 {
		mixed = &r.mixed
	}
	r.order, r.passed = rows.Shuffled(r.order, r.reader.Table.Rows, mixed), 0
	return nil
}

// batch returns the next batch, valid until the next call, and io.EOF after the last.
// After any other error, as in Batches, there is nothing to read.
func (r *rendering) batch() (*Batch, error) {
	if r.kept != nil {
		return r.filtered()
	}
	if err := r.make(); err != nil {
		return nil, err
	}
	return &r.b, nil
}

// make makes the next batch of all rows.
func (r *rendering) make() error {
	from, err := r.stream.Next()
	if err != nil {
		return err
	}
	at, n := from.From, from.To-from.From
	for _, d := range r.made.Data {
		switch d.Column.Name {
		case about.ColOrders:
			d.Bytes, d.Ends = arrowfile.Bytes(from.Orders), from.OrderEnds
		case about.ColSearchPolicy:
			d.Bytes, d.Ends = arrowfile.Bytes(from.Searches.Shares), from.MoveEnds
		case about.ColSearchCounts:
			d.Bytes, d.Ends = arrowfile.Bytes(from.Searches.Counts), from.MoveEnds
		case about.ColSearchChoices:
			d.Bytes, d.Ends = arrowfile.Bytes(from.Searches.Choices), from.ChoiceEnds
		default:
			d.Fixed = from.Slabs.Bytes(about.FixedColumns[d.Column.Name], at, n)
		}
	}
	r.b = BatchOf(r.made, n)
	if f := from.Final; f != nil && len(f.Planes)+len(f.Packed)+len(f.Scalars) > 0 {
		r.final = Final{Episode: from.Episode.ID, Turns: turnsOf(from.Episode), Planes: f.Planes, Packed: f.Packed, Scalars: f.Scalars}
		r.b.Final = &r.final
	}
	r.rest = from.Slabs.Bytes(rows.Wanted, at, n)
	return nil
}

// turnsOf returns the number of turns of an episode, which may be divided into steps.
func turnsOf(e *rollout.Episode) int {
	if e.Steps == nil || e.Turns == 0 {
		return e.Turns
	}
	return int(e.Steps.Turn[e.Turns-1]) + 1
}

// wanted reports whether the filter wants the row of a seat in a turn, or in a step.
// Nobody wants the rows of a seat that waits.
func (r *rendering) wanted(e *rollout.Episode, turn, seat int) bool {
	row := filter.Row{Turn: turn, Seat: seat, Result: e.Outcome[seat].Result, Policy: e.Policies[seat]}
	if s := e.Steps; s != nil {
		if s.Action[turn*e.Players+seat] == rollout.Waiting {
			return false
		}
		row.Turn = int(s.Turn[turn])
	}
	if len(e.Chosen) > 0 {
		row.Chosen = int(e.Chosen[turn*e.Players+seat])
	}
	return r.o.Filter.Has(r.who, &row)
}

// wants reports whether the filter wants any row of an episode.
func (r *rendering) wants(e *rollout.Episode) bool {
	if r.o.Filter.Empty() {
		return true
	}
	for turn := range e.Turns {
		for seat := range e.Players {
			if r.wanted(e, turn, seat) {
				return true
			}
		}
	}
	return false
}

// filtered returns the next batch of the rows that the filter wants.
func (r *rendering) filtered() (*Batch, error) {
	r.kept.Reset()
	for r.kept.Rows < r.kept.Cap && r.ended == nil {
		if len(r.rest) == 0 {
			r.ended = r.make()
			continue
		}
		if r.rest[0] != 0 {
			appendRow(r.kept, r.made, r.b.Rows-len(r.rest))
		}
		r.rest = r.rest[1:]
	}
	if r.ended != nil && (r.ended != io.EOF || r.kept.Rows == 0) {
		return nil, r.ended
	}
	b := BatchOf(r.kept, r.kept.Rows)
	return &b, nil
}
