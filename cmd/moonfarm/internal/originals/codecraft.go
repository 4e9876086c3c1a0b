package originals

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire"
)

// codecraftTools reads and writes replay files of the official runner, and
// reads recordings as JSON Lines.
var codecraftTools = Game{
	Game:        "codecraft",
	Score:       "the points of the game, for resources, building and destroying; they decide the places",
	RulesFile:   "rule values, a key=value a line",
	RuleSets:    codecraftRuleSets(),
	Contest:     []string{"round1", "round1", "round2", "finals"}, // the Sandbox first
	Holds:       func(head []byte) string { return string(wire.KindOf(head)) },
	Verify:      verifyCodecraft,
	Counts:      []string{"games", "ticks", "views", "messages"},
	Forms:       []string{"text", "view", "state"},
	single:      "recording",
	shows:       []string{string(wire.HoldsViews), string(wire.HoldsMessages)},
	show:        showCodecraft,
	Read:        readCodecraft,
	Writes:      []Form{{Name: "replay", Ext: ".replay", What: "replay file", Write: writeCodecraft}},
	RulesUntold: true,
	Config:      true,
	Results:     true,
	Help: toolHelp{
		Imports: "replay files of the original's form, and recorded games as JSON Lines. A replay that match or replay convert wrote tells its seed, " +
			"as does a results file, game.json, beside game.replay: such a game is played again. No replay says what an entity was told " +
			"in the tick of its death: orders that do what is recorded stand for it, and up to 2,000 ways are tried in a tick. " +
			"If the seed is not known, or the game does not go as recorded from it, the episode is the recording itself: the rows are those " +
			"of the recorded states, every transition is checked by the rules, and verify --recompute checks them again. " +
			"A recording that ends between two ticks makes a truncated episode.",
		Convert: "replay: files of the original engine, with the state at the start and the events and changes of every tick, but no names.",
		Verify: "Every tick is checked by itself, as its chance cannot be played again: what was done must be what the rules allow, and what came " +
			"of it must be what follows. Views of players and messages to them can be checked, too: as JSON Lines, or messages as raw " +
			"bytes, one behind the other, as bots log them (.bin).",
		Show: "The round is a tick. --as takes text (players, map, units with their stored actions, then the commands and attacks of the tick), " +
			"view (what the player at the seat is shown, as a line of JSON) and state (a state file of one line of JSON, for a game to begin with). " +
			"Files of views and of messages to a client (.bin) are shown, too: what their player sees, whatever --seat says; state then has " +
			"nothing where the player does not see, but for one entity of each player who would be out of the game. " +
			"Commands are objects with the new action of each entity by its id, in the frame of the world.",
		More: codecraftCounts(),
	},
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

// givenCodecraftRules reads the rules that a recording does not tell.
func givenCodecraftRules(text string) (codecraft.Rules, error) {
	return givenRules(text, codecraft.ParseRules, (*codecraft.Rules).Validate)
}

// codecraftCounts are the keys of the counts of wire.CountNames, and of the
// entities in views.
func codecraftCounts() (keys []string) {
	for _, name := range wire.CountNames {
		keys = append(keys, strings.ReplaceAll(name, " ", "_"))
	}
	return append(keys, "entities")
}

func verifyCodecraft(name string, in io.Reader, rules string) (Replayed, error) {
	base, err := givenCodecraftRules(rules)
	if err != nil {
		return Replayed{}, err
	}
	report, err := wire.Verify(name, in, base)
	v := Replayed{
		Counts: map[string]int{
			"games": report.Games, "ticks": report.Ticks, "views": report.Views, "messages": report.Messages, "entities": report.Entities,
		},
		Different: report.Different,
	}
	for i, name := range codecraftCounts()[:wire.Counts] {
		v.Counts[name] = report.Counts[i]
	}
	if d := report.First; d != nil {
		field := d.Field
		if d.Entity > 0 {
			field = fmt.Sprintf("entity %d: %s", d.Entity, field)
		}
		v.First = &Difference{Line: d.Line, Round: d.Tick, Field: field, Expected: d.Want, Found: d.Got}
	}
	return v, err
}

// codecraftPosition is what show shows of a recording.
type codecraftPosition struct {
	first, last int // ticks before and after which there are states
	game        *codecraft.Game
	state       *codecraft.State
	commands    []string
	attacks     []wire.Event
	scores      []int64 // at the end
	seed        *uint64 // nil: not known
}

// findCodecraft reads a recording and restores the state before the tick
// o.Round.
func findCodecraft(name string, in io.Reader, base codecraft.Rules, o ShowOptions) (*codecraftPosition, error) {
	r, err := wire.NewRecording(name, in)
	if err != nil {
		return nil, err
	}
	p := &codecraftPosition{first: int(r.World.CurrentTick)}
	p.seed = toldSeed(&r.World, base)
	for {
		err := r.Next()
		if err != nil && err != io.EOF {
			return nil, err
		}
		p.last = int(r.World.CurrentTick)
		if p.last == o.Round || o.Round < 0 && err == io.EOF {
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
	for _, player := range r.World.Players {
		p.scores = append(p.scores, int64(player.Score))
	}
	if p.state == nil {
		return nil, cli.WrongUse("--%s %d: expected %d to %d, or end", o.RoundFlag, o.Round, p.first, p.last)
	}
	return p, nil
}

// toldSeed is the seed that the first state of a recording tells, nil if it does
// not: under the given rules, or those of a preset.
func toldSeed(w *wire.World, base codecraft.Rules) *uint64 {
	bases := []codecraft.Rules{base}
	for _, name := range codecraft.Presets() {
		preset, _ := codecraft.Preset(name)
		bases = append(bases, preset)
	}
	for _, b := range bases {
		rules, err := w.Rules(b)
		if err != nil {
			return nil
		}
		if g, err := codecraft.New(rules); err == nil {
			if seed, ok := w.Seed(g); ok {
				return &seed
			}
		}
	}
	return nil
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

// showCodecraft shows a position of a recorded game, or a recorded view.
func showCodecraft(name string, in io.Reader, rules string, o ShowOptions) (Shown, error) {
	base, err := givenCodecraftRules(rules)
	if err != nil {
		return Shown{}, err
	}
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	if kind := wire.KindOf(head); kind == wire.HoldsViews || kind == wire.HoldsMessages {
		return showView(name, b, base, o)
	}
	in = b
	p, err := findCodecraft(name, in, base, o)
	if err != nil {
		return Shown{}, err
	}
	players := p.game.Info().Players
	if int(o.Seat) >= players {
		return Shown{}, cli.WrongUse("--seat %c: the game has seats A to %c", 'A'+rune(o.Seat), 'A'+rune(players-1))
	}
	results, err := readResults(name, o.Results, p.scores)
	if err != nil {
		return Shown{}, err
	}
	if results != nil {
		p.seed = &results.Seed
	}
	if p.seed != nil {
		p.state.Seed = *p.seed
	}
	s := Shown{Name: "unnamed", Seed: p.seed, Round: int(p.state.Tick), Rounds: p.last, Commands: p.commands}
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
	seed := "seed not known"
	if p.seed != nil {
		seed = fmt.Sprintf("seed %d", *p.seed)
	}
	fmt.Fprintf(&b, "before tick %d of %d (%s, %s, %s)\n\n", p.state.Tick, p.last, cli.Plural(int(rules.Players), "player"), fogText(rules.Fog), seed)
	b.Write(codecraft.AppendText(nil, p.game, p.state))
	for i, c := range p.commands {
		fmt.Fprintf(&b, "p%d commands %s\n", i+1, c)
	}
	for _, a := range p.attacks {
		fmt.Fprintf(&b, "%d attacks %d\n", a.Attacker, a.Victim)
	}
	return b.String()
}

// readResults reads the results file of a recording of codecraft, which has the
// seed that the recording has no place for: the file given, or, if that is "",
// the one beside the recording whose name differs in its ending alone, as
// game.json does from game.replay or game.replay.gz. Without one, or if the one
// beside is of something else, it returns nil. scores are those at the end of
// the recording: the results must have the same.
func readResults(recording, given string, scores []int64) (*wire.Results, error) {
	name := given
	if given == "" {
		base := strings.TrimSuffix(recording, ".gz")
		name = strings.TrimSuffix(base, filepath.Ext(base)) + ".json"
	}
	r, err := parseResults(name, scores)
	if err != nil && given == "" {
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.WrongUse("--results: %w", err)
	}
	return r, err
}

// maxResults bounds results files.
const maxResults = 1 << 20

func parseResults(name string, scores []int64) (*wire.Results, error) {
	if s, err := os.Stat(name); err == nil && !s.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: expected a file", name)
	}
	text, err := readSmall(name, maxResults)
	if err != nil {
		return nil, err
	}
	r, err := wire.ParseResults(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !slices.Equal(r.Results, scores) {
		return nil, fmt.Errorf("%s: scores %v, but the recording ends with %v: results of another game", name, r.Results, scores)
	}
	return r, nil
}
