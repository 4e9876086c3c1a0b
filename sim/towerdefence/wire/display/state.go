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
func (s *stateWriter) comma(i int) {
	if i > 0 {
		s.buf = append(s.buf, ',')
	}
}

// number appends a name as it stands, such as `,"x":`, and its value.
func (s *stateWriter) number(name string, n int) {
	s.raw(name)
	s.buf = appendInt(s.buf, n)
}

func (s *stateWriter) flag(name string, v bool) {
	s.raw(name)
	s.buf = strconv.AppendBool(s.buf, v)
}

// letterOf appends a name and the letter of a player.
func (s *stateWriter) letterOf(name string, letter byte) {
	s.raw(name)
	s.buf = append(s.buf, '"', letter, '"')
}

func (s *stateWriter) details() {
	r := &s.Rules
	s.number(`{"round":`, s.Round)
	s.number(`,"maxRounds":`, r.MaxRounds)
	s.number(`,"mapWidth":`, Columns)
	s.number(`,"mapHeight":`, Rows)
	s.number(`,"roundIncomeEnergy":`, r.RoundIncome)
	s.raw(`,"buildingPrices":{`)
	for i, k := range displayKinds {
		s.comma(i)
		s.number(`"`+k.String()+`":`, r.Buildings[k].Price)
	}
	s.raw(`},"buildingsStats":{`)
	for i, k := range displayKinds {
		b := &r.Buildings[k]
		s.comma(i)
		s.number(`"`+k.String()+`":{"health":`, b.Health)
		s.number(`,"constructionTime":`, b.ConstructionTime)
		s.number(`,"price":`, b.Price)
		s.number(`,"weaponDamage":`, b.Damage)
		s.number(`,"weaponSpeed":`, b.Speed)
		s.number(`,"weaponCooldownPeriod":`, b.Cooldown)
		s.number(`,"energyGeneratedPerTurn":`, b.EnergyPerTurn)
		s.number(`,"destroyMultiplier":`, b.DestroyMultiplier)
		s.number(`,"constructionScore":`, b.ConstructionScore)
		s.raw("}")
	}
	s.number(`},"ironCurtainStats":{"activeRounds":`, r.CurtainActiveRounds)
	s.number(`,"resetPeriod":`, r.CurtainResetPeriod)
	s.number(`,"price":`, r.CurtainPrice)
	s.number(`,"constructionScore":`, r.CurtainConstructionScore)
	s.raw("}}")
}

func (s *stateWriter) player(seat sim.Player) {
	p := &s.Players[seat]
	s.letterOf(`{"playerType":`, s.letter(seat))
	s.number(`,"energy":`, p.Energy)
	s.number(`,"health":`, p.Health)
	s.number(`,"hitsTaken":`, p.HitsTaken)
	s.number(`,"score":`, p.Score)
	s.flag(`,"ironCurtainAvailable":`, p.CurtainAvailable)
	s.number(`,"activeIronCurtainLifetime":`, p.CurtainTime)
	s.flag(`,"isIronCurtainActive":`, p.CurtainActive())
	s.raw("}")
}

func (s *stateWriter) gameMap() {
	b := s.board()
	for y := range Rows {
		s.comma(y)
		s.raw("[")
		for x := range Columns {
			at := s.x(x)
			s.comma(x)
			s.number(`{"x":`, x)
			s.number(`,"y":`, y)
			s.raw(`,"buildings":[`)
			if i := b.building[y][at]; i > 0 {
				s.building(&s.Buildings[i-1])
			}
			s.raw(`],"missiles":[`)
			for n, i := range b.flying[y][at] {
				s.comma(n)
				s.missile(&s.Missiles[i])
			}
			s.letterOf(`],"cellOwner":`, Letters[x*2/Columns])
			s.raw("}")
		}
		s.raw("]")
	}
}

func (s *stateWriter) building(b *Building) {
	r := &s.Rules.Buildings[b.Kind]
	s.number(`{"health":`, b.Health)
	s.number(`,"constructionTimeLeft":`, b.BuildTime)
	s.number(`,"price":`, r.Price)
	s.number(`,"weaponDamage":`, r.Damage)
	s.number(`,"weaponSpeed":`, r.Speed)
	s.number(`,"weaponCooldownTimeLeft":`, b.Cooldown)
	s.number(`,"weaponCooldownPeriod":`, r.Cooldown)
	s.number(`,"destroyMultiplier":`, r.DestroyMultiplier)
	s.number(`,"constructionScore":`, r.ConstructionScore)
	s.number(`,"energyGeneratedPerTurn":`, r.EnergyPerTurn)
	s.number(`,"maxRange":`, r.Range)
	s.raw(`,"buildingType":"` + b.Kind.String() + `"`)
	s.number(`,"energyPerShot":`, energyPerShot(&s.Rules, b.Kind))
	s.number(`,"x":`, s.x(b.X))
	s.number(`,"y":`, b.Y)
	s.letterOf(`,"playerType":`, s.letter(b.Owner))
	s.raw("}")
}

func (s *stateWriter) missile(m *Missile) {
	const blank = "00000000-0000-4000-8000-000000000000"
	id := strconv.FormatUint(uint64(uint32(m.ID)), 16)
	weapon := &s.Rules.Buildings[towerdefence.Attack]
	s.number(`{"damage":`, weapon.Damage)
	s.number(`,"speed":`, weapon.Speed)
	s.raw(`,"id":"` + blank[:len(blank)-len(id)] + id + `"`)
	s.number(`,"x":`, s.x(m.X))
	s.number(`,"y":`, m.Y)
	s.letterOf(`,"playerType":`, s.letter(m.Owner))
	s.raw("}")
}

// cells appends a hit list, which is the same for both viewers.
func (s *stateWriter) cells(list []Cell) {
	for i, c := range list {
		s.comma(i)
		s.number(`{"x":`, c.X)
		s.number(`,"y":`, c.Y)
		s.letterOf(`,"playerType":`, Letters[c.Owner&1])
		s.raw("}")
	}
}
