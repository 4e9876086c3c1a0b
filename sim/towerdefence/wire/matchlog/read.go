// Package matchlog reads, writes and verifies match logs of Tower Defence: the folder that
// the original's runner leaves of a match, with the commands and displays of every round.
package matchlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
)

// OrderFile is a file of a match log that says whose command was carried out first in every
// round. The original does not write it.
const OrderFile = "CommandOrder.txt"

// maxFile bounds the bytes of a file of a match log.
const maxFile = 1 << 16

// Names within a match log.
const (
	logRound   = "Round "
	logCommand = "PlayerCommand.txt"
	logState   = "JsonMap.json"
	logText    = "TextMap.txt"
	logConsole = "Console/Console.txt"
	logOutput  = "Console/BotOutput.txt"
	logEnd     = "endGameState.txt"
	logFirst   = " is carried out first" // behind the letter
	logWinner  = "The winner is: "
	logFailed  = "Bot did nothing too many consecutive rounds"
	logTie     = "The game ended in a tie"
	logScore   = "- score:"
	logHealth  = " health:"
)

// Log is the content of a match log: who played, the commands of every round and how the
// match ended.
type Log struct {
	Names    [2]string    // nick names of A and B
	Rules    PartialRules // the rules in the log
	First    string       // the player whose command was carried out first, "A" or "B"; "" if the log lacks it
	Commands [][2]string  // texts of A and B, by round from 0
	Final    *Final       // nil if the log has no final result
}

// Final is the content of endGameState.txt.
type Final struct {
	Winner string // WinnerA, WinnerB or Tie
	Failed bool   // the match ended by a player's failures
	Score  [2]int
	Health [2]int
}

// Read reads a match log: the folder with "Round 000", "Round 001", …, in each
// "A - NAME/PlayerCommand.txt" and "B - NAME/PlayerCommand.txt", and in the folder after the
// last round endGameState.txt. Without that file the match broke off and every round folder
// holds commands. Read takes rules from the files that show positions. A log of a release
// before 3.0.1, which played by other rules, is an error. Errors say which file or folder was
// expected where.
func Read(fsys fs.FS) (*Log, error) {
	rounds, err := roundFolders(fsys)
	if err != nil {
		return nil, fmt.Errorf("match log: %w", err)
	}
	m := new(Log)
	if m.First, err = readOrder(fsys); err != nil {
		return nil, fmt.Errorf("match log: %w", err)
	}
	for i, folder := range rounds {
		players, err := playerFolders(fsys, folder)
		if err == nil {
			err = m.meet(folder, players)
		}
		if err == nil {
			err = m.Rules.read(fsys, folder+"/"+players[0]+"/", i == 0)
		}
		if err != nil {
			return nil, fmt.Errorf("match log: %w", err)
		}
		end, err := readLog(fsys, folder+"/"+logEnd)
		if err == nil {
			if i < len(rounds)-1 {
				return nil, fmt.Errorf("match log: %s: expected nothing after the folder with %s, found %s", folder, logEnd, rounds[i+1])
			}
			if m.Final, err = m.parseFinal(end); err != nil {
				return nil, fmt.Errorf("match log: %s/%s: %w", folder, logEnd, err)
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("match log: %w", err)
		}
		var commands [2]string
		for p, player := range players {
			text, err := readLog(fsys, folder+"/"+player+"/"+logCommand)
			if err != nil {
				return nil, fmt.Errorf("match log: %s/%s: expected a readable %s: %w", folder, player, logCommand, err)
			}
			commands[p] = command.FirstLine(text)
		}
		m.Commands = append(m.Commands, commands)
	}
	return m, nil
}

// readOrder reads the OrderFile and returns the letter of the player whose command was
// carried out first; "" for a log without that file.
func readOrder(fsys fs.FS) (first string, err error) {
	text, err := readLog(fsys, OrderFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, letter := range []string{display.Letters[:1], display.Letters[1:]} {
		if strings.TrimSpace(text) == letter+logFirst {
			return letter, nil
		}
	}
	return "", fmt.Errorf("%s: expected %q or the same of B, found %q", OrderFile, display.Letters[:1]+logFirst, text)
}

// roundFolders lists the round folders in order and fails if one is missing.
func roundFolders(fsys fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	byNumber := map[int]string{}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), logRound)
		n, err := strconv.ParseUint(digits, 10, 31)
		if !ok || err != nil || !e.IsDir() {
			continue
		}
		if other, dup := byNumber[int(n)]; dup {
			return nil, fmt.Errorf("expected one folder for round %d, found %q and %q", n, other, e.Name())
		}
		byNumber[int(n)] = e.Name()
	}
	if len(byNumber) == 0 {
		return nil, fmt.Errorf(`expected folders "Round 000", "Round 001", …, found none among %d entries`, len(entries))
	}
	var folders []string
	for n := range len(byNumber) {
		folder, ok := byNumber[n]
		if !ok {
			return nil, fmt.Errorf(`expected a folder "Round %03d", found none among %d round folders`, n, len(byNumber))
		}
		folders = append(folders, folder)
	}
	return folders, nil
}

