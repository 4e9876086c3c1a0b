package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamelists"
	"moonfarm/env/catalog"
	"moonfarm/rollout/files"
	"moonfarm/rollout/view"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// noteFlags are the flags of view for files about a game.
type noteFlags struct {
	logs     []string
	analysis string
}

// notesHelp is the help on these files.
const notesHelp = `The page shows what bots wrote to standard error, turn by turn, for tournaments
with bots and for match logs of towerdefence; for other recordings --log names
the logs that match --logs wrote. --analysis marks the turns in which the seats
lost most, and plots the value over time, as analyse --json has found them; to a
human who takes over the game it suggests the best orders of the turn.`

// add adds the flags.
func (f *noteFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.logs, "log", nil, "`FILE` that match --logs wrote for the bot of the next seat of a recorded game; \"\" for a seat without one")
	c.Flags().StringVar(&f.analysis, "analysis", "", "`FILE` that analyse --json printed for a game or episode of WHAT")
}

// check refuses the flags where nothing shows what they say. page says that a page is shown, human that a person plays in it.
func (f *noteFlags) check(page, human bool) error {
	switch {
	case page && !human:
	case !page && f.analysis != "":
		return console.WrongUse("--analysis: it is shown on pages of recorded games: without --tty and --gif")
	case len(f.logs) > 0:
		return console.WrongUse("--log: it is shown on pages of recorded games: without --tty, --gif and human")
	}
	return nil
}

// openNoted opens WHAT with the files about its games.
func (v *viewFlags) openNoted(c *cobra.Command, what string) (view.GameList, error) {
	games, err := v.open(c, what)
	n := &v.notes
	if err != nil || n.analysis == "" && len(n.logs) == 0 {
		return games, err
	}
	if _, err := catalog.Find(what); err == nil && (v.players != "" || len(v.player) > 0) {
		return nil, console.WrongUse("--analysis and --log are for recorded games, %s is played now", what)
	}
	if isTournament(what) {
		return nil, console.WrongUse("--analysis and --log are for recordings and datasets, %s is a tournament, which has its own logs", what)
	}
	isDataset, err := holdsDataset(what)
	switch {
	case err != nil:
		return nil, err
	case isDataset && len(n.logs) > 0:
		return nil, console.WrongUse("--log is for recordings; %s is a dataset", what)
	}
	if len(n.logs) > 0 {
		if games, err = n.addLogs(games, what); err != nil {
			return nil, err
		}
	}
	if n.analysis != "" {
		if games, err = v.addAnalysis(games, what, isDataset); err != nil {
			return nil, fmt.Errorf("--analysis %s: %w", n.analysis, err)
		}
	}
	return games, nil
}

// addLogs adds the logs to the only game.
func (f *noteFlags) addLogs(games view.GameList, what string) (view.GameList, error) {
	list, total, err := games.Games(view.Query{Count: 1})
	if err != nil {
		return nil, err
	}
	if total != 1 {
		return nil, console.WrongUse("--log: %s has %s; choose the one of the logs by --episodes", what, texts.Plural(total, "game"))
	}
	return gamelists.Annotate(games, list[0].ID, func(film *view.Film) (*view.Annotation, error) {
		if len(f.logs) > film.Seats() {
			return nil, console.WrongUse("--log: found %d, the game has %s", len(f.logs), texts.Plural(film.Seats(), "seat"))
		}
		n := &view.Annotation{Output: view.NewOutput(film.Seats())}
		for seat, file := range f.logs {
			if file == "" {
				continue
			}
			if err := gamelists.ReadLog(n.Output, seat, file); err != nil {
				return nil, fmt.Errorf("--log: %w", err)
			}
		}
		return n, nil
	})
}

// mostAnalysis bounds an analysis in bytes: a game of CodeCraft with all orders of four seats has some tens of millions.
const mostAnalysis = 256 << 20

// readAnalysis reads what analyse has found, and the number of its game in a list.
func (f *noteFlags) readAnalysis(isDataset bool) (d *analysed, id uint64, err error) {
	text, err := bounded.ReadFile(files.Open, f.analysis, mostAnalysis)
	if err != nil {
		return nil, 0, err
	}
	d = &analysed{what: "game"}
	if err := json.Unmarshal(texts.Unmarked(text), d); err != nil {
		return nil, 0, fmt.Errorf("expected the object that analyse --json prints: %w", err)
	}
	if d.Game == "" || d.Length < 1 || len(d.Seats) == 0 {
		return nil, 0, errors.New("expected the object that analyse --json prints, found one without game, length or seats")
	}
	if id = d.Number; isDataset {
		d.what = "episode"
	} else if id--; d.Number == 0 {
		return nil, 0, errors.New("it is an analysis of an episode, or damaged: games of recordings have numbers from 1")
	}
	return d, id, nil
}

// addAnalysis adds what analyse has found to its game.
func (v *viewFlags) addAnalysis(games view.GameList, what string, isDataset bool) (view.GameList, error) {
	d, id, err := v.notes.readAnalysis(isDataset)
	if err != nil {
		return nil, err
	}
	if total := games.Head().Total; len(v.only) == 0 && id >= total {
		return nil, fmt.Errorf("it is of %s %d, %s has %s", d.what, d.Number, what, texts.Plural(total, d.what))
	}
	if len(v.only) > 0 && !slices.Contains(v.only, id) {
		return nil, fmt.Errorf("it is of %s %d, which --episodes leaves out", d.what, d.Number)
	}
	noted, err := gamelists.Annotate(games, id, func(film *view.Film) (*view.Annotation, error) {
		if err := d.fits(film, what); err != nil {
			return nil, err
		}
		return d.annotation(film), nil
	})
	if noted == nil && err != nil {
		err = fmt.Errorf("it is of %s %d: %w", d.what, d.Number, err)
	}
	return noted, err
}

