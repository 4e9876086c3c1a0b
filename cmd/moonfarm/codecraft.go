package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
)

// codecraftTools reads and writes replay files of the official runner, and
// reads recordings as JSON Lines.
var codecraftTools = gameTools{
	game:      "codecraft",
	rulesFile: "rule values, a key=value a line",
	ruleSets:  codecraftRuleSets(),
	holds:     func(head []byte) string { return string(wire.KindOf(head)) },
	verify:    verifyCodecraft,
	counts:    []string{"games", "ticks", "views", "messages"},
	forms:     []string{"text", "view", "state"},
	show:      showCodecraft,
	write:     writeCodecraft,
	replayExt: ".replay",
}

// codecraftRuleSets are the presets, then those for other numbers of players.
func codecraftRuleSets() []string {
	sets := codecraft.Presets()
	for _, preset := range codecraft.Presets() {
		for n := 1; n <= sim.MaxPlayers; n++ {
			sets = append(sets, fmt.Sprintf("%s-%d", preset, n))
		}
	}
	return sets
}

// codecraftRules reads the rules that a recording does not tell.
func codecraftRules(text string) (codecraft.Rules, error) {
	r, err := codecraft.ParseRules([]byte(text))
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return r, wrongUse("--rules: %w", err)
	}
	return r, nil
}

func verifyCodecraft(name string, in io.Reader, rules string) (replayed, error) {
	base, err := codecraftRules(rules)
	if err != nil {
		return replayed{}, err
	}
	report, err := wire.Verify(name, in, base)
	v := replayed{
		Counts: map[string]int{
			"games": report.Games, "ticks": report.Ticks, "views": report.Views, "messages": report.Messages, "entities": report.Entities,
		},
		Different: report.Different,
	}
	for i, n := range report.Counts {
		v.Counts[strings.ReplaceAll(wire.CountNames[i], " ", "_")] = n
	}
	if d := report.First; d != nil {
		field := d.Field
		if d.Entity > 0 {
			field = fmt.Sprintf("entity %d: %s", d.Entity, field)
		}
		v.First = &difference{Line: d.Line, Round: d.Tick, Field: field, Expected: d.Want, Found: d.Got}
	}
	return v, err
}

