package display

import (
	"encoding/json"
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/texts"
	"moonfarm/sim/towerdefence"
)

// ReadState makes a game and a state from a state.json, which the original
// writes for a bot in every round, and returns the seat of that bot: the file
// shows the map to each player as if he were A, but lists the players in their
// own order. The values of the file override those of base.
// ReadState assumes for values that the file lacks:
//
//   - no command has failed in the rounds before;
//   - the start, the multipliers of the score, the refund, the failed commands that end a
//     match, and the price and range of a tesla tower's shot if none stands are as in base.
//
// The error names the field that is missing or has a value that no state can have, such as
// a health above the full health of the kind.
func ReadState(text []byte, base towerdefence.Rules) (*towerdefence.Game, *towerdefence.State, sim.Player, error) {
	var f stateFile
	fail := func(err error) (*towerdefence.Game, *towerdefence.State, sim.Player, error) {
		return nil, nil, 0, fmt.Errorf("state.json: %w", err)
	}
	if len(text) > maxState {
		return fail(fmt.Errorf("it has %d bytes, expected %d at most", len(text), maxState))
	}
	if err := json.Unmarshal(texts.Unmarked(text), &f); err != nil {
		return fail(err)
	}
	viewer, err := f.viewer()
	if err != nil {
		return fail(err)
	}
	rules, err := f.rules(base)
	if err != nil {
		return fail(err)
	}
	g, err := towerdefence.New(rules)
	if err != nil {
		return fail(err)
	}
	p, err := f.position(viewer)
	if err != nil {
		return fail(err)
	}
	s := new(towerdefence.State)
	if err := g.Restore(s, p); err != nil {
		return fail(err)
	}
	return g, s, viewer, nil
}

// maxState bounds the bytes of a state file; the original's have some 50 KB.
const maxState = 1 << 22

// stateFile is a state.json.
type stateFile struct {
	Details *struct {
		Round, MaxRounds, MapWidth, MapHeight *int
		RoundIncomeEnergy                     *int
		BuildingsStats                        map[string]stateKind
		IronCurtainStats                      struct{ ActiveRounds, ResetPeriod, Price, ConstructionScore *int }
	} `json:"gameDetails"`
	Players []statePlayer
	GameMap [][]stateCell
}

// stateKind holds the numbers of a kind of buildings.
type stateKind struct {
	Health, ConstructionTime, Price, WeaponDamage, WeaponSpeed, WeaponCooldownPeriod *int
	EnergyGeneratedPerTurn, DestroyMultiplier, ConstructionScore                     *int
}

type statePlayer struct {
	PlayerType                                                  string
	Energy, Health, HitsTaken, Score, ActiveIronCurtainLifetime *int
	IronCurtainAvailable                                        *bool
}

type stateCell struct {
	X, Y      *int
	Buildings []stateBuilding
	Missiles  []struct{ PlayerType string }
}

type stateBuilding struct {
	Health, ConstructionTimeLeft, WeaponCooldownTimeLeft *int
	MaxRange, EnergyPerShot                              *int
	BuildingType, PlayerType                             string
}

// viewer returns the seat to which the file is shown.
func (s *stateFile) viewer() (sim.Player, error) {
	if n := len(s.Players); n != 2 {
		return 0, fmt.Errorf("players: found %d, expected 2", n)
	}
	switch a, b := s.Players[0].PlayerType, s.Players[1].PlayerType; {
	case a == "A" && b == "B":
		return SeatA, nil
	case a == "B" && b == "A":
		return SeatB, nil
	default:
		return 0, fmt.Errorf("players: playerType is %.20q and %.20q, expected A and B", a, b)
	}
}

// number reads a field of a bounded size that must be there.
func number(name string, from *int, to *int) error {
	const most = 1 << 30
	switch {
	case from == nil:
		return fmt.Errorf("%s is missing", name)
	case *from < -most || *from > most:
		return fmt.Errorf("%s is %d, expected %d to %d", name, *from, -most, most)
	}
	*to = *from
	return nil
}

// field is a number of the file and where it goes.
type field struct {
	name string
	from *int
	to   *int
}

