package gamelists

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/files"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
)

// annotated is a game list whose films have annotations.
type annotated struct {
	view.GameList
	notes map[uint64]*view.Annotation
}

// Film implements view.GameList.
func (a *annotated) Film(id uint64) (*view.Film, error) {
	f, err := a.GameList.Film(id)
	if n := a.notes[id]; n != nil && err == nil {
		f.Annotate(n)
	}
	return f, err
}

// Annotate returns a game list with an annotation of one game, which of makes of its film.
func Annotate(games view.GameList, id uint64, of func(f *view.Film) (*view.Annotation, error)) (view.GameList, error) {
	f, err := games.Film(id)
	if err != nil {
		return nil, err
	}
	n, err := of(f)
	if err != nil {
		return nil, err
	}
	return &annotated{games, map[uint64]*view.Annotation{id: n}}, nil
}

// LogName returns the name of the log of a player of a game, both counted from 1.
func LogName(game, player int) string { return fmt.Sprintf("game-%04d-player-%d.log", game, player) }

// mostLog is the number of bytes of a log that are read: match and eval write at most 10 MiB and one line.
const mostLog = 11 << 20

// ReadLog adds the log of a seat's bot, which match or eval has written, to an output.
func ReadLog(o *view.Output, seat int, file string) error {
	f, err := files.OpenRegular(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(o.Log(seat), io.LimitReader(f, mostLog))
	return err
}

// readOutput adds what the bots printed to the only game of a recording that is a folder.
func (l *List) readOutput(in *recordings.Recording) error {
	if len(l.Games) != 1 {
		return nil
	}
	g := l.Games[0]
	open := g.Open
	g.Output = view.NewOutput(g.Episode.Players)
	g.Open = func() (*view.Film, error) {
		f, err := open()
		if err == nil {
			f.Annotate(&view.Annotation{Output: g.Output})
		}
		return f, err
	}
	return in.EachOutput(func(turn, seat int, text []byte, cut bool) {
		g.Output.Add(turn+1, seat, text)
		if cut {
			g.Output.Add(turn+1, seat, []byte("[the file has more]"))
		}
	})
}

// addOutput adds what the bots printed to the film of a game of a tournament: as its replay has it, or else the logs.
func (t *Journal) addOutput(f *view.Film, p *arena.Played, o *view.Output) error {
	if !o.Any() {
		o = view.NewOutput(len(p.Players))
		for seat, k := range p.Players {
			err := ReadLog(o, seat, filepath.Join(t.Dir, t.Logs, LogName(int(p.Number), k+1)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	f.Annotate(&view.Annotation{Output: o})
	return nil
}
