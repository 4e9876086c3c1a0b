package recordings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"moonfarm/features"
	cckit "moonfarm/features/codecraft"
	"moonfarm/rollout/files"
	"moonfarm/sim"
	"moonfarm/sim/bounded"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
	"moonfarm/sim/codecraft/wire/replay"
	"moonfarm/sim/texts"
)

// codecraftEngine reads and writes replay files of the official runner, and
// reads recordings as JSON Lines.
type codecraftEngine struct{}

// codecraftInfo describes the recordings and the contest.
var codecraftInfo = Info{
	Game:         "codecraft",
	RuleSets:     codecraftRuleSets(),
	RulesMissing: true,
	Counts:       []string{"games", "ticks", "views", "messages"},
	Views:        []string{"text", "view", "state"},
	Single:       "recording",
	Forms:        []*Form{{Name: "replay", Ext: ".replay", Noun: "replay file", Write: writeCodecraft}},
	Score:        "the points of the game, for resources, building and destroying; they decide the places",
	Contest:      []string{"round1", "round1", "round2", "finals"}, // the Sandbox first
	Runner:       true,
}

// Info implements Engine.
func (codecraftEngine) Info() *Info { return &codecraftInfo }

// Holds implements Engine.
func (codecraftEngine) Holds(head []byte) string { return string(recording.KindOf(head)) }

// AppendOrder implements Engine. It appends an order as "12 move 3,4 closest": the entity's id, and what
// it does. An order that adds to the one before it begins with "and".
func (codecraftEngine) AppendOrder(dst []byte, o sim.Order) []byte {
	c := codecraft.Decode(o)
	if c.Op < codecraft.OpStop || c.Op > codecraft.OpRepair {
		return appendBits(dst, o)
	}
	if c.And {
		dst = append(dst, "and "...)
	}
	dst = fmt.Appendf(dst, "%d ", c.ID)
	switch c.Op {
	case codecraft.OpStop:
		return append(dst, "stop"...)
	case codecraft.OpMove:
		dst = fmt.Appendf(dst, "move %d,%d", c.X, c.Y)
		for _, flag := range []struct {
			set  bool
			text string
		}{{c.Outside, " outside"}, {c.Closest, " closest"}, {c.Break, " breaking through"}} {
			if flag.set {
				dst = append(dst, flag.text...)
			}
		}
		return dst
	case codecraft.OpBuild:
		return fmt.Appendf(dst, "build %v %d,%d", c.Type, c.X, c.Y)
	case codecraft.OpAttack:
		return fmt.Appendf(dst, "attack %d", c.Target)
	case codecraft.OpRepair:
		return fmt.Appendf(dst, "repair %d", c.Target)
	}
	dst = fmt.Appendf(dst, "auto attack within %d", c.Range)
	sign := byte(':')
	for t := range codecraft.Type(codecraft.Types) {
		if c.Valid.Has(t) {
			dst, sign = fmt.Appendf(append(dst, sign), " %v", t), ','
		}
	}
	return dst
}

// codecraftRuleSets returns the presets, and after them each preset for other numbers of players.
func codecraftRuleSets() []string {
	sets := codecraft.Presets()
	for _, preset := range codecraft.Presets() {
		for n := 1; n <= sim.MaxPlayers; n++ {
			sets = append(sets, fmt.Sprintf("%s-%d", preset, n))
		}
	}
	return sets
}

// givenCodecraftRules parses the text of rules that a recording does not contain.
func givenCodecraftRules(text string) (codecraft.Rules, error) {
	return givenRules(text, codecraft.ParseRules, (*codecraft.Rules).Validate)
}

// Verify implements Engine.
func (codecraftEngine) Verify(name string, in io.Reader, rules string) (Report, error) {
	base, err := givenCodecraftRules(rules)
	if err != nil {
		return Report{}, err
	}
	report, err := replay.Verify(name, in, base)
	v := Report{
		Counts: map[string]int{
			"games": report.Games, "ticks": report.Ticks, "views": report.Views, "messages": report.Messages, "entities": report.Entities,
		},
		Different: report.Different,
	}
	for i, name := range replay.CountNames {
		v.Counts[strings.ReplaceAll(name, " ", "_")] = report.Counts[i]
	}
	if d := report.First; d != nil {
		field := d.Field
		if d.Entity > 0 {
			field = fmt.Sprintf("entity %d: %s", d.Entity, field)
		}
		v.First = &Difference{Line: d.Line, Round: d.Tick, Field: field, Expected: d.Want, Found: d.Got}
	}
	if file, scores := contradiction(name, report.Scores); err == nil && scores != nil {
		if v.Different++; v.First == nil {
			v.First = &Difference{Round: report.Last, Field: "scores in " + file, Expected: fmt.Sprint(scores), Found: fmt.Sprint(report.Scores)}
		}
	}
	return v, err
}

// codecraftPosition is the position that Show returns.
type codecraftPosition struct {
	first, last int // the ticks of the first and the last state
	game        *codecraft.Game
	state       *codecraft.State
	commands    []string
	attacks     []recording.Event
	scores      []int64 // at the end
	seed        *uint64 // nil if unknown
}