// numbers reads fields.
func numbers(prefix string, list ...field) error {
	for _, f := range list {
		if err := number(prefix+f.name, f.from, f.to); err != nil {
			return err
		}
	}
	return nil
}

// ReadRules returns base with the rules in a state.json in their place, as ReadState does.
func ReadRules(state []byte, base towerdefence.Rules) (towerdefence.Rules, error) {
	var f stateFile
	if err := json.Unmarshal(texts.Unmarked(state), &f); err != nil {
		return base, err
	}
	return f.rules(base)
}

// rules returns r with the values of the file in their place.
func (s *stateFile) rules(r towerdefence.Rules) (towerdefence.Rules, error) {
	d := s.Details
	if d == nil {
		return r, fmt.Errorf("gameDetails is missing")
	}
	var width, height int
	curtain := &d.IronCurtainStats
	if err := numbers("gameDetails.",
		field{"mapWidth", d.MapWidth, &width}, field{"mapHeight", d.MapHeight, &height},
		field{"maxRounds", d.MaxRounds, &r.MaxRounds}, field{"roundIncomeEnergy", d.RoundIncomeEnergy, &r.RoundIncome},
		field{"ironCurtainStats.activeRounds", curtain.ActiveRounds, &r.CurtainActiveRounds},
		field{"ironCurtainStats.resetPeriod", curtain.ResetPeriod, &r.CurtainResetPeriod},
		field{"ironCurtainStats.price", curtain.Price, &r.CurtainPrice},
		field{"ironCurtainStats.constructionScore", curtain.ConstructionScore, &r.CurtainConstructionScore},
	); err != nil {
		return r, err
	}
	if width != Columns || height != Rows {
		return r, fmt.Errorf("gameDetails.mapWidth and mapHeight are %d and %d, expected %d and %d", width, height, Columns, Rows)
	}
	for _, k := range displayKinds {
		from, b := d.BuildingsStats[k.String()], &r.Buildings[k]
		if err := numbers("gameDetails.buildingsStats."+k.String()+".",
			field{"health", from.Health, &b.Health}, field{"constructionTime", from.ConstructionTime, &b.ConstructionTime},
			field{"price", from.Price, &b.Price}, field{"weaponDamage", from.WeaponDamage, &b.Damage},
			field{"weaponSpeed", from.WeaponSpeed, &b.Speed}, field{"weaponCooldownPeriod", from.WeaponCooldownPeriod, &b.Cooldown},
			field{"energyGeneratedPerTurn", from.EnergyGeneratedPerTurn, &b.EnergyPerTurn},
			field{"destroyMultiplier", from.DestroyMultiplier, &b.DestroyMultiplier},
			field{"constructionScore", from.ConstructionScore, &b.ConstructionScore},
		); err != nil {
			return r, err
		}
	}
	for y := range s.GameMap {
		for x := range s.GameMap[y] {
			for _, b := range s.GameMap[y][x].Buildings {
				if b.BuildingType == towerdefence.Tesla.String() && b.MaxRange != nil && b.EnergyPerShot != nil {
					if err := numbers("a tesla tower's ", field{"maxRange", b.MaxRange, &r.Buildings[towerdefence.Tesla].Range},
						field{"energyPerShot", b.EnergyPerShot, &r.TeslaEnergyPerShot}); err != nil {
						return r, err
					}
				}
			}
		}
	}
	return r, nil
}

