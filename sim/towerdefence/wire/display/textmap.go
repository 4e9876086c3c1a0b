package display

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// Headings and dividing lines of the text map.
const (
	textGameInfo  = "XXXXXXXXX GAME INFO XXXXXXXXX\n"
	textGameClose = "XXXXXXXXXXXXXXXXXXXXXXXXXXXXX\n\n"

	textStats = "****** BUILDING STATS ******\n" +
		"type;health;constructionTime;price;weaponDamage;weaponSpeed;weaponCooldownPeriod;" +
		"energyGeneratedPerTurn;destroyMultiplier;constructionScore\n"
	textCurtain    = "***** IRON CURTAIN STATS ****\nprice;activeRounds;resetPeriod;constructionScore\n"
	textStatsClose = "*****************************\n\n"

	textPlayerClose = "------------------------------\n\n"

	textMap       = "############# MAP #############\n"
	textBuildings = "######## BUILDING DATA #########\n" +
		"FORMAT : [x,y] Owner|BuildingType|ConstructionTimeLeft|Health|WeaponCooldownTimeLeft|" +
		"WeaponDamage|EnergyGeneratedPerTurn \n\n"
	textMissiles = "####### MISSILE DATA ########\nFORMAT : [x,y] Owner|Damage|Speed \n\n"
	textMapClose = "###############################\n"
)

// AppendTextMap appends the position as the textMap.txt of the viewer.
func (p *Position) AppendTextMap(dst []byte, viewer sim.Player) []byte {
	t := textWriter{displayWriter{dst, view{viewer & 1}, p}}
	t.header()
	t.player('A', t.viewer)
	t.player('B', t.viewer^1)
	t.gameMap()
	t.buildings()
	t.missiles()
	return t.buf
}

// textWriter appends the parts of a text map.
type textWriter struct{ displayWriter }

// line appends a name, a number and a line feed.
func (t *textWriter) line(name string, n int) {
	t.raw(name)
	t.buf = append(appendInt(t.buf, n), '\n')
}

// numbers appends numbers, each with sep behind it but the last, which has end.
func (t *textWriter) numbers(sep byte, end string, list ...int) {
	for i, n := range list {
		if i > 0 {
			t.buf = append(t.buf, sep)
		}
		t.buf = appendInt(t.buf, n)
	}
	t.raw(end)
}

func (t *textWriter) header() {
	r := &t.Rules
	t.raw(textGameInfo)
	t.line("Round Number : ", t.Round)
	t.line("Maximum Amount Of Rounds : ", r.MaxRounds)
	t.line("Map Width : ", Columns)
	t.line("Map Height : ", Rows)
	t.line("Round Income Energy : ", r.RoundIncome)
	t.raw(textGameClose)
	t.raw(textStats)
	for _, k := range displayKinds {
		b := &r.Buildings[k]
		t.raw(k.String())
		t.raw(";")
		t.numbers(';', ";\n", b.Health, b.ConstructionTime, b.Price, b.Damage, b.Speed, b.Cooldown,
			b.EnergyPerTurn, b.DestroyMultiplier, b.ConstructionScore)
	}
	t.raw(textStatsClose)
	t.raw(textCurtain)
	t.numbers(';', ";\n", r.CurtainPrice, r.CurtainActiveRounds, r.CurtainResetPeriod, r.CurtainConstructionScore)
	t.raw(textStatsClose)
}

func (t *textWriter) player(letter byte, seat sim.Player) {
	p := &t.Players[seat]
	available := 0
	if p.CurtainAvailable {
		available = 1
	}
	t.raw("---------- PLAYER ")
	t.buf = append(t.buf, letter)
	t.raw(" ----------\n")
	t.line("Energy : ", p.Energy)
	t.line("Health : ", p.Health)
	t.line("HitsTaken : ", p.HitsTaken)
	t.line("Score : ", p.Score)
	t.line("IronCurtainAvailable : ", available)
	t.line("ActiveIronCurtainLifetime : ", p.CurtainTime)
	t.raw(textPlayerClose)
}

func (t *textWriter) gameMap() {
	b := t.board()
	t.raw(textMap)
	for y := range Rows {
		for x := range Columns {
			at, icon := t.x(x), byte('N')
			if i := b.building[y][at]; i > 0 {
				icon = t.icon(&t.Buildings[i-1])
			}
			t.raw("[")
			t.numbers(',', ",", x, y)
			t.buf = append(t.buf, icon, ',')
			own := b.missiles[y][at]
			t.numbers(',', "]", own[t.viewer], own[t.viewer^1])
		}
		t.raw("\n")
	}
	t.raw(textMapClose)
	t.raw("\n")
}

func (t *textWriter) buildings() {
	t.raw(textBuildings)
	for i := range t.Buildings {
		b := &t.Buildings[i]
		r := &t.Rules.Buildings[b.Kind]
		t.cell(b.X, b.Y, b.Owner)
		t.raw(b.Kind.String())
		t.raw("|")
		t.numbers('|', "\n", b.BuildTime, b.Health, b.Cooldown, r.Damage, r.EnergyPerTurn)
	}
	t.raw(textMapClose)
	t.raw("\n")
}

func (t *textWriter) missiles() {
	weapon := &t.Rules.Buildings[towerdefence.Attack]
	t.raw(textMissiles)
	for _, m := range t.Missiles {
		t.cell(m.X, m.Y, m.Owner)
		t.numbers('|', "\n", weapon.Damage, weapon.Speed)
	}
	t.raw(textMapClose)
}

// cell appends the head of a data line: "[x,y] Owner|".
func (t *textWriter) cell(x, y int, owner sim.Player) {
	t.raw("[")
	t.numbers(',', "] ", t.x(x), y)
	t.buf = append(t.buf, t.letter(owner), '|')
}
