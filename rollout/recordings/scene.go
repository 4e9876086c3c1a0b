package recordings

import (
	"fmt"
	"slices"

	"moonfarm/features"
	tmkit "moonfarm/features/terminal"
	tdkit "moonfarm/features/towerdefence"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/towerdefence/wire/display"
)

// towerdefenceScene returns what a person sees of a position. A state that can be read is one of a game
// that goes on: its bases have health, and its round is one of the game. So the position at the end is
// read with such values, and then gets its own.
func towerdefenceScene(p *display.Position) (*features.Scene, error) {
	alive := *p
	alive.Rules.MaxRounds = max(p.Rules.MaxRounds, p.Round)
	for i := range alive.Players {
		alive.Players[i].Health = max(alive.Players[i].Health, 1)
	}
	g, s, _, err := display.ReadState(alive.AppendState(nil, 0), alive.Rules)
	if err != nil {
		return nil, fmt.Errorf("round %d cannot be drawn: %w", p.Round, err)
	}
	for i := range p.Players {
		s.Half[i].Base = int64(p.Players[i].Health)<<32 | int64(p.Players[i].HitsTaken)
	}
	for i := range p.Players { // the damage to the base counts for the other player
		s.Half[i].Ledger += int64(p.Players[i].Score-g.Score(s, sim.Player(i))) << 32
	}
	dst := &features.Scene{}
	tdkit.Kit(g).Scene(dst, s, features.Spectator)
	return dst, nil
}

// terminalScene returns what a person sees of a frame, with its recorded events.
func terminalScene(f *frame.Frame, r terminal.Rules) (*features.Scene, error) {
	g, err := terminal.New(r)
	if err != nil {
		return nil, err
	}
	var mobile []terminal.Piece
	still := *f // the frame as one without mobile units, which a state does not have
	still.Phase = frame.PhaseDeploy
	for p := range sim.Player(2) {
		for k := terminal.Scout; k <= terminal.Interceptor; k++ {
			for _, u := range f.Units[p][k] {
				mobile = append(mobile, terminal.Piece{At: u.At, Kind: k, Player: p, ID: u.ID, Health: u.Value})
			}
			still.Units[p][k] = nil
		}
		if f.Phase == frame.PhaseEnd && !r.OldIDs { // the last frame may have structures whose removal is due
			still.Units[p][terminal.Removal] = slices.DeleteFunc(slices.Clone(f.Units[p][terminal.Removal]), func(u frame.Unit) bool { return u.Value == 0 })
		}
	}
	mobile = slices.DeleteFunc(mobile, func(c terminal.Piece) bool { return !terminal.Inside(int(c.At.X), int(c.At.Y)) })
	s, err := still.State(&r)
	if err != nil {
		return nil, fmt.Errorf("turn %d cannot be drawn: %w", f.Turn, err)
	}
	dst := &features.Scene{}
	tmkit.Kit(g).Scene(dst, &s, features.Spectator)
	tmkit.AddMobile(dst, &r, mobile)
	tmkit.AddEvents(dst, &f.Events.Events) // without the melees of engines before 2020, which do not name their targets
	switch f.Phase {
	case frame.PhaseAction:
		dst.Title += fmt.Sprintf(", after frame %d", f.Number)
	case frame.PhaseEnd:
		dst.Title += ", the end"
	}
	return dst, nil
}
