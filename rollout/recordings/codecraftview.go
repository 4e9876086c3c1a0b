package recordings

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/texts"
)

// showView shows a recorded view: the first view of the tick o.Round, or the last view
// of the file if o.Round is below 0.
func showView(name string, in io.Reader, base codecraft.Rules, o ShowOptions) (Position, error) {
	v, first, last, err := findView(name, in, o.Round)
	if err != nil {
		return Position{}, err
	}
	if v == nil {
		return Position{}, o.wrongRound("no view of it; the views are from ticks %d to %d", first, last)
	}
	g, s, err := recording.StateOfView(v, base)
	if err != nil {
		return Position{}, fmt.Errorf("%s: tick %d: %w", name, v.CurrentTick, err)
	}
	shown := Position{Name: "unnamed", Round: int(v.CurrentTick), Rounds: last}
	if o.Draw { // without the entities that s has for players who would be out of the game
		seen, err := stateSeen(v, g)
		if err != nil {
			return Position{}, fmt.Errorf("%s: tick %d: %w", name, v.CurrentTick, err)
		}
		shown.Scene = codecraftScene(g, seen, int(v.MyID)-1)
	}
	switch o.As {
	case "view":
		shown.Text = string(v.AppendLine(nil))
	case "state":
		var world recording.World
		world.Fill(g, s)
		shown.Text = string(world.AppendLine(nil))
	default:
		seen, err := stateSeen(v, g)
		if err != nil {
			return Position{}, fmt.Errorf("%s: tick %d: %w", name, v.CurrentTick, err)
		}
		rules := g.Rules()
		shown.Text = fmt.Sprintf("what player %d sees before tick %d (%s, %s)\n\n", v.MyID, v.CurrentTick,
			texts.Plural(int(rules.Players), "player"), fogText(rules.Fog)) + string(codecraft.AppendText(nil, g, seen))
	}
	return shown, nil
}

// stateSeen returns the state with the entities of a view alone.
func stateSeen(v *protocol.PlayerView, g *codecraft.Game) (*codecraft.State, error) {
	var pos codecraft.Position
	rules, s := g.Rules(), &codecraft.State{}
	return s, errors.Join(v.Position(&pos, &rules), g.Restore(s, &pos))
}

// findView reads all views of a file. It returns a copy of the wanted view, nil if the file does
// not have it, and the least and the greatest tick.
func findView(name string, in io.Reader, tick int) (found *protocol.PlayerView, first, last int, err error) {
	count := 0
	var latest protocol.PlayerView
	err = recording.EachView(name, in, func(v *protocol.PlayerView) error {
		at := int(v.CurrentTick)
		if count++; count == 1 {
			first, last = at, at
		}
		first, last = min(first, at), max(last, at)
		if tick < 0 || at == tick && found == nil {
			properties, players, entities := latest.EntityProperties[:0], latest.Players[:0], latest.Entities[:0]
			latest = *v
			latest.EntityProperties = append(properties, v.EntityProperties...)
			latest.Players, latest.Entities = append(players, v.Players...), append(entities, v.Entities...)
			found = &latest
		}
		return nil
	})
	if err == nil && count == 0 {
		err = fmt.Errorf("%s: it has no views", name)
	}
	if found != nil {
		slices.SortStableFunc(found.Entities, func(a, b protocol.Entity) int { return int(a.ID) - int(b.ID) })
	}
	return found, first, last, err
}

// fogText returns "fog" or its absence as text.
func fogText(fog bool) string {
	if fog {
		return "fog"
	}
	return "no fog"
}
