package display

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MissilesSorted returns a display with sorted missiles: within each cell of a state.json
// without ids, or in the missile data of a text map, its last part.
func MissilesSorted(text string) string {
	if strings.HasPrefix(text, "{") {
		return stateMissiles.ReplaceAllStringFunc(text, func(list string) string {
			missiles := stateMissile.FindAllString(list, -1)
			slices.Sort(missiles)
			return strings.Join(missiles, "")
		})
	}
	rest, missiles, found := strings.Cut(text, textMissiles)
	if !found {
		return text
	}
	lines := strings.SplitAfter(missiles, "\n")
	slices.Sort(lines)
	return rest + textMissiles + strings.Join(lines, "")
}

// AroundDifference cuts two texts to the surroundings of their first difference.
func AroundDifference(a, b string) (string, string) {
	const before, after = 30, 30
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string {
		return fmt.Sprintf("%q (from byte %d)", s[max(0, i-before):min(len(s), i+after)], max(0, i-before))
	}
	return cut(a), cut(b)
}

// stateMissiles matches the missiles of a cell in a state.json, stateMissile
// one of them.
var stateMissiles = regexp.MustCompile(`"missiles":\[\{[^]]*\]`)
var stateMissile = regexp.MustCompile(`\{[^}]*\}`)

var missileID = regexp.MustCompile(`"id":"[0-9a-f-]{36}"`)
var kindEntry = regexp.MustCompile(`"(ATTACK|DEFENSE|ENERGY|TESLA)":(\d+|\{[^}]*\}),?`)

// WithoutChance returns a state.json without the parts that the original leaves to chance:
// it removes the ids of missiles and sorts the types of buildings.
func WithoutChance(state string) string {
	state = missileID.ReplaceAllString(state, `"id":""`)
	for _, name := range []string{`"buildingPrices":{`, `"buildingsStats":{`} {
		head, rest, ok := strings.Cut(state, name)
		if !ok {
			continue
		}
		var sorted strings.Builder
		last := 0
		found := kindEntry.FindAllStringIndex(rest, len(displayKinds))
		for _, kind := range displayKinds {
			for _, at := range found {
				if entry := rest[at[0]:at[1]]; strings.HasPrefix(entry, `"`+kind.String()) {
					sorted.WriteString(strings.TrimSuffix(entry, ",") + ",")
				}
				last = at[1]
			}
		}
		state = head + name + strings.TrimSuffix(sorted.String(), ",") + rest[last:]
	}
	return state
}
