package display

import (
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// AppendState appends the position as the state.json of the viewer: one line
// of JSON without blanks, every field in the original's order. The building
// types come as ATTACK, DEFENSE, ENERGY, TESLA, while the original's order varies; the
// identifiers of missiles are made from Missile.ID, while the original's are random.
//
// For B the map is mirrored and the letters are exchanged, but neither the
// order of the players nor the two hit lists change.
func (p *Position) AppendState(dst []byte, viewer sim.Player) []byte {
	j := stateWriter{displayWriter{dst, view{viewer & 1}, p}}
	j.raw(`{"gameDetails":`)
	j.details()
	j.raw(`,"players":[`)
	for i := range p.Players {
		j.comma(i)
		j.player(sim.Player(i))
	}
	j.raw(`],"gameMap":[`)
	j.gameMap()
	j.raw(`],"teslaHitList":[`)
	for i, shot := range p.TeslaHits {
		j.comma(i)
		j.raw("[")
		j.cells(shot)
		j.raw("]")
	}
	j.raw(`],"ironCurtainHitList":[`)
	j.cells(p.CurtainHits)
	j.raw(`]}`)
	return j.buf
}

// stateWriter appends the parts of a state.json.
type stateWriter struct{ displayWriter }

// comma separates element i of a list from the one before.
func (j *stateWriter) comma(i int) {
	if i > 0 {
		j.buf = append(j.buf, ',')
	}
}

// number appends a name as it stands, such as `,"x":`, and its value.
func (j *stateWriter) number(name string, n int) {
	j.raw(name)
	j.buf = appendInt(j.buf, n)
}

func (j *stateWriter) flag(name string, v bool) {
	j.raw(name)
	j.buf = strconv.AppendBool(j.buf, v)
}

// letterOf appends a name and the letter of a player.
func (j *stateWriter) letterOf(name string, letter byte) {
	j.raw(name)
	j.buf = append(j.buf, '"', letter, '"')
}

func (j *stateWriter) details() {
	r := &j.Rules
	j.number(`{"round":`, j.Round)
	j.number(`,"maxRounds":`, r.MaxRounds)
	j.number(`,"mapWidth":`, Columns)
	j.number(`,"mapHeight":`, Rows)
	j.number(`,"roundIncomeEnergy":`, r.RoundIncome)
	j.raw(`,"buildingPrices":{`)
	for i, k := range displayKinds {
		j.comma(i)
		j.number(`"`+k.String()+`":`, r.Buildings[k].Price)
	}
	j.raw(`},"buildingsStats":{`)
	for i, k := range displayKinds {
		b := &r.Buildings[k]
		j.comma(i)
		j.number(`"`+k.String()+`":{"health":`, b.Health)
		j.number(`,"constructionTime":`, b.ConstructionTime)
		j.number(`,"price":`, b.Price)
		j.number(`,"weaponDamage":`, b.Damage)
		j.number(`,"weaponSpeed":`, b.Speed)
		j.number(`,"weaponCooldownPeriod":`, b.Cooldown)
		j.number(`,"energyGeneratedPerTurn":`, b.EnergyPerTurn)
		j.number(`,"destroyMultiplier":`, b.DestroyMultiplier)
		j.number(`,"constructionScore":`, b.ConstructionScore)
		j.raw("}")
	}
	j.number(`},"ironCurtainStats":{"activeRounds":`, r.CurtainActiveRounds)
	j.number(`,"resetPeriod":`, r.CurtainResetPeriod)
	j.number(`,"price":`, r.CurtainPrice)
	j.number(`,"constructionScore":`, r.CurtainConstructionScore)
	j.raw("}}")
}

func (j *stateWriter) player(seat sim.Player) {
	p := &j.Players[seat]
	j.letterOf(`{"playerType":`, j.letter(seat))
	j.number(`,"energy":`, p.Energy)
	j.number(`,"health":`, p.Health)
	j.number(`,"hitsTaken":`, p.HitsTaken)
	j.number(`,"score":`, p.Score)
	j.flag(`,"ironCurtainAvailable":`, p.CurtainAvailable)
	j.number(`,"activeIronCurtainLifetime":`, p.CurtainTime)
	j.flag(`,"isIronCurtainActive":`, p.CurtainActive())
	j.raw("}")
}

func (j *stateWriter) gameMap() {
	b := j.board()
	for y := range Rows {
		j.comma(y)
		j.raw("[")
		for x := range Columns {
			at := j.x(x)
			j.comma(x)
			j.number(`{"x":`, x)
			j.number(`,"y":`, y)
			j.raw(`,"buildings":[`)
			if i := b.building[y][at]; i > 0 {
				j.building(&j.Buildings[i-1])
			}
			j.raw(`],"missiles":[`)
			for n, i := range b.flying[y][at] {
				j.comma(n)
				j.missile(&j.Missiles[i])
			}
			j.letterOf(`],"cellOwner":`, Letters[x*2/Columns])
			j.raw("}")
		}
		j.raw("]")
	}
}

func (j *stateWriter) building(b *Building) {
	r := &j.Rules.Buildings[b.Kind]
	j.number(`{"health":`, b.Health)
	j.number(`,"constructionTimeLeft":`, b.BuildTime)
	j.number(`,"price":`, r.Price)
	j.number(`,"weaponDamage":`, r.Damage)
	j.number(`,"weaponSpeed":`, r.Speed)
	j.number(`,"weaponCooldownTimeLeft":`, b.Cooldown)
	j.number(`,"weaponCooldownPeriod":`, r.Cooldown)
	j.number(`,"destroyMultiplier":`, r.DestroyMultiplier)
	j.number(`,"constructionScore":`, r.ConstructionScore)
	j.number(`,"energyGeneratedPerTurn":`, r.EnergyPerTurn)
	j.number(`,"maxRange":`, r.Range)
	j.raw(`,"buildingType":"` + b.Kind.String() + `"`)
	j.number(`,"energyPerShot":`, energyPerShot(&j.Rules, b.Kind))
	j.number(`,"x":`, j.x(b.X))
	j.number(`,"y":`, b.Y)
	j.letterOf(`,"playerType":`, j.letter(b.Owner))
	j.raw("}")
}

func (j *stateWriter) missile(m *Missile) {
	const blank = "00000000-0000-4000-8000-000000000000"
	id := strconv.FormatUint(uint64(uint32(m.ID)), 16)
	weapon := &j.Rules.Buildings[towerdefence.Attack]
	j.number(`{"damage":`, weapon.Damage)
	j.number(`,"speed":`, weapon.Speed)
	j.raw(`,"id":"` + blank[:len(blank)-len(id)] + id + `"`)
	j.number(`,"x":`, j.x(m.X))
	j.number(`,"y":`, m.Y)
	j.letterOf(`,"playerType":`, j.letter(m.Owner))
	j.raw("}")
}

// cells appends a hit list, which is the same for both viewers.
func (j *stateWriter) cells(list []Cell) {
	for i, c := range list {
		j.comma(i)
		j.number(`{"x":`, c.X)
		j.number(`,"y":`, c.Y)
		j.letterOf(`,"playerType":`, Letters[c.Owner&1])
		j.raw("}")
	}
}