// writeCodecraft writes an episode as a replay file.
func writeCodecraft(out io.Writer, e *rollout.Episode, rules string) error {
	r, err := codecraft.ParseRules([]byte(rules))
	if err != nil {
		return err
	}
	g, err := codecraft.New(r)
	if err != nil {
		return err
	}
	s := new(codecraft.State)
	g.Reset(s, e.Seed)
	buffered := bufio.NewWriterSize(out, 1<<16)
	rec := wire.NewRecorder(buffered, g, s)
	turn := sim.NewTurn(0)
	status := sim.Running
	for t := range e.Turns {
		for p := range sim.Player(e.Players) {
			turn.Set(p, e.OrdersOf(t, p))
		}
		status = g.Step(s, turn)
		if err := rec.Tick(s); err != nil {
			return err
		}
	}
	if status == sim.Running {
		status = sim.Cut
	}
	same := status == e.Status
	for p := range sim.Player(e.Players) {
		same = same && g.Outcome(s, p) == e.Outcome[p]
	}
	if !same {
		return errors.New("the episode does not end as it is recorded: other rules, or a damaged dataset")
	}
	if err := rec.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

// codecraftPosition is what show shows of a recording.
type codecraftPosition struct {
	first, last int // ticks before and after which there are states
	game        *codecraft.Game
	state       *codecraft.State
	commands    []string
	attacks     []wire.Event
}

// findCodecraft reads a recording and restores the state before a tick, or, for
// tick −1, the last.
func findCodecraft(name string, in io.Reader, base codecraft.Rules, tick int) (*codecraftPosition, error) {
	r, err := wire.NewRecording(name, in)
	if err != nil {
		return nil, err
	}
	p := &codecraftPosition{first: int(r.World.CurrentTick)}
	for {
		err := r.Next()
		if err != nil && err != io.EOF {
			return nil, err
		}
		p.last = int(r.World.CurrentTick)
		if p.last == tick || tick < 0 && err == io.EOF {
			if e := p.restore(&r.World, base); e != nil {
				return nil, fmt.Errorf("recording %s: tick %d: %w", name, p.last, e)
			}
			if err == nil {
				p.commands = codecraftCommands(&r.World, &r.Delta)
				p.attacks = append(p.attacks, r.Events...)
			}
		}
		if err == io.EOF {
			break
		}
	}
	if p.state == nil {
		return nil, wrongUse("--round %d: expected %d to %d, or end", tick, p.first, p.last)
	}
	return p, nil
}

// restore makes a state of a world.
func (p *codecraftPosition) restore(w *wire.World, base codecraft.Rules) error {
	rules, err := w.Rules(base)
	if err != nil {
		return err
	}
	if p.game, err = codecraft.New(rules); err != nil {
		return err
	}
	var pos codecraft.Position
	if err := w.Position(&pos, &rules); err != nil {
		return err
	}
	p.state = new(codecraft.State)
	return p.game.Restore(p.state, &pos)
}

// codecraftCommands are the actions that change in a tick, by player.
func codecraftCommands(w *wire.World, d *wire.Delta) []string {
	owners := map[int32]int32{}
	for i := range w.Entities {
		owners[w.Entities[i].ID] = w.Entities[i].PlayerID.Value
	}
	var commands []string
	for _, p := range w.Players {
		var given []wire.EntityOrder
		for _, list := range [][]wire.EntityOrder{d.Actions.New, d.Actions.Changed} {
			for _, a := range list {
				if owners[a.ID] == p.ID {
					given = append(given, a)
				}
			}
		}
		commands = append(commands, string(wire.AppendActions(nil, given)))
	}
	return commands
}

// showCodecraft shows a position of a recorded game.
func showCodecraft(name string, in io.Reader, rules string, o showOptions) (shown, error) {
	base, err := codecraftRules(rules)
	switch {
	case err != nil:
		return shown{}, err
	case o.Game > 1:
		return shown{}, wrongUse("--game %d: expected 1, a recording has one game", o.Game)
	case o.Frame >= 0:
		return shown{}, wrongUse("--frame %d: codecraft has no frames", o.Frame)
	}
	p, err := findCodecraft(name, in, base, o.Round)
	if err != nil {
		return shown{}, err
	}
	players := p.game.Info().Players
	if int(o.Seat) >= players {
		return shown{}, wrongUse("--seat %c: the game has seats A to %c", 'A'+rune(o.Seat), 'A'+rune(players-1))
	}
	s := shown{Name: "unnamed", Round: int(p.state.Tick), Rounds: p.last, Commands: p.commands}
	if o.As == "view" {
		var view wire.PlayerView
		wire.View(&view, p.game, p.state, o.Seat)
		s.Text = string(view.AppendLine(nil))
		return s, nil
	}
	if o.As == "state" {
		var world wire.World
		world.Fill(p.game, p.state)
		s.Text = string(world.AppendLine(nil))
		return s, nil
	}
	s.Text = p.text()
	return s, nil
}

// text is a position as people read it.
func (p *codecraftPosition) text() string {
	var b strings.Builder
	rules := p.game.Rules()
	fog := "no fog"
	if rules.Fog {
		fog = "fog"
	}
	fmt.Fprintf(&b, "before tick %d of %d (%s, %s)\n\n", p.state.Tick, p.last, plural(int(rules.Players), "player"), fog)
	b.Write(codecraft.AppendText(nil, p.game, p.state))
	for i, c := range p.commands {
		fmt.Fprintf(&b, "p%d commands %s\n", i+1, c)
	}
	for _, a := range p.attacks {
		fmt.Fprintf(&b, "%d attacks %d\n", a.Attacker, a.Victim)
	}
	return b.String()
}