// findCodecraft reads a recording and restores the state before the tick
// o.Round.
func findCodecraft(name string, in io.Reader, base codecraft.Rules, o ShowOptions) (*codecraftPosition, error) {
	r, err := recording.NewReader(name, in)
	if err != nil {
		return nil, err
	}
	p := &codecraftPosition{first: int(r.World.CurrentTick)}
	p.seed = firstSeed(&r.World, base)
	for {
		err := r.Next()
		if err != nil && err != io.EOF {
			return nil, err
		}
		p.last = int(r.World.CurrentTick)
		if p.last == o.Round || o.Round < 0 && err == io.EOF {
			var e error
			if p.game, p.state, e = recording.Restore(&r.World, base); e != nil {
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
		return nil, o.wrongRound("expected %d to %d, or end", p.first, p.last)
	}
	return p, nil
}

// firstSeed returns the seed in the first state of a recording, by the given rules or a preset, or
// nil if it has none.
func firstSeed(w *recording.World, base codecraft.Rules) *uint64 {
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

// codecraftCommands returns the actions that change in a tick, by player.
func codecraftCommands(w *recording.World, d *recording.Delta) []string {
	owners := map[int32]int32{}
	for i := range w.Entities {
		owners[w.Entities[i].ID] = w.Entities[i].PlayerID.Value
	}
	var commands []string
	for _, p := range w.Players {
		var given []protocol.EntityOrder
		for _, list := range [][]protocol.EntityOrder{d.Actions.New, d.Actions.Changed} {
			for _, a := range list {
				if owners[a.ID] == p.ID {
					given = append(given, a)
				}
			}
		}
		commands = append(commands, string(protocol.AppendActions(nil, given)))
	}
	return commands
}

// Show implements Engine: it shows a position of a recorded game.
func (codecraftEngine) Show(name string, in io.Reader, rules string, o ShowOptions) (Position, error) {
	if err := o.check(&codecraftInfo); err != nil {
		return Position{}, err
	}
	base, err := givenCodecraftRules(rules)
	if err != nil {
		return Position{}, err
	}
	p, err := findCodecraft(name, in, base, o)
	if err != nil {
		return Position{}, err
	}
	players := p.game.Info().Players
	if int(o.Seat) >= players {
		return Position{}, wrongSeat(o.Seat, "the game has seats A to %c", 'A'+rune(players-1))
	}
	results, err := readResults(name, o.Results, p.scores)
	if err != nil {
		return Position{}, err
	}
	if results != nil {
		p.seed = &results.Seed
	}
	if p.seed != nil {
		p.state.Seed = *p.seed
	}
	s := Position{Name: "unnamed", Seed: p.seed, Round: int(p.state.Tick), Rounds: p.last, Commands: p.commands}
	if o.Draw {
		s.Scene = &features.Scene{}
		cckit.Kit(p.game).Scene(s.Scene, p.state, o.Viewer)
	}
	if o.As == "view" {
		var view protocol.PlayerView
		protocol.View(&view, p.game, p.state, o.Seat)
		s.Text = string(view.AppendLine(nil))
		return s, nil
	}
	if o.As == "state" {
		var world recording.World
		world.Fill(p.game, p.state)
		s.Text = string(world.AppendLine(nil))
		return s, nil
	}
	s.Text = p.text()
	return s, nil
}

// text returns the position in readable form.
func (p *codecraftPosition) text() string {
	var b strings.Builder
	rules := p.game.Rules()
	seed, fog := "unknown seed", "no fog"
	if p.seed != nil {
		seed = fmt.Sprintf("seed %d", *p.seed)
	}
	if rules.Fog {
		fog = "fog"
	}
	fmt.Fprintf(&b, "before tick %d of %d (%s, %s, %s)\n\n", p.state.Tick, p.last, texts.Plural(int(rules.Players), "player"), fog, seed)
	b.Write(codecraft.AppendText(nil, p.game, p.state))
	for i, c := range p.commands {
		fmt.Fprintf(&b, "p%d commands %s\n", i+1, c)
	}
	for _, a := range p.attacks {
		fmt.Fprintf(&b, "%d attacks %d\n", a.Attacker, a.Victim)
	}
	return b.String()
}

// readResults reads the results file of a CodeCraft recording. It has the seed, which the recording
// lacks. If given is "", the file is the one beside the recording with the same name but another
// ending, such as game.json for game.replay or game.replay.gz; if there is no such file, or it
// belongs to another game, readResults returns nil. The results must have scores, the scores at the
// end of the recording.
func readResults(recording, given string, scores []int64) (*protocol.RunnerResults, error) {
	name := given
	if given == "" {
		name = resultsBeside(recording)
	}
	r, err := parseResults(name, scores)
	if err != nil && given == "" {
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = &OptionError{Option: "results", Err: err}
	}
	return r, err
}

// resultsBeside returns the name of the results file beside a recording.
func resultsBeside(recording string) string {
	base := strings.TrimSuffix(recording, ".gz")
	return strings.TrimSuffix(base, filepath.Ext(base)) + ".json"
}

// contradiction returns the name and the scores of the results file beside the recording of a whole
// game, if they are not the scores at its end, so that other players could have won. The scores are
// nil if there is no such file.
func contradiction(recording string, scores []int64) (file string, other []int64) {
	name := resultsBeside(recording)
	r, err := parseResults(name, scores)
	if scores == nil || !errors.Is(err, errOtherGame) {
		return "", nil
	}
	return filepath.Base(name), r.Results
}

// errOtherGame means that results do not belong to a recording.
var errOtherGame = errors.New("results of another game")

// maxResults bounds results files.
const maxResults = 1 << 20

func parseResults(name string, scores []int64) (*protocol.RunnerResults, error) {
	if s, err := os.Stat(name); err == nil && !s.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: expected a file", name)
	}
	text, err := bounded.ReadFile(files.Open, name, maxResults)
	if err != nil {
		return nil, err
	}
	r, err := protocol.ParseResults(texts.Unmarked(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !slices.Equal(r.Results, scores) {
		return r, fmt.Errorf("%s: scores %v, but the recording ends with %v: %w", name, r.Results, scores, errOtherGame)
	}
	return r, nil
}
