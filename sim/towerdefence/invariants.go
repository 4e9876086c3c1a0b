package towerdefence

import (
	"fmt"
	"math/bits"

	"moonfarm/sim"
)

// check panics if s is not a state that play can lead to. Builds with -tags
// invariants call it after every round. Rounds may be played after the end of a
// match, with no meaning.
func (g *Game) check(s *State) {
	if s.Round > g.maxRounds+1 {
		return
	}
	if fault := g.fault(s); fault != "" {
		panic(fmt.Sprintf("towerdefence: broken state: %s\n%s%+v", fault, AppendText(nil, g, s), *s))
	}
}

// fault describes the first invariant that s violates, or is "".
func (g *Game) fault(s *State) string {
	if s.Round < 0 || s.Zero != 0 {
		return fmt.Sprintf("round %d, Zero is %d", s.Round, s.Zero)
	}
	for p := range sim.Player(2) {
		for _, part := range []func(*State, sim.Player) string{g.boardFault, g.timeFault, g.missileFault, g.towerFault, g.purseFault} {
			if fault := part(s, p); fault != "" {
				return fmt.Sprintf("player %c: %s", 'A'+p, fault)
			}
		}
	}
	return ""
}

// boardFault checks the boards of buildings.
func (g *Game) boardFault(s *State, p sim.Player) string {
	h := &s.Half[p]
	unfinished := h.Occupied &^ h.Live
	switch {
	case h.Live&^h.Occupied != 0:
		return fmt.Sprintf("Live is not within Occupied: %#x", h.Live&^h.Occupied)
	case (h.Extra0|h.Extra1)&^h.Live != 0:
		return fmt.Sprintf("Extra is not within Live: %#x", (h.Extra0|h.Extra1)&^h.Live)
	case (h.Type2|h.Type1|h.Type0)&^h.Occupied != 0:
		return fmt.Sprintf("a kind where nothing stands: %#x", (h.Type2|h.Type1|h.Type0)&^h.Occupied)
	case h.Type2&h.Type1&h.Type0 != 0:
		return fmt.Sprintf("buildings of no kind: %#x", h.Type2&h.Type1&h.Type0)
	case h.Wait0&h.Wait1 != 0 || (h.Wait0|h.Wait1)&^unfinished != 0:
		return fmt.Sprintf("Wait is not within the unfinished: %#x, %#x", h.Wait0, h.Wait1)
	case g.regular && (h.Wait0|h.Wait1) != unfinished&^h.Standing(Tesla):
		return fmt.Sprintf("Wait is not what is unfinished: %#x, %#x", h.Wait0, h.Wait1)
	case g.regular && (h.Wait0|h.Wait1)&^h.Standing(Defense) != 0:
		return fmt.Sprintf("Wait has others than defenses: %#x, %#x", h.Wait0, h.Wait1)
	case !g.regular && h.Wait0|h.Wait1 != 0:
		return fmt.Sprintf("Wait under rules of another rhythm: %#x, %#x", h.Wait0, h.Wait1)
	}
	for _, k := range Kinds {
		for c := h.Standing(k) & h.Live; c != 0; c &= c - 1 {
			if at := bits.TrailingZeros64(c); int(h.Extra0>>at&1|h.Extra1>>at&1<<1) > g.extraHits[k] {
				return fmt.Sprintf("the %v on %d stands more hits than its health", k, at)
			}
		}
	}
	return ""
}

// timeFault checks the rounds of placement.
func (g *Game) timeFault(s *State, p sim.Player) string {
	h := &s.Half[p]
	for c := h.Occupied; c != 0; c &= c - 1 {
		cell := bits.TrailingZeros64(c)
		kind, _ := h.Kind(cell)
		live := h.Live>>cell&1 != 0
		switch placed := h.PlacedIn(cell); {
		case placed >= int(s.Round):
			return fmt.Sprintf("the %v on %d was placed in round %d", kind, cell, placed)
		case live != (g.RoundsUntilDone(s, p, cell) == 0):
			return fmt.Sprintf("the %v on %d is live: %v, placed in round %d", kind, cell, live, placed)
		case kind == Attack && h.Type1>>cell&1<<1|h.Type0>>cell&1 != uint64(placed+1)&3:
			return fmt.Sprintf("the attack on %d shoots in another round than its placement in %d says", cell, placed)
		}
	}
	return ""
}

// missileFault checks the stacks of missiles: a cell in Own[i] is in Own[i−1],
// too.
func (g *Game) missileFault(s *State, p sim.Player) string {
	h := &s.Half[p]
	for i := 1; i < MaxStack; i++ {
		if h.Own[i]&^h.Own[i-1] != 0 || h.Far[i]&^h.Far[i-1] != 0 {
			return fmt.Sprintf("missiles %d without missiles %d", i+1, i)
		}
	}
	return ""
}

// towerFault checks the list of tesla towers.
func (g *Game) towerFault(s *State, p sim.Player) string {
	h, round := &s.Half[p], int(s.Round)
	if h.Teslas > MaxTeslas {
		return fmt.Sprintf("%d tesla towers", h.Teslas)
	}
	cells, ready, due := uint64(0), int16(never), int16(never)
	for i, t := range h.Tesla {
		if i >= int(h.Teslas) {
			if t != noTower {
				return fmt.Sprintf("tower %d is gone and not cleared", i)
			}
			continue
		}
		live := h.Live>>t.Cell&1 != 0
		switch {
		case live != (t.Due == never):
			return fmt.Sprintf("the tower on %d is live: %v, due in %d", t.Cell, live, t.Due)
		case !live && (t.Ready != t.Due+1 || int(t.Due) < round):
			return fmt.Sprintf("the tower on %d is due in %d and ready in %d", t.Cell, t.Due, t.Ready)
		case live && int(t.Ready) > round+g.rules.Buildings[Tesla].Cooldown:
			return fmt.Sprintf("the tower on %d is ready in %d", t.Cell, t.Ready)
		case i > 0 && h.PlacedIn(int(t.Cell)) <= h.PlacedIn(int(h.Tesla[i-1].Cell)):
			return "the towers are not listed by age"
		}
		cells, ready, due = cells|1<<t.Cell, min(ready, t.Ready), min(due, t.Due)
	}
	switch {
	case cells != h.Standing(Tesla) || bits.OnesCount64(cells) != int(h.Teslas):
		return fmt.Sprintf("the towers listed are %#x, those that stand %#x", cells, h.Standing(Tesla))
	case h.Ready != ready || h.Due != due:
		return fmt.Sprintf("ready %d and due %d, of the towers %d and %d", h.Ready, h.Due, ready, due)
	}
	return ""
}

// purseFault checks the numbers.
func (g *Game) purseFault(s *State, p sim.Player) string {
	h := &s.Half[p]
	switch {
	case h.Energy < 0:
		return fmt.Sprintf("energy %d", h.Energy)
	case h.Health() > MaxHealth:
		return fmt.Sprintf("health %d", h.Health())
	case int(uint32(h.Ledger)) < g.worth(h):
		return fmt.Sprintf("%d were exposed but %d stand", uint32(h.Ledger), g.worth(h))
	case int(h.Curtain) >= int(s.Round)+g.rules.CurtainActiveRounds-1:
		return fmt.Sprintf("the curtain protects up to round %d", h.Curtain)
	}
	return ""
}
