package wire

import (
	"fmt"
	"io"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Match is a match as orders: all that is needed to play it again.
type Match struct {
	Config Config
	Names  [2]string // of the players; "" where a recording does not tell

	Turns int // turns whose orders are known
	// Orders are those of all turns and players one after the other: those of
	// player p in turn t are Orders[Ends[k-1]:Ends[k]] with k = 2t+p (and
	// Ends[-1] = 0).
	Orders []sim.Order
	Ends   []int32

	// Complete: the match was played and recorded to its end; End is
	// what the recording tells of it then.
	Complete bool
	End      EndStats
}

// OrdersOf returns the orders of player p in turn t.
func (m *Match) OrdersOf(t int, p sim.Player) []sim.Order {
	k := 2*t + int(p)
	from := int32(0)
	if k > 0 {
		from = m.Ends[k-1]
	}
	return m.Orders[from:m.Ends[k]]
}

// Turn fills t with the orders of a turn.
func (m *Match) Turn(t *sim.Turn, turn int) {
	for p := range sim.Player(2) {
		t.Set(p, m.OrdersOf(turn, p))
	}
}

// Add appends a turn.
func (m *Match) Add(t *sim.Turn) {
	for p := range sim.Player(2) {
		m.Orders = append(m.Orders, t.Orders(p)...)
		m.Ends = append(m.Ends, int32(len(m.Orders)))
	}
	m.Turns++
}

// ReadMatch reads a replay and tells the orders of every turn from what became
// of them: the spawn events of its first action frame, the thinking times, and
// the health that the players lost before it. Commands that the original
// refused are in no replay. What was ordered in the last turn of a recording
// that broke off is there if its first action frame is.
//
// The name is for errors: lines that cannot be read, frames that do not follow
// each other, and spawn events in an order that no answers have. The match then
// holds the turns up to there; it is nil if there is not even a config.
func ReadMatch(name string, in io.Reader) (*Match, error) {
	return readMatch(name, in, func(*Frame, bool) {})
}

// readMatch shows each of the frames to each; the last again, after the end of
// the file was reached.
func readMatch(name string, in io.Reader, each func(f *Frame, last bool)) (*Match, error) {
	r, err := newTurnReader(name, in)
	if err != nil {
		return nil, err
	}
	m := &Match{Config: r.in.Config}
	t := new(sim.Turn)
	for {
		err := r.next()
		if err == io.EOF {
			each(&r.frame, true)
			return m, nil
		}
		if err != nil {
			return m, err
		}
		each(&r.frame, false)
		if r.submitted() {
			if err := r.orders(t); err != nil {
				return m, err
			}
			m.Add(t)
		}
		m.finish(&r.frame)
	}
}

// FindFrame reads a replay as ReadMatch does and returns the match and a copy of
// one frame: that of the given turn and number (−1 is the deploy frame), or,
// for turn −1, the last there is. The frame is nil if there is none such; most
// is the number of the last action frame of the turn, −1 if it has none.
func FindFrame(name string, in io.Reader, turn, number int) (m *Match, found *Frame, most int, err error) {
	most = -1
	m, err = readMatch(name, in, func(f *Frame, last bool) {
		if f.Turn == turn && f.Phase == PhaseAction {
			most = f.Number
		}
		if turn >= 0 && f.Turn == turn && f.Number == number && f.Phase != PhaseEnd || turn < 0 && last {
			found = new(Frame)
			View(found, f, 0)
		}
	})
	return m, found, most, err
}

// finish takes names and sums from the end frame; other frames have none.
func (m *Match) finish(f *Frame) {
	if f.Phase != PhaseEnd || f.End == nil {
		return
	}
	m.Complete, m.End = true, *f.End
	for p := range m.Names {
		m.Names[p] = f.End.Players[p].Name
	}
	if m.Config.Rules.OldIDs && m.Turns > 0 && !slices.ContainsFunc(m.Orders, isClock) {
		m.addTimes()
	}
}

func isClock(o sim.Order) bool { return terminal.Decode(o).Op == terminal.OpClock }

// addTimes adds the times that only the end frame tells, as in recordings of
// August 2018, to the orders of the last turn: where all else is equal they
// decide.
func (m *Match) addTimes() {
	for p := range m.End.Players {
		ms, ok := milliseconds(m.End.Players[p].Time)
		if !ok || ms == 0 {
			continue
		}
		k := 2*(m.Turns-1) + p
		m.Orders = slices.Insert(m.Orders, int(m.Ends[k]), terminal.Clock(ms))
		for i := k; i < len(m.Ends); i++ {
			m.Ends[i]++
		}
	}
}

// turnReader reads the frames of a replay one by one and checks that they
// follow each other as the frames of a match do.
type turnReader struct {
	name  string
	in    *Reader
	frame Frame
	read  bool // at least one frame was read

	before [2]float32                         // health in the deploy frame of this turn
	built  [terminal.Side][terminal.Side]bool // its structures, by y and x, with those placed since
	spawns []terminal.SpawnEvent              // see upgrades
}

func newTurnReader(name string, in io.Reader) (*turnReader, error) {
	r, err := NewReader(name, in)
	if err != nil {
		return nil, err
	}
	return &turnReader{name: name, in: r}, nil
}

// next reads the next frame; io.EOF after the last.
func (r *turnReader) next() error {
	phase, turn, number := r.frame.Phase, r.frame.Turn, r.frame.Number
	switch err := r.in.Next(&r.frame); {
	case err == io.EOF && !r.read:
		return r.errorf("expected the deploy frame of turn 0 after the config, found the end of the file")
	case err != nil:
		return err
	}
	f := &r.frame
	ok := false
	switch {
	case !r.read:
		ok = f.Phase == PhaseDeploy && f.Turn == 0
	case phase == PhaseDeploy:
		ok = f.Phase == PhaseAction && f.Turn == turn && f.Number == 0
	case phase == PhaseAction && f.Phase == PhaseAction:
		ok = f.Turn == turn && f.Number == number+1
	case phase == PhaseAction && f.Phase == PhaseDeploy:
		ok = f.Turn == turn+1
	case phase == PhaseAction && f.Phase == PhaseEnd:
		ok = f.Turn == turn && f.Number == number || f.Turn == turn+1 && f.Number == 0
	}
	if !ok && !r.read {
		return r.errorf("want the deploy frame of turn 0 first, found turnInfo [%d, %d, %d]", f.Phase, f.Turn, f.Number)
	}
	if !ok {
		return r.errorf("want a frame that can follow turnInfo [%d, %d, %d], found [%d, %d, %d]", phase, turn, number, f.Phase, f.Turn, f.Number)
	}
	if r.read = true; f.Phase == PhaseDeploy {
		r.before = [2]float32{f.Stats[0].Health, f.Stats[1].Health}
		r.build()
	}
	return nil
}

// build notes the structures of the deploy frame in hand.
func (r *turnReader) build() {
	clear(r.built[:])
	for p := range r.frame.Units {
		for _, list := range r.frame.Units[p][:terminal.Structures] {
			for _, u := range list {
				r.built[u.At.Y][u.At.X] = true
			}
		}
	}
}

// upgrades returns the spawn events of the frame in hand, the first of a turn. Those
// of structures on occupied cells become upgrades, which is what they are in
// recordings of February 2020: nothing can be placed there.
func (r *turnReader) upgrades() []terminal.SpawnEvent {
	r.spawns = append(r.spawns[:0], r.frame.Events.Spawns...)
	for i := range r.spawns {
		if e := &r.spawns[i]; e.Kind.Structure() {
			if built := &r.built[e.At.Y][e.At.X]; *built {
				e.Kind = terminal.Upgrade
			} else {
				*built = true
			}
		}
	}
	return r.spawns
}

// errorf is an error at the line that was read last.
func (r *turnReader) errorf(format string, args ...any) error {
	return fmt.Errorf("replay %s: line %d: %s", r.name, r.in.Line(), fmt.Sprintf(format, args...))
}

// submitted reports whether the frame in hand is the first after the players
// answered.
func (r *turnReader) submitted() bool { return r.frame.Phase == PhaseAction && r.frame.Number == 0 }

// orders fills t with the orders that led to the frame in hand.
func (r *turnReader) orders(t *sim.Turn) error {
	if err := readOrders(t, r.before, &r.frame, r.upgrades()); err != nil {
		return r.errorf("%v", err)
	}
	return nil
}
