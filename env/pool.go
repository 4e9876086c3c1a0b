package env

import (
	"fmt"
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// pool is a Vector over states of type S, which lie side by side in one slice.
type pool[S any] struct {
	tools[S]          // in use: the Vector's own, or those of another
	own      tools[S] // the Vector's own

	spec    Spec
	forms   []features.Form[S] // all of the game
	drafts  *drafts[S]         // the turns in the making; nil: the form is not sequential
	kit     features.Kit[S]
	sizes   sizes
	lengths lengths  // of the slabs of a Batch
	seated  lengths  // of the slabs of a Batch with Seats
	ended   []uint64 // [MaskWords] the mask of a game that has ended
	print   uint64   // of the rules, for snapshots

	states []S
	seeds  []uint64
	turns  []int32
	status []sim.Status

	rows  features.Rows           // of the game that is encoded
	worth []float64               // [Rows] value of the measure before this turn; empty without a measure
	gain  [sim.MaxPlayers]float64 // scratch of pay
}

// sizes holds the lengths of one row of each slab.
type sizes struct{ players, planes, words, scalars, mask, heads, orders int }

func sizesOf(s *Spec) sizes {
	return sizes{
		players: s.Info.Players, planes: s.Shape.PlaneBytes(), words: s.Shape.Words,
		scalars: s.Shape.Scalars, mask: s.MaskWords, heads: len(s.Heads), orders: s.Info.MaxOrders,
	}
}

// New returns a Vector of c.N games of g, all reset with seed 0. The caller
// must not use g while the Vector is in use. New fails if c.N < 1, c.MaxTurns <
// 0, c.Reward is not a reward of the game, c.Form is not one of its forms, c.Memory
// is set but the rules have no fog of war or the form is not features.Cells.
func New[S any](g sim.Game[S], kit features.Kit[S], c Settings) (Vector, error) {
	v, err := newPool(g, kit, c)
	if err != nil {
		return nil, err
	}
	if !c.Memory {
		return v, nil
	}
	if v.spec.Form != features.Cells {
		return nil, fmt.Errorf("env: memory fills in the planes of the form %s, not %s", features.Cells, v.spec.Form)
	}
	return newMemory(v, kit.Fog)
}

func newPool[S any](g sim.Game[S], kit features.Kit[S], c Settings) (*pool[S], error) {
	if c.N < 1 {
		return nil, fmt.Errorf("env: %d games at once: there must be at least 1", c.N)
	}
	if c.MaxTurns < 0 {
		return nil, fmt.Errorf("env: a limit of %d turns: it may not be negative", c.MaxTurns)
	}
	info := g.Info()
	if info.Players < 1 || info.Players > sim.MaxPlayers {
		return nil, fmt.Errorf("env: %s has %d seats: there may be 1 to %d", info.Name, info.Players, sim.MaxPlayers)
	}
	if c.Memory && c.Form == "" {
		c.Form = features.Cells
	}
	form, err := kit.Form(c.Form)
	if err != nil {
		return nil, fmt.Errorf("env: %s has %w", info.Name, err)
	}
	spec := newSpec(info, kit, c)
	measure, err := findMeasure(kit.Measures, &spec, c.Reward)
	if err != nil {
		return nil, err
	}
	v := &pool[S]{
		own:    tools[S]{game: g, encoder: form.Encoder, actions: form.Actions, measure: measure, turn: sim.NewTurn(info.MaxOrders)},
		spec:   spec,
		forms:  kit.All(),
		kit:    kit,
		print:  fingerprint[S](info, sequentialName(&form)),
		states: make([]S, c.N),
		seeds:  make([]uint64, c.N),
		turns:  make([]int32, c.N),
		status: make([]sim.Status, c.N),
	}
	v.own.batch, _ = form.Encoder.(features.BatchEncoder[S])
	v.tools = v.own
	if measure != nil {
		v.worth = make([]float64, c.N*info.Players)
	}
	for i := range v.states {
		v.Reset(i, 0)
	}
	for _, f := range v.forms {
		v.spec.Forms = append(v.spec.Forms, formSpec(&f, &v.states[0]))
		if f.Name == form.Name {
			v.spec.FormSpec = v.spec.Forms[len(v.spec.Forms)-1]
		}
	}
	v.sizes = sizesOf(&v.spec)
	v.lengths, v.seated = *lengthsOf(&v.spec, false), *lengthsOf(&v.spec, true)
	v.ended = v.spec.endedMask()
	if form.Sequential() {
		v.drafts = newDrafts(&form, c.N*info.Players, info.MaxOrders)
		v.drafts.turns = make([]uint64, c.N)
	}
	return v, nil
}

func newSpec[S any](info sim.Info, kit features.Kit[S], c Settings) Spec {
	s := Spec{
		Games: c.N, Info: info,
		Rewards:  []Reward{{ResultReward, "result of the game (+1 first, -1 last) in its last turn, else 0"}},
		MaxTurns: info.MaxTurns,
	}
	for _, m := range kit.Measures {
		doc := m.Doc + ": own change in the turn less the mean change of the others"
		s.Rewards = append(s.Rewards, Reward{m.Name, doc})
	}
	if c.MaxTurns > 0 && c.MaxTurns < s.MaxTurns {
		s.MaxTurns = c.MaxTurns
	}
	return s
}

// formSpec describes a form. start is a state after Reset.
func formSpec[S any](f *features.Form[S], start *S) FormSpec {
	heads := f.Actions.Heads()
	s := FormSpec{
		Form: f.Name, FormDoc: f.Doc, Sequential: f.Sequential(), Shape: f.Encoder.Shape(), Description: f.Encoder.Description(),
		Heads: heads, Actions: f.Actions.Doc(), MaskWords: features.MaskWords(heads),
	}
	action := make([]int32, len(heads))
	f.Actions.Action(action, nil, start, 0)
	if len(action) == 1 {
		s.Nothing = int(action[0])
	}
	return s
}

// endedMask returns the mask of a game that has ended, in which only Nothing is
// legal. A mask without any legal choice would make every probability of a
// masked softmax NaN.
func (f *FormSpec) endedMask() []uint64 {
	mask := make([]uint64, f.MaskWords)
	at := f.Nothing
	for _, choices := range f.Heads {
		mask[at/64] |= 1 << (at % 64)
		at += choices
	}
	return mask
}

// findMeasure sets the reward of the spec and returns its measure, or nil if
// the reward is the result.
func findMeasure[S any](ms []features.Measure[S], s *Spec, name string) (*features.Measure[S], error) {
	if name == "" || name == ResultReward {
		s.Reward = ResultReward
		return nil, nil
	}
	for i := range ms {
		if ms[i].Name == name {
			s.Reward = name
			return &ms[i], nil
		}
	}
	names := make([]string, len(s.Rewards))
	for i, r := range s.Rewards {
		names[i] = r.Name
	}
	return nil, fmt.Errorf("env: %s has no reward %q; there are: %s", s.Info.Name, name, strings.Join(names, ", "))
}

// Spec implements Vector.
func (v *pool[S]) Spec() Spec { return v.spec }

// Reset implements Vector.
func (v *pool[S]) Reset(i int, seed uint64) {
	v.mustHave("Reset", i)
	v.game.Reset(&v.states[i], seed)
	v.seeds[i], v.turns[i], v.status[i] = seed, 0, sim.Running
	v.open(i)
	v.appraise(i)
}

// Observe implements Vector.
func (v *pool[S]) Observe(b *Batch) {
	v.check(b)
	for i := range v.states {
		if !b.idle(i) {
			v.observe(b, i)
		}
	}
}

// ObserveGame implements Vector.
func (v *pool[S]) ObserveGame(b *Batch, i int) {
	v.check(b)
	v.mustHave("ObserveGame", i)
	v.observe(b, i)
}

// ObserveRows implements Vector.
func (v *pool[S]) ObserveRows(b *Batch, rows []int32) {
	v.check(b)
	players, end := v.sizes.players, 0 // the row after those of the latest game
	for _, row := range rows {
		if r := int(row); r >= end || r < end-players {
			i := r / players
			v.mustHave("ObserveRows", i)
			v.observe(b, i)
			end = (i + 1) * players
		}
	}
}

func (v *pool[S]) observe(b *Batch, i int) {
	s, z := &v.states[i], &v.sizes
	b.Status[i], b.Turn[i] = v.status[i], v.turns[i]
	first, last, row := 0, z.players-1, i*z.players // the observed seats, and the row of the first
	for r := row; r <= row+last; r++ {
		b.OrderLen[r] = -1
	}
	if b.Seats != nil {
		p := b.seat(i, z.players)
		first, last, row = int(p), int(p), i
	}
	if v.drafts != nil {
		v.observeDrafts(b, row, i, first, last)
		return
	}
	if b.Seats != nil {
		v.encodeSeat(b, row, s, sim.Player(first))
	} else if b.Planes != nil || b.Packed != nil || b.Scalars != nil {
		v.encode(b, row, s)
	}
	streams := prng.Streams(0) // of the first action of a turn, as rowSeed has them
	if b.RowSeed != nil {
		streams = prng.StreamsOf(v.seeds[i], 0)
	}
	for seat := first; seat <= last; seat++ {
		if b.Mask != nil {
			mask := b.Mask[row*z.mask : (row+1)*z.mask]
			if b.masks(v.status[i]) {
				v.actions.Mask(mask, s, sim.Player(seat))
			} else {
				copy(mask, v.ended)
			}
		}
		if b.RowSeed != nil {
			b.RowSeed[row] = streams.Seed(uint64(v.turns[i]), uint64(seat), prng.PurposePolicy)
		}
		row++
	}
}

// masks reports whether the game decides what is legal in a status.
func (b *Batch) masks(s sim.Status) bool { return s == sim.Running || s == sim.Cut && b.CutMask }

// rowSeed returns the random seed of a seat's action number step of this turn.
func (v *pool[S]) rowSeed(i int, p sim.Player, step uint32) uint64 {
	return prng.StreamSeed(v.seeds[i], uint64(step), uint64(v.turns[i]), uint64(p), prng.PurposePolicy)
}

// encode writes the observations of all seats of a game to the rows from first
// on.
func (v *pool[S]) encode(b *Batch, first int, s *S) {
	z := &v.sizes
	if v.batch != nil {
		v.rows.Planes = part(b.Planes, first, z.players, z.planes)
		v.rows.Packed = part(b.Packed, first, z.players, z.words)
		v.rows.Scalars = part(b.Scalars, first, z.players, z.scalars)
		v.batch.All(&v.rows, s)
		return
	}
	for seat := range z.players {
		v.encodeSeat(b, first+seat, s, sim.Player(seat))
	}
}

// encodeSeat writes the observation of seat p to a row.
func (v *pool[S]) encodeSeat(b *Batch, row int, s *S, p sim.Player) {
	z := &v.sizes
	if b.Planes != nil {
		v.encoder.Planes(part(b.Planes, row, 1, z.planes), s, p)
	}
	if b.Packed != nil {
		v.encoder.Packed(part(b.Packed, row, 1, z.words), s, p)
	}
	if b.Scalars != nil {
		v.encoder.Scalars(part(b.Scalars, row, 1, z.scalars), s, p)
	}
}

// part returns n rows of a slab whose rows have the given size, or nil if the
// slab is nil.
func part[E any](slab []E, row, n, size int) []E {
	if slab == nil {
		return nil
	}
	return slab[row*size : (row+n)*size : (row+n)*size]
}

// Step implements Vector.
func (v *pool[S]) Step(b *Batch) {
	v.check(b)
	for i := range v.states {
		if b.idle(i) {
			continue
		}
		if v.status[i] == sim.Running {
			v.step(b, i)
		} else {
			v.rest(b, i)
		}
		b.Status[i], b.Turn[i] = v.status[i], v.turns[i]
	}
}

// step plays one turn of game i, which is running; in a sequential form, one
// action of each seat.
func (v *pool[S]) step(b *Batch, i int) {
	if v.drafts == nil {
		v.takeTurns(b, i)
	} else if !v.takeActions(b, i) {
		for row := i * v.sizes.players; row < (i+1)*v.sizes.players; row++ {
			b.Reward[row] = 0
		}
		return
	}
	first := i * v.sizes.players
	status := v.game.Step(&v.states[i], v.turn)
	v.turns[i]++
	if status == sim.Running && int(v.turns[i]) >= v.spec.MaxTurns {
		status = sim.Cut
	}
	v.status[i] = status
	v.open(i)
	if v.measure == nil && status != sim.Over {
		for row := first; row < first+v.sizes.players; row++ {
			b.Reward[row] = 0
		}
		return
	}
	v.pay(b, i)
}

// takeTurns sets the orders of all seats of game i.
func (v *pool[S]) takeTurns(b *Batch, i int) {
	s, z := &v.states[i], &v.sizes
	first, bare := i*z.players, b.Action == nil && b.Played == nil && z.orders > 0
	for seat, n := range b.OrderLen[first : first+z.players] {
		row, p := first+seat, sim.Player(seat)
		if n == 1 && bare { // the usual case of games with one order per turn
			v.turn.SetOne(p, b.Orders[row*z.orders])
		} else if orders := v.orders(b, row, s, p); len(orders) == 1 {
			v.turn.SetOne(p, orders[0])
		} else {
			v.turn.Set(p, orders)
		}
	}
}

// orders returns the orders that the row plays, before the state changes. It
// fills in the row's orders from its action, or its action from its orders.
func (v *pool[S]) orders(b *Batch, row int, s *S, p sim.Player) []sim.Order {
	z := &v.sizes
	slab := b.Orders[row*z.orders : (row+1)*z.orders : (row+1)*z.orders]
	n := b.given(row, len(slab))
	if n < 0 {
		n = len(v.actions.AppendOrders(slab[:0], b.Action[row*z.heads:(row+1)*z.heads], s, p))
		if n > len(slab) {
			panic("env: the action space of " + v.spec.Info.Name + " gives more orders than Info.MaxOrders")
		}
		b.OrderLen[row] = int32(n)
	} else if b.Action != nil && !b.ActionReadOnly {
		v.actions.Action(b.Action[row*z.heads:(row+1)*z.heads], slab[:n], s, p)
	}
	if b.Played != nil {
		v.actions.Action(b.Played[row*z.heads:(row+1)*z.heads], slab[:n], s, p)
	}
	return slab[:n]
}

// given returns OrderLen of a row, and panics if it is out of range.
func (b *Batch) given(row, most int) int {
	n := int(b.OrderLen[row])
	if n < -1 || n > most {
		panic(fmt.Sprintf("env: OrderLen of row %d is %d: expected -1, or 0 to %d orders", row, n, most))
	}
	if n < 0 && b.Action == nil {
		panic("env: a row with OrderLen -1 acts by its Action, but the Batch has no Action slab")
	}
	return n
}

// rest fills the rows of game i, which has ended.
func (v *pool[S]) rest(b *Batch, i int) {
	z := &v.sizes
	for row := i * z.players; row < (i+1)*z.players; row++ {
		b.Reward[row] = 0
		v.restRow(b, row)
	}
}

// restRow writes that a row gave no orders.
func (v *pool[S]) restRow(b *Batch, row int) {
	b.OrderLen[row] = 0
	heads := v.sizes.heads
	for k, slab := range [2][]int32{b.Played, b.Action} {
		if k > 0 && b.ActionReadOnly {
			break
		}
		for h := range part(slab, row, 1, heads) {
			slab[row*heads+h] = -1
		}
	}
}

// appraise stores the measure of every seat of game i before its next turn.
func (v *pool[S]) appraise(i int) {
	if v.measure == nil {
		return
	}
	for seat := range v.sizes.players {
		v.worth[i*v.sizes.players+seat] = v.measure.Of(v.game, &v.states[i], sim.Player(seat))
	}
}

// pay writes the rewards of the turn that game i has just played: the change of
// the measure, or the result if the game is over.
func (v *pool[S]) pay(b *Batch, i int) {
	n := v.sizes.players
	reward := b.Reward[i*n : (i+1)*n]
	if v.measure == nil {
		for seat := range reward {
			reward[seat] = v.game.Outcome(&v.states[i], sim.Player(seat)).Result
		}
		return
	}
	worth, sum := v.worth[i*n:(i+1)*n], 0.0
	for seat := range worth {
		now := v.measure.Of(v.game, &v.states[i], sim.Player(seat))
		v.gain[seat] = now - worth[seat]
		worth[seat] = now
		sum += v.gain[seat]
	}
	if n == 1 {
		reward[0] = 0
		return
	}
	for seat := range reward {
		reward[seat] = float32(v.gain[seat] - (sum-v.gain[seat])/float64(n-1))
	}
}

// Outcome implements Vector.
func (v *pool[S]) Outcome(i int, p sim.Player) sim.Outcome {
	v.mustHave("Outcome", i)
	if int(p) >= v.sizes.players {
		panic(fmt.Sprintf("env: Outcome of seat %d: %s has %d", p, v.spec.Info.Name, v.sizes.players))
	}
	return v.game.Outcome(&v.states[i], p)
}

// AppendMemory implements Vector.
func (v *pool[S]) AppendMemory(dst []byte, _ int) []byte { return dst }

// RestoreMemory implements Vector.
func (v *pool[S]) RestoreMemory(int, []byte) error { return nil }