// position returns what the file shows, in the coordinates of the owners.
func (s *stateFile) position(viewer sim.Player) (*towerdefence.Position, error) {
	p := new(towerdefence.Position)
	if err := number("gameDetails.round", s.Details.Round, &p.Round); err != nil {
		return nil, err
	}
	for q := range p.Half {
		from, h := &s.Players[q], &p.Half[q]
		prefix := fmt.Sprintf("players[%d].", q)
		if err := numbers(prefix, field{"energy", from.Energy, &h.Energy}, field{"health", from.Health, &h.Health},
			field{"hitsTaken", from.HitsTaken, &h.Hits}, field{"score", from.Score, &h.Score},
			field{"activeIronCurtainLifetime", from.ActiveIronCurtainLifetime, &h.Curtain}); err != nil {
			return nil, err
		}
		if from.IronCurtainAvailable == nil {
			return nil, fmt.Errorf("%sironCurtainAvailable is missing", prefix)
		}
		h.Available = *from.IronCurtainAvailable
	}
	if len(s.GameMap) != Rows {
		return nil, fmt.Errorf("gameMap has %d rows, expected %d", len(s.GameMap), Rows)
	}
	for y, row := range s.GameMap {
		if len(row) != Columns {
			return nil, fmt.Errorf("gameMap[%d] has %d cells, expected %d", y, len(row), Columns)
		}
		for x := range row {
			if err := row[x].read(p, viewer, x, y); err != nil {
				return nil, fmt.Errorf("gameMap[%d][%d]: %w", y, x, err)
			}
		}
	}
	return p, nil
}

// read puts the contents of a cell into the position.
func (s *stateCell) read(p *towerdefence.Position, viewer sim.Player, x, y int) error {
	if s.X == nil || s.Y == nil || *s.X != x || *s.Y != y {
		return fmt.Errorf("x and y are not its place, expected %d and %d", x, y)
	}
	v := view{viewer}
	at := v.x(x)
	owner, cell := SeatA, y*towerdefence.Width+at
	if at >= towerdefence.Width {
		owner, cell = SeatB, y*towerdefence.Width+Columns-1-at
	}
	if n := len(s.Buildings); n > 1 {
		return fmt.Errorf("%d buildings, expected 1 at most", n)
	}
	for i := range s.Buildings {
		site, err := s.Buildings[i].site(v, owner, cell)
		if err != nil {
			return fmt.Errorf("buildings[0].%w", err)
		}
		p.Half[owner].Sites = append(p.Half[owner].Sites, site)
	}
	for i := range s.Missiles {
		q, err := v.seat(s.Missiles[i].PlayerType)
		switch {
		case err != nil:
			return fmt.Errorf("missiles[%d].%w", i, err)
		case q == owner:
			p.Half[q].Own[cell]++
		default:
			p.Half[q].Far[cell]++
		}
	}
	return nil
}

// site returns a building on a cell of its owner.
func (b *stateBuilding) site(v view, owner sim.Player, cell int) (s towerdefence.Site, err error) {
	s.Cell = cell
	found := false
	for _, k := range displayKinds {
		if k.String() == b.BuildingType {
			s.Kind, found = k, true
		}
	}
	if !found {
		return s, fmt.Errorf("buildingType is %.20q, expected ATTACK, DEFENSE, ENERGY or TESLA", b.BuildingType)
	}
	if q, err := v.seat(b.PlayerType); err != nil || q != owner {
		return s, fmt.Errorf("playerType is %.20q, expected the owner of the half that it stands on", b.PlayerType)
	}
	return s, numbers("", field{"health", b.Health, &s.Health}, field{"constructionTimeLeft", b.ConstructionTimeLeft, &s.BuildTime},
		field{"weaponCooldownTimeLeft", b.WeaponCooldownTimeLeft, &s.Cooldown})
}

// seat returns the player whom the viewer sees as a letter.
func (v view) seat(letter string) (sim.Player, error) {
	switch letter {
	case "A":
		return v.viewer, nil
	case "B":
		return v.viewer ^ 1, nil
	}
	return 0, fmt.Errorf("playerType is %.20q, expected A or B", letter)
}

// StartOf reads the energies and healths of A and B in a state.json.
func StartOf(state []byte) (energy, health [2]int, err error) {
	var start struct {
		Players []struct{ Energy, Health int }
	}
	if err := json.Unmarshal(texts.Unmarked(state), &start); err != nil {
		return energy, health, err
	}
	if n := len(start.Players); n != 2 {
		return energy, health, fmt.Errorf("expected 2 players, found %d", n)
	}
	for p, player := range start.Players {
		energy[p], health[p] = player.Energy, player.Health
	}
	return energy, health, nil
}