// playerFolders returns the folders of A and B in a round folder.
func playerFolders(fsys fs.FS, round string) ([2]string, error) {
	var folders [2]string
	entries, err := fs.ReadDir(fsys, round)
	if err != nil {
		return folders, err
	}
	for p := range folders {
		prefix := display.Letters[p:p+1] + " - "
		for _, e := range entries {
			if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
				continue
			}
			if folders[p] != "" {
				return folders, fmt.Errorf("%s: expected one folder %q, found %q and %q", round, prefix+"NAME", folders[p], e.Name())
			}
			folders[p] = e.Name()
		}
		if folders[p] == "" {
			return folders, fmt.Errorf("%s: expected a folder %q, found none among %d entries", round, prefix+"NAME", len(entries))
		}
	}
	return folders, nil
}

// meet takes the names from the folders of the first round and checks that the folders of
// later rounds have the same.
func (m *Log) meet(round string, folders [2]string) error {
	for p, folder := range folders {
		name := folder[len("A - "):]
		if m.Commands == nil {
			m.Names[p] = name
		}
		if m.Names[p] != name {
			return fmt.Errorf("%s: expected the folder %q as in the first round, found %q", round, logName(p, m.Names[p]), folder)
		}
	}
	return nil
}

// logName returns the name of a player in a match log.
func logName(p int, name string) string { return display.Letters[p:p+1] + " - " + name }

// readLog reads a small text file.
func readLog(fsys fs.FS, name string) (string, error) {
	if s, err := fs.Stat(fsys, name); err != nil {
		return "", err
	} else if !s.Mode().IsRegular() {
		return "", fmt.Errorf("%s: expected a file, found something else", name)
	}
	text, err := bounded.ReadFile(fsys.Open, name, maxFile)
	return string(text), err
}

// parseFinal reads an endGameState.txt: the winner or a tie, an empty line and
// a line "NAME- score:S health:H" for each player; a failed match has a line
// that says so in front.
func (m *Log) parseFinal(text string) (*Final, error) {
	lines := slices.Collect(strings.FieldsFuncSeq(texts.Unmarked(text), func(r rune) bool { return r == '\n' || r == '\r' }))
	f := new(Final)
	at := slices.IndexFunc(lines, func(l string) bool { return l == logTie || strings.HasPrefix(l, logWinner) })
	if at < 0 {
		return nil, fmt.Errorf("expected a line %q or %q, found none", logWinner+"NAME", logTie)
	}
	f.Failed = at > 0
	switch winner := strings.TrimPrefix(lines[at], logWinner); winner {
	case logTie:
		f.Winner = referee.Tie
	case logName(0, m.Names[0]):
		f.Winner = referee.WinnerA
	case logName(1, m.Names[1]):
		f.Winner = referee.WinnerB
	default:
		return nil, fmt.Errorf("expected the winner to be %q or %q, found %q", logName(0, m.Names[0]), logName(1, m.Names[1]), winner)
	}
	for p := range m.Names {
		prefix := logName(p, m.Names[p]) + logScore
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, prefix) })
		if i < 0 {
			return nil, fmt.Errorf("expected a line %q, found none", prefix+"S"+logHealth+"H")
		}
		score, health, _ := strings.Cut(strings.TrimPrefix(lines[i], prefix), logHealth)
		var errScore, errHealth error
		f.Score[p], errScore = strconv.Atoi(score)
		f.Health[p], errHealth = strconv.Atoi(strings.TrimRight(health, " "))
		if errScore != nil || errHealth != nil {
			return nil, fmt.Errorf("expected a line %q with two numbers, found %q", prefix+"S"+logHealth+"H", lines[i])
		}
	}
	return f, nil
}
