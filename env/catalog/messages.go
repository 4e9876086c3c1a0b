package catalog

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/features"
	ccfeatures "moonfarm/features/codecraft"
	tmfeatures "moonfarm/features/terminal"
	tdfeatures "moonfarm/features/towerdefence"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/terminal"
	tmconfig "moonfarm/sim/terminal/wire/config"
	tmframe "moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/towerdefence"
	tdcommand "moonfarm/sim/towerdefence/wire/command"
	tddisplay "moonfarm/sim/towerdefence/wire/display"
)

// Message is what the original engine of a game sends to a bot before it answers.
type Message struct {
	Text  []byte
	Rules string // in the form of Entry.New; rules that the message itself contains override them
	Seat  int    // seat of the bot, from 0; AnySeat: the seat in the message, or 0 if it has none
	Seed  uint64 // random seed for the rest of the game; messages have none
}

// AnySeat is the Seat of a Message whose seat is unknown.
const AnySeat = -1

// at returns the seat that the message was sent to. found is the seat in its
// text, if known.
func (m *Message) at(found sim.Player, known bool) (sim.Player, error) {
	switch {
	case m.Seat == AnySeat:
		return found, nil
	case m.Seat < 0 || m.Seat >= sim.MaxPlayers:
		return 0, fmt.Errorf("seat %d, expected 0 to %d", m.Seat, sim.MaxPlayers-1)
	case known && m.Seat != int(found):
		return 0, fmt.Errorf("seat %d is given, but the message was sent to seat %d", m.Seat, found)
	}
	return sim.Player(m.Seat), nil
}

// loaded returns a vector of game g in state s.
func loaded[S any, G sim.Game[S]](g G, kit func(G) features.Kit[S], s *S, seed uint64) (env.Vector, error) {
	v, err := env.New(g, kit(g), env.Settings{N: 1})
	if err == nil {
		env.Load(v, 0, s, seed)
	}
	return v, err
}

func shownTowerDefence(m Message) (env.Vector, sim.Player, error) {
	rules, err := towerdefence.ParseRules([]byte(m.Rules))
	if err != nil {
		return nil, 0, err
	}
	g, s, found, err := tddisplay.ReadState(m.Text, rules)
	if err != nil {
		return nil, 0, err
	}
	seat, err := m.at(found, true)
	if err != nil {
		return nil, 0, err
	}
	v, err := loaded(g, tdfeatures.Kit, s, m.Seed)
	return v, seat, err
}

// shownTerminal reads a frame.
func shownTerminal(m Message) (env.Vector, sim.Player, error) {
	seat, err := m.at(0, false)
	if err != nil {
		return nil, 0, err
	}
	rules, err := tmconfig.ParseRules([]byte(m.Rules))
	if err != nil {
		return nil, 0, err
	}
	g, s, err := tmframe.ReadState(m.Text, rules, seat)
	if err != nil {
		return nil, 0, err
	}
	v, err := loaded(g, tmfeatures.Kit, s, m.Seed)
	return v, seat, err
}

func shownCodeCraft(m Message) (env.Vector, sim.Player, error) {
	rules, err := codecraft.ParseRules([]byte(m.Rules))
	if err != nil {
		return nil, 0, err
	}
	view, err := recording.ReadView(m.Text)
	if err != nil {
		return nil, 0, err
	}
	g, s, err := recording.StateOfView(view, rules)
	if err != nil {
		return nil, 0, fmt.Errorf("view: %w", err)
	}
	if g.Over(s) {
		return nil, 0, fmt.Errorf("view: tick %d: the game is over", s.Tick)
	}
	seat, err := m.at(sim.Player(view.MyID-1), true)
	if err != nil {
		return nil, 0, err
	}
	s.Seed = m.Seed
	v, err := loaded(g, ccfeatures.Kit, s, m.Seed)
	return v, seat, err
}

// answerTowerDefence appends the first order that is a command: a player has
// one per round.
func answerTowerDefence(dst []byte, _ env.Vector, _ sim.Player, orders []sim.Order) ([]byte, error) {
	for _, o := range orders {
		if o != 0 {
			return tdcommand.Append(dst, o), nil
		}
	}
	return tdcommand.Append(dst, 0), nil
}

// answerTerminal appends the deployment with the unit names of the default
// config, seen from below, as the bot sees the arena.
func answerTerminal(dst []byte, _ env.Vector, p sim.Player, orders []sim.Order) ([]byte, error) {
	names := tmconfig.Of(terminal.DefaultRules()).Shorthands
	return tmframe.AppendAnswer(dst, orders, &names, p), nil
}

func answerCodeCraft(dst []byte, v env.Vector, p sim.Player, orders []sim.Order) ([]byte, error) {
	states, _ := env.States[codecraft.State](v)
	rules, _ := env.Rules[codecraft.State](v)
	g, ok := rules.(*codecraft.Game)
	if !ok {
		return dst, fmt.Errorf("%s has no such state", v.Spec().Info.Name)
	}
	return protocol.AppendAnswer(dst, g, &states[0], p, orders), nil
}
