package arena

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"moonfarm/rollout/filelock"
	"moonfarm/rollout/files"
	"moonfarm/sim/texts"
)

// JournalVersion is the version of the journal format. Journals of version 1, whose lines have no
// checksums, and of version 2, whose terms lack the texts of the rules, can be read, and are continued
// in their version.
const JournalVersion = 3

// Terms are the values that all games of a journal share. The first line of a journal has them as
// JSON.
type Terms struct {
	Journal  int    `json:"journal"` // JournalVersion
	Game     string `json:"game"`
	Rules    string `json:"rules"`        // version
	RulesSum string `json:"rules_sha256"` // of the rules' text
	Seed     uint64 `json:"seed,string"`
	MaxTurns int    `json:"max_turns"`
	Schedule string `json:"schedule"`
	// GameTurns is the most turns of a game under the rules, in any stage; 0 if not known, as in
	// version 1.
	GameTurns int `json:"game_turns,omitempty"`
	// RulesTexts are the canonical texts of the rules of each stage; nil before version 3.
	RulesTexts []string `json:"rules_texts,omitempty"`
}

// Journal is a file with one line of JSON for every game of a tournament, in the order of the
// schedule. Each line ends with its checksum, "check". A killed program leaves whole lines and
// perhaps the beginning of another; OpenJournal removes that, and the tournament continues after
// the whole lines. The bytes depend neither on when games between policies were played nor on the
// number of workers.
type Journal struct {
	Terms   Terms
	Players []string // all players so far, in the order in which they entered
	Games   []Played // the games read from the file; their Players are indices into Journal.Players
	// Joined has for each player the first round that had no game yet when the player entered.
	Joined []int

	file    *os.File
	release func() // releases the lock
	buf     *bufio.Writer
	seen    map[int64]bool // game numbers so far
	name    string
	key     []byte // the first line; every checksum covers it
	at      []int  // by game: its line number
}

// playersLine is a line that adds players after the earlier ones.
type playersLine struct {
	Players []string `json:"players"`
}

type gameLine struct {
	Game    int64     `json:"game"` // number in the schedule
	Seed    int       `json:"seed"` // index of the seed, from 0
	Round   int       `json:"round,omitempty"`
	Stage   int       `json:"stage,omitempty"`
	Seats   []string  `json:"seats"` // player by seat
	Results []float32 `json:"results"`
	Scores  []float64 `json:"scores"`
	Turns   int       `json:"turns"`
	End     string    `json:"end"`             // "over", or "cut" by the turn limit
	Clock   bool      `json:"clock,omitempty"` // the shorter thinking time decided
	Sum     string    `json:"sum"`             // digest of orders, length and outcome; 16 hexadecimal digits
	Faults  []Fault   `json:"faults,omitempty"`
	Seconds []float64 `json:"seconds,omitempty"`
	Files   []string  `json:"files,omitempty"`
	Box     string    `json:"box,omitempty"`
}

// How a game ended, in a journal.
const (
	endOver = "over"
	endCut  = "cut"
)

// maxLine bounds a line of a journal in bytes: texts of faults are short, and files few.
const maxLine = 1 << 20

// OpenJournal opens the journal of a tournament for more games, or creates the file. It fails if
// the file has other terms, cannot be read, or is in use according to locks (nil: flock, or lock
// files where there is none).
func OpenJournal(name string, terms Terms, locks *filelock.Locker) (*Journal, error) {
	terms.Journal = JournalVersion
	if err := files.CheckRegular(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	j := &Journal{Terms: terms, name: name, file: f, buf: bufio.NewWriterSize(f, 1<<16)}
	if j.release, err = lock(locks, name); err == nil {
		if err = j.resume(terms); err != nil {
			j.release()
		}
	}
	if err != nil {
		f.Close()
		return nil, journalError(name, err)
	}
	return j, nil
}

// journalError adds the place of an error to it: FILE:LINE if a line is wrong.
func journalError(name string, err error) error {
	if bad, ok := errors.AsType[*lineError](err); ok {
		return fmt.Errorf("journal %s:%d: %w", name, bad.line, bad)
	}
	return fmt.Errorf("journal %s: %w", name, err)
}

// lockWait is how long OpenJournal waits for a lock. If a program was killed while it started a
// bot, the bot's new process holds the lock for a moment.
const lockWait = 3 * time.Second

// lock locks a journal, so that no other program writes to it.
func lock(locks *filelock.Locker, name string) (release func(), err error) {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		release, err := locks.Lock(name, false)
		switch {
		case !errors.Is(err, filelock.ErrHeld):
			return release, err
		case time.Since(begin) > lockWait:
			return nil, fmt.Errorf("another tournament is writing to it%s", filelock.Detail(err))
		}
	}
}

