package gamelists

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/overview"
)

// Journal is a tournament.
type Journal struct {
	Dir  string // its folder
	File string // the name of the journal in it
	Logs string // the name of the folder with the logs of bots in it
	// Open returns the game of a tournament by the rules of each stage. With an ErrRules only films of games that need
	// the rules fail.
	Open func(t *arena.Terms) ([]*Setup, error)
	// Report evaluates the games so far.
	Report func(j *arena.Journal) (*arena.Report, error)
}

// ErrRules marks errors of a tournament whose rules are not known.
var ErrRules = errors.New("the journal does not have the rules of its games")

// stages are the games of the stages of a tournament, or why they are not known.
type stages struct {
	list []*Setup
	why  error
}

// at returns the game of a stage.
func (s *stages) at(stage int) (*Setup, error) {
	if s.why != nil {
		return nil, s.why
	}
	return s.list[min(stage, len(s.list)-1)], nil
}

// Tournament lists the games of a tournament. Games of bots are shown from their replays; games between
// policies are played again.
func Tournament(t *Journal) (*List, error) {
	j, err := arena.ReadJournal(filepath.Join(t.Dir, t.File))
	if err != nil {
		return nil, err
	}
	s := &stages{}
	if s.list, s.why = t.Open(&j.Terms); s.why != nil && !errors.Is(s.why, ErrRules) {
		return nil, s.why
	}
	l := &List{Title: t.Dir, Grows: true, About: sync.OnceValues(func() (*overview.Document, error) { return t.about(j) })}
	for i, x := range Entries(j.Games, players.Shown(j.Players)) {
		l.Games = append(l.Games, &Game{Entry: x, Open: func() (*view.Film, error) { return t.film(s, j, &j.Games[i], &x) }})
	}
	return l, nil
}

// Entries describes games of a tournament of players with these names.
func Entries(games []arena.Played, names []string) (list []view.Entry) {
	for i := range games {
		p := &games[i]
		x := view.Entry{ID: uint64(p.Number), Turns: p.Turns, Status: "over", Winner: -1, Scores: []string{}, Players: []string{}}
		if p.Cut {
			x.Status = "cut"
		}
		best := slices.Max(p.Results)
		for seat, k := range p.Players {
			x.Players = append(x.Players, names[k])
			x.Scores = append(x.Scores, strconv.FormatFloat(p.Scores[seat], 'g', 6, 64))
			if p.Results[seat] == best && best > 0 && x.Status == "over" {
				x.Winner = seat
			}
		}
		list = append(list, x)
	}
	return list
}

// film opens the film of a game.
func (t *Journal) film(s *stages, j *arena.Journal, p *arena.Played, x *view.Entry) (*view.Film, error) {
	var marks []view.Mark
	for _, fault := range p.Faults {
		marks = append(marks, view.Mark{Turn: max(fault.Turn, 0), Kind: "fault", Seat: fault.Seat, Note: strings.TrimSpace(fault.Kind + " " + fault.Text)})
	}
	stage, why := s.at(p.Stage)
	for _, file := range p.Files {
		name := filepath.Join(t.Dir, filepath.FromSlash(file))
		in, err := recordings.Open(context.Background(), name)
		if err != nil {
			continue // another file about the game, such as a log
		}
		in.Close()
		rules := ""
		if in.Engine.Info().RulesMissing {
			if why != nil {
				return nil, why
			}
			rules = stage.Rules
		}
		l, err := Recording(context.Background(), name, func(string) (string, error) { return rules, nil })
		if err != nil {
			return nil, err
		}
		g := l.Games[0]
		shown := *g.Episode
		shown.Policies = x.Players
		f, err := filmOf(g.Of, g.Rules, env.Settings{}, x.ID, "", &shown, marks, nil)
		if err != nil {
			return nil, err
		}
		return f, t.addOutput(f, p, g.Output)
	}
	if why != nil {
		return nil, why
	}
	return stage.again(j, p, x, marks)
}

// again plays a game between policies again and returns its film.
func (s *Setup) again(j *arena.Journal, p *arena.Played, x *view.Entry, marks []view.Mark) (film *view.Film, err error) {
	var specs []string
	for _, k := range p.Players {
		spec, _, _ := strings.Cut(j.Players[k], " #") // the number of an equal player
		if !policy.Begins(s.Game.Name, spec) {
			return nil, fmt.Errorf("game %d: %s is a bot, and the replay of the game is not there", p.Number, spec)
		}
		specs = append(specs, spec)
	}
	var failed error
	err = s.play(context.Background(), specs, j.Terms.Seed, uint64(p.Seed), 1, func(e *rollout.Episode) {
		if arena.SumOf(e) != p.Sum {
			failed = fmt.Errorf("game %d: it goes otherwise when it is played again: another version of the program or other networks played it", p.Number)
			return
		}
		e.Policies = x.Players
		film, failed = filmOf(s.Game, s.Rules, env.Settings{MaxTurns: j.Terms.MaxTurns}, x.ID, "", e, marks, nil)
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return film, nil
}

// about returns the overview of the games so far.
func (t *Journal) about(j *arena.Journal) (*overview.Document, error) {
	if len(j.Games) == 0 {
		return &overview.Document{Sections: []overview.Section{{Title: "Ratings", Text: []string{"No game has ended yet."}}}}, nil
	}
	r, err := t.Report(j)
	if err != nil {
		return nil, err
	}
	r.Rename(players.Shown(j.Players))
	return report.Overview(r, j.Games)
}