// advice returns the best orders that analyse has found for a seat in a turn of a recorded game, nil where it has none.
func (f *noteFlags) advice(g *gamelists.Game, what string) (func(turn, seat int) []string, error) {
	if f.analysis == "" {
		return nil, nil
	}
	d, id, err := f.readAnalysis(false)
	if err == nil && id != g.Entry.ID {
		err = fmt.Errorf("it is of game %d, the players take over game %d", d.Number, g.Entry.ID+1)
	}
	if err == nil {
		var film *view.Film
		if film, err = g.Open(); err == nil {
			err = d.fits(film, what)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("--analysis %s: %w", f.analysis, err)
	}
	return func(turn, seat int) []string {
		if i, ok := d.find(turn); ok {
			return d.Turns[i].Seats[seat].Best.Orders
		}
		return nil
	}, nil
}

// fits returns an error if the analysis is not one of the film's game, or contradicts itself.
func (d *analysed) fits(film *view.Film, what string) error {
	if err := d.belongs(film); err != nil {
		return fmt.Errorf("it belongs to another game than %s %d of %s: %w", d.what, d.Number, what, err)
	}
	if err := d.sound(); err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	return nil
}

// belongs returns an error if the analysis is not one of the film's game.
func (d *analysed) belongs(film *view.Film) error {
	names := film.Players()
	switch {
	case d.Game != film.Game():
		return fmt.Errorf("it is of %.40q, the game is one of %s", d.Game, film.Game())
	case d.Length != film.Turns():
		return fmt.Errorf("it has %s, the game has %d", texts.Plural(d.Length, "turn"), film.Turns())
	case len(d.Seats) != len(names):
		return fmt.Errorf("it has %s, the game has %d", texts.Plural(len(d.Seats), "seat"), len(names))
	}
	for p, s := range d.Seats {
		if want := string([]rune(names[p])); s.Player != want { // JSON has no invalid UTF-8
			return fmt.Errorf("its player at seat %s is %.100q, that of the game %.100q", seatName(p), s.Player, want)
		}
	}
	return nil
}

// sound returns an error if the seats or turns contradict each other.
func (d *analysed) sound() error {
	last := -1
	for _, t := range d.Turns {
		if t.Turn <= last || t.Turn >= d.Length {
			return fmt.Errorf("turn %d after turn %d of %d", t.Turn, last, d.Length)
		}
		if last = t.Turn; len(t.Seats) != len(d.Seats) {
			return fmt.Errorf("turn %d has %s", t.Turn, texts.Plural(len(t.Seats), "seat"))
		}
		for p, m := range t.Seats {
			if m.Seat != p || !within(2, m.Value, m.Played.Value, m.Best.Value) || !within(4, m.Lost) {
				return fmt.Errorf("turn %d, seat %s: another seat, or values out of their range", t.Turn, seatName(p))
			}
		}
	}
	for p, s := range d.Seats {
		if s.Seat != p {
			return fmt.Errorf("seat %d where seat %d belongs", s.Seat, p)
		}
		for _, turn := range s.Worst {
			if _, ok := d.find(turn); !ok {
				return fmt.Errorf("turn %d is among the worst turns of seat %s, but not among the turns", turn, seatName(p))
			}
		}
	}
	return nil
}

// within reports whether no value is farther from 0 than a limit.
func within(limit float64, values ...float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !(math.Abs(v) <= limit) })
}

// find returns the index of a turn.
func (d *analysed) find(turn int) (int, bool) {
	return slices.BinarySearchFunc(d.Turns, turn, func(t analysedTurn, n int) int { return cmp.Compare(t.Turn, n) })
}

// annotation returns the worst turns as marks, and the value over time as a series.
func (d *analysed) annotation(film *view.Film) *view.Annotation {
	n := &view.Annotation{}
	for p, s := range d.Seats {
		for _, turn := range s.Worst {
			i, _ := d.find(turn)
			n.Marks = append(n.Marks, view.Mark{Turn: turn, Kind: "worst", Seat: p, Note: d.Turns[i].Seats[p].note()})
		}
	}
	slices.SortStableFunc(n.Marks, func(a, b view.Mark) int { return cmp.Compare(a.Turn, b.Turn) })
	name := gamelists.SearchValue
	if film.HasSeries(name) {
		name += " of the analysis"
	}
	values := slices.Repeat([]float32{float32(math.NaN())}, d.Length*len(d.Seats))
	for _, t := range d.Turns {
		for p, m := range t.Seats {
			values[t.Turn*len(d.Seats)+p] = float32(m.Value)
		}
	}
	n.Series = []view.Series{{Name: name, Unit: gamelists.SearchUnit, Values: values}}
	return n
}

// maxNote is the number of characters for the played or the best orders in a mark.
const maxNote = 100

// note returns the text of a mark.
func (a *analysedMove) note() string {
	side := func(o *analysedOrders) string {
		text := []rune(texts.OneLine(o.text()))
		if len(text) > maxNote {
			text = append(text[:maxNote-1], '…')
		}
		return fmt.Sprintf("%s (%s)", string(text), signed(o.Value))
	}
	return fmt.Sprintf("lost %s: played %s, best %s", strings.TrimPrefix(signed(a.Lost), "+"), side(&a.Played), side(&a.Best))
}