// ReadJournal reads a journal. It ignores an incomplete last line, which is still being written.
func ReadJournal(name string) (*Journal, error) {
	f, err := files.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	j := &Journal{name: name}
	if _, err := j.read(f); err != nil {
		return nil, journalError(name, err)
	}
	if j.Terms.Journal == 0 {
		return nil, fmt.Errorf("journal %s: it is empty", name)
	}
	return j, nil
}

// resume reads the file and cuts it off after its last whole line.
func (j *Journal) resume(terms Terms) error {
	j.Terms = Terms{}
	end, err := j.read(j.file)
	if err != nil {
		return err
	}
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	if _, err := j.file.Seek(end, io.SeekStart); err != nil {
		return err
	}
	if j.Terms.Journal == 0 { // it is empty
		j.Terms = terms
		return j.line(terms)
	}
	terms.Journal = j.Terms.Journal // an old journal keeps its format
	if j.Terms.Journal < 3 {
		terms.RulesTexts = nil
	}
	if j.Terms.Journal < 2 {
		if err := j.checkTurns(terms.GameTurns); err != nil {
			return err
		}
		terms.GameTurns = 0
	}
	if text(j.Terms) != text(terms) {
		found := j.Terms
		found.RulesTexts, terms.RulesTexts = nil, nil // long, and they have the checksum
		return fmt.Errorf("it belongs to another tournament: its terms are %s, expected %s", text(found), text(terms))
	}
	return nil
}

func text(t Terms) string {
	b, _ := json.Marshal(t) // numbers and strings: cannot fail
	return string(b)
}

// read reads all whole lines and returns the offset of their end. If lines are damaged, the error
// is about the first and lists the others.
func (j *Journal) read(in io.Reader) (end int64, err error) {
	j.seen = map[int64]bool{}
	lines := bufio.NewReaderSize(in, 1<<16)
	var one []byte
	var bad *lineError
	for n := 1; ; n++ {
		one, err = readLine(lines, one[:0])
		switch {
		case err == io.EOF && overfull(one):
			err = errDamaged // the line had a checksum and more after it, so its newline was lost
		case err == io.EOF && bad != nil:
			return end, bad
		case err == io.EOF:
			return end, nil
		case err == nil:
			err = j.take(one, n)
		}
		if err != nil {
			if bad != nil {
				bad.others = append(bad.others, n)
			} else {
				bad = &lineError{line: n, err: err}
			}
			if n == 1 || errors.Is(err, errLong) || len(bad.others) >= mostBad {
				return end, bad
			}
		}
		end += int64(len(one))
	}
}

// readLine appends the next line to one. The error is io.EOF if no newline ends it.
func readLine(lines *bufio.Reader, one []byte) ([]byte, error) {
	for {
		part, err := lines.ReadSlice('\n')
		one = append(one, part...)
		switch {
		case len(one) > maxLine:
			return one, errLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return one, err
		}
	}
}

// take adds the content of line n.
func (j *Journal) take(one []byte, n int) error {
	if n == 1 {
		return j.begin(one)
	}
	one, err := j.checked(one)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(one, []byte(`{"players":`)) {
		var p playersLine
		if err := decodeLine(one, &p); err != nil {
			return fmt.Errorf("expected players: %w", err)
		}
		return j.enter(p.Players)
	}
	var g gameLine
	if err := decodeLine(one, &g); err != nil {
		return fmt.Errorf("expected a game: %w", err)
	}
	p, err := j.played(&g)
	if err == nil && j.seen[p.Number] {
		err = fmt.Errorf("game %d occurs twice", p.Number)
	}
	if err != nil {
		return err
	}
	j.seen[p.Number] = true
	j.Games, j.at = append(j.Games, p), append(j.at, n)
	return nil
}

