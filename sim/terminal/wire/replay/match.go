package replay

import (
	"fmt"
	"io"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
)

// Match holds a match as the orders of its turns, which are enough to play it again.
type Match struct {
	Config config.Config
	Names  [2]string // of the players; "" if a recording lacks them

	Turns int // turns whose orders are known
	// Orders has the orders of all turns and players. Player p gave
	// Orders[Ends[k-1]:Ends[k]] in turn t, with k = 2t+p and Ends[-1] = 0.
	Orders []sim.Order
	Ends   []int32

	// Complete says that the match was played and recorded to its end; End then has the
	// totals from its last frame.
	Complete bool
	End      frame.EndStats
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

// readMatch reads a replay and reconstructs the orders of every turn from the spawn events of
// its first action frame, the thinking times, and the health that the players lost before
// that frame. Replays do not contain commands that the original refused. If a recording
// breaks off, its last turn has orders if its first action frame was recorded.
//
// It fails for lines that cannot be read, for frames that do not follow each other, and for
// spawn events in an order that no answers lead to. Errors contain the name. The match then
// has the turns before the error; it is nil if the config cannot be read.
//
// It calls each for every frame, and once more for the last one, with last set, at the end of the file.
func readMatch(name string, in io.Reader, each func(f *frame.Frame, last bool)) (*Match, error) {
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

// FindFrame reads a replay as Verify does and returns the match and a copy of one frame:
// the frame of the given turn and number (−1 is the deploy frame), or the last frame of the
// file if turn is −1. The frame is nil if the file lacks it. most is the number of the turn's
// last action frame, or −1 if the turn has no action frame.
func FindFrame(name string, in io.Reader, turn, number int) (m *Match, found *frame.Frame, most int, err error) {
	most = -1
	m, err = readMatch(name, in, func(f *frame.Frame, last bool) {
		if f.Turn == turn && f.Phase == frame.PhaseAction {
			most = f.Number
		}
		if turn >= 0 && f.Turn == turn && f.Number == number && f.Phase != frame.PhaseEnd || turn < 0 && last {
			found = new(frame.Frame)
			frame.View(found, f, 0)
		}
	})
	return m, found, most, err
}

// finish takes names and totals from f if it is the end frame.
func (m *Match) finish(f *frame.Frame) {
	if f.Phase != frame.PhaseEnd || f.End == nil {
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

// addTimes adds the players' times from the end frame to the orders of the last turn. In
// recordings of August 2018 only the end frame has them. They decide a match that is equal
// otherwise.
func (m *Match) addTimes() {
	for p := range m.End.Players {
		ms, ok := frame.Milliseconds(m.End.Players[p].Time)
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

// turnReader reads the frames of a replay one by one and checks that they follow each other as
// the frames of a match do.
type turnReader struct {
	name  string
	in    *Reader
	frame frame.Frame
	read  bool // at least one frame was read

	before [2]float32                         // health in the deploy frame of this turn
	built  [terminal.Side][terminal.Side]bool // by y and x: a structure was in the deploy frame or placed since
	spawns []terminal.SpawnEvent              // see upgrades
}

func newTurnReader(name string, in io.Reader) (*turnReader, error) {
	r, err := NewReader(name, in)
	if err != nil {
		return nil, err
	}
	return &turnReader{name: name, in: r}, nil
}

// next reads the next frame. It returns io.EOF after the last one.
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
		ok = f.Phase == frame.PhaseDeploy && f.Turn == 0
	case phase == frame.PhaseDeploy:
		ok = f.Phase == frame.PhaseAction && f.Turn == turn && f.Number == 0
	case phase == frame.PhaseAction && f.Phase == frame.PhaseAction:
		ok = f.Turn == turn && f.Number == number+1
	case phase == frame.PhaseAction && f.Phase == frame.PhaseDeploy:
		ok = f.Turn == turn+1
	case phase == frame.PhaseAction && f.Phase == frame.PhaseEnd:
		ok = f.Turn == turn && f.Number == number || f.Turn == turn+1 && f.Number == 0
	}
	if !ok && !r.read {
		return r.errorf("expected the deploy frame of turn 0 first, found turnInfo [%d, %d, %d]", f.Phase, f.Turn, f.Number)
	}
	if !ok {
		return r.errorf("expected a frame that can follow turnInfo [%d, %d, %d], found [%d, %d, %d]", phase, turn, number, f.Phase, f.Turn, f.Number)
	}
	if r.read = true; f.Phase == frame.PhaseDeploy {
		r.before = [2]float32{f.Stats[0].Health, f.Stats[1].Health}
		r.build()
	}
	return nil
}

// build stores the structures of the current frame, a deploy frame.
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

// upgrades returns the spawn events of the current frame, the first of a turn. It turns events
// of structures on occupied cells, where nothing can be placed, into upgrades: recordings of
// February 2020 write upgrades so.
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

// errorf returns an error at the line that was read last.
func (r *turnReader) errorf(format string, args ...any) error {
	return fmt.Errorf("replay %s: line %d: %s", r.name, r.in.Line(), fmt.Sprintf(format, args...))
}

// submitted reports whether the current frame is the first after the players answered.
func (r *turnReader) submitted() bool {
	return r.frame.Phase == frame.PhaseAction && r.frame.Number == 0
}

// orders fills t with the orders that led to the current frame.
func (r *turnReader) orders(t *sim.Turn) error {
	if err := readOrders(t, r.before, &r.frame, r.upgrades()); err != nil {
		return r.errorf("%v", err)
	}
	return nil
}
