package players

import (
	"regexp"
	"strings"
)

// given matches the text of a bot with a name in front: NAME=bot:DIR.
var given = regexp.MustCompile(`^([\pL\pN._-][\pL\pN._ -]{0,39})=(` + folderPrefix + `|` + commandPrefix + `|` + portPrefix + `)`)

// cutName splits the name off the text of a bot, "" if it has none.
func cutName(text string) (name, rest string) {
	m := given.FindStringSubmatch(text)
	if m == nil {
		return "", text
	}
	return m[1], text[len(m[1])+1:]
}

// mostShown bounds the letters of a name for a table, unless names would become equal. Names of searches with the sum of a
// network fit.
const mostShown = 64

// Shown returns the names of players for tables: of bot:DIR the shortest end of the path that differs from the others, and
// of a long name the beginning and the end. Different names stay different.
func Shown(names []string) []string {
	return shortest(shortest(names, pathEnd), func(name string, n int) string { return middleCut(name, mostShown+8*n) })
}

// shortest returns for each name the first part, from 0 on, that is a part of no other name, or is the whole name.
func shortest(names []string, part func(name string, n int) string) []string {
	shown := make([]string, len(names))
	for n, left := 0, len(names); left > 0; n++ {
		of := map[string]int{} // by part: the number of different names
		seen := map[string]bool{}
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				of[part(name, n)]++
			}
		}
		for i, name := range names {
			if p := part(name, n); shown[i] == "" && (p == name || of[p] == 1) {
				shown[i] = p
				left--
			}
		}
	}
	return shown
}

// pathEnd returns the name of a bot in a folder with only n+1 parts at the end of its path, and other names as they are.
func pathEnd(name string, n int) string {
	path, ok := strings.CutPrefix(name, folderPrefix)
	if !ok {
		return name
	}
	path = strings.TrimRight(path, `/\`)
	end := len(path)
	for ; n >= 0 && end >= 0; n-- {
		end = strings.LastIndexAny(path[:end], `/\`)
	}
	if end < 0 {
		return name
	}
	return folderPrefix + path[end+1:]
}

// middleCut replaces the middle of a name by "…" if it has more letters than most.
func middleCut(name string, most int) string {
	letters := []rune(name)
	if len(letters) <= most {
		return name
	}
	head := most / 3
	return string(letters[:head]) + "…" + string(letters[len(letters)-(most-head-1):])
}