// begin reads the first line, the terms.
func (j *Journal) begin(one []byte) error {
	one = texts.Unmarked(one)
	body, check, ok := cutCheck(one)
	if !ok {
		body = one
	}
	if err := decodeLine(body, &j.Terms); err != nil {
		return fmt.Errorf("expected the terms of a tournament: %w", err)
	}
	switch v := j.Terms.Journal; {
	case v < 1 || v > JournalVersion:
		return fmt.Errorf("version %d of the journal format, expected %d", v, JournalVersion)
	case j.Terms.Schedule == "ladder":
		return errors.New("its schedule is ladder, which no longer exists; play a new tournament, such as with --schedule gauntlet")
	case v == 1 && ok, v > 1 && (!ok || check != sumOf(nil, body)):
		return errDamaged
	}
	j.key = bytes.Clone(body)
	return nil
}

func (j *Journal) enter(players []string) error {
	for _, name := range players {
		if slices.Contains(j.Players, name) {
			return fmt.Errorf("player %q has entered already", name)
		}
		j.Players = append(j.Players, name)
	}
	j.join()
	return nil
}

// join sets Joined for players that have just entered.
func (j *Journal) join() {
	next := 0
	for i := range j.Games {
		next = max(next, j.Games[i].Round+1)
	}
	for len(j.Joined) < len(j.Players) {
		j.Joined = append(j.Joined, next)
	}
}

// Enter adds the players that have not entered yet. It returns for each player of the journal the
// index of that player in the list: Journal.Players[i] is players[order[i]]. It fails if two players
// have the same name, or if the list lacks a player of the journal.
func (j *Journal) Enter(players []string) (order []int, err error) {
	for _, name := range j.Players {
		k := slices.Index(players, name)
		if k < 0 {
			return nil, fmt.Errorf("the journal has games of %s, who is not among the players", name)
		}
		order = append(order, k)
	}
	var fresh []string
	for i, name := range players {
		if slices.Contains(players[:i], name) {
			return nil, fmt.Errorf("two players are called %s", name)
		}
		if !slices.Contains(j.Players, name) {
			fresh, order = append(fresh, name), append(order, i)
		}
	}
	if fresh == nil {
		return order, nil
	}
	j.Players = append(j.Players, fresh...)
	j.join()
	return order, j.line(playersLine{fresh})
}

// Add writes a game at the end. Tournament.Done may be set to it.
func (j *Journal) Add(p *Played) error {
	g := gameLine{Game: p.Number, Seed: p.Seed, Round: p.Round, Stage: p.Stage, Results: p.Results, Scores: p.Scores, Turns: p.Turns, End: endOver, Clock: p.Clock,
		Sum: fmt.Sprintf("%016x", uint64(p.Sum)), Faults: p.Faults, Seconds: p.Seconds, Files: p.Files, Box: p.Box}
	if p.Cut {
		g.End = endCut
	}
	for _, s := range p.Players {
		g.Seats = append(g.Seats, j.Players[s])
	}
	return j.line(g)
}

func (j *Journal) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if j.Terms.Journal > 1 {
		key := j.key
		if key == nil { // the first line
			j.key = bytes.Clone(b)
		}
		b = append(b[:len(b)-1], checkBegin+sumOf(key, b)+checkEnd...)
	}
	_, err = j.buf.Write(append(b, '\n'))
	return err
}

// Flush hands the lines to the operating system, so that they survive if the program is killed.
func (j *Journal) Flush() error { return j.buf.Flush() }

// Close syncs the file to disk and closes it.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	defer j.release()
	return errors.Join(j.buf.Flush(), j.file.Sync(), j.file.Close())
}
