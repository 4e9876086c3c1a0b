package plain

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Command ids other than kinds of buildings.
const (
	idDeconstruct = 3
	idCurtain     = 5
	idLast        = 5
)

// fieldsOf splits a command at its commas as the original does: empty fields at
// the end are dropped, but a text without a comma is one field.
func fieldsOf(text string) []string {
	if !strings.Contains(text, ",") {
		return []string{text}
	}
	fields := strings.Split(text, ",")
	for len(fields) > 0 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return fields
}

// throws reports whether a text makes the original engine throw because it has
// no field.
func throws(text string) bool { return len(fieldsOf(text)) == 0 }

// command carries out a command text of player p (4.6, 4.7).
func (g *Game) command(p sim.Player, text string) {
	me := &g.Players[p]
	fields := fieldsOf(text)
	switch len(fields) {
	case 1:
		if fields[0] == "Exception" {
			me.FailCount++
		}
		return
	case 2:
		me.FailCount += 2
		return
	case 3:
	default:
		me.FailCount++
	}
	var numbers [3]int
	for i := range numbers {
		n, ok := javaInt(fields[i])
		if !ok {
			me.FailCount++
			return
		}
		numbers[i] = n
	}
	x, y, id := numbers[0], numbers[1], numbers[2]
	if id < 0 || id > idLast {
		me.FailCount++
		return
	}
	me.FailCount = 0
	if !g.execute(p, x, y, id) {
		me.FailCount = 1
	}
}

// execute carries out a well-formed command, or refuses it.
func (g *Game) execute(p sim.Player, x, y, id int) bool {
	if id == idCurtain {
		return g.raiseCurtain(p)
	}
	if x < 0 || x >= towerdefence.Width || y < 0 || y >= towerdefence.Height {
		return false
	}
	x = Absolute(p, x)
	if id == idDeconstruct {
		return g.deconstruct(p, x, y)
	}
	return g.build(p, x, y, towerdefence.Kind(id))
}

// build places a building; its score counts at once.
func (g *Game) build(p sim.Player, x, y int, kind towerdefence.Kind) bool {
	me, rule := &g.Players[p], g.Rules.Buildings[kind]
	if kind == towerdefence.Tesla && g.teslas(p) >= towerdefence.MaxTeslas {
		return false
	}
	if g.buildingAt(x, y) >= 0 || me.Energy < rule.Price {
		return false
	}
	me.Energy -= rule.Price
	me.score(rule.ConstructionScore)
	g.Buildings = append(g.Buildings, Building{
		X: x, Y: y, Owner: p, Kind: kind, Health: rule.Health, BuildTime: rule.ConstructionTime,
	})
	return true
}

// teslas returns the number of p's tesla towers, including unfinished ones.
func (g *Game) teslas(p sim.Player) int {
	n := 0
	for _, b := range g.Buildings {
		if b.Owner == p && b.Kind == towerdefence.Tesla {
			n++
		}
	}
	return n
}

// deconstruct removes a building at once.
func (g *Game) deconstruct(p sim.Player, x, y int) bool {
	i := g.buildingAt(x, y)
	if i < 0 {
		return false
	}
	g.Buildings = append(g.Buildings[:i], g.Buildings[i+1:]...)
	g.Players[p].Energy += g.Rules.DeconstructionRefund
	return true
}

// raiseCurtain activates p's curtain.
func (g *Game) raiseCurtain(p sim.Player) bool {
	me := &g.Players[p]
	if !me.CurtainAvailable || me.Energy < g.Rules.CurtainPrice || me.CurtainTime >= 1 {
		return false
	}
	me.Energy -= g.Rules.CurtainPrice
	me.CurtainTime = g.Rules.CurtainActiveRounds
	me.CurtainAvailable = false
	me.score(g.Rules.CurtainConstructionScore)
	return true
}

// javaInt reads a decimal 32-bit integer as Java does: an optional sign, then
// decimal digits of any script.
func javaInt(text string) (int, bool) {
	var ascii strings.Builder
	for i, r := range text {
		switch {
		case i == 0 && (r == '+' || r == '-'):
			ascii.WriteRune(r)
		case r <= 0xFFFF && unicode.Is(unicode.Nd, r):
			ascii.WriteByte(byte('0' + digitValue(r)))
		default:
			return 0, false
		}
	}
	n, err := strconv.ParseInt(ascii.String(), 10, 32)
	return int(n), err == nil
}

// digitValue returns the value of a decimal digit. The digits of a script are a
// run of ten from its zero.
func digitValue(r rune) int {
	n := 0
	for r-rune(n)-1 > utf8.RuneSelf && unicode.Is(unicode.Nd, r-rune(n)-1) {
		n++
	}
	if r < utf8.RuneSelf {
		return int(r - '0')
	}
	return n % 10
}
