package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"moonfarm/sim/codecraft"
)

// Recordings of games and views as JSON Lines: ../../../shared/traces/codecraft
// describes them. Each line is an object whose key "kind" tells what it is.

// maxLine is the most bytes of a line.
const maxLine = 1 << 24

// jsonLines reads JSON Lines.
type jsonLines struct {
	in   *bufio.Scanner
	line int
}

func newJSONLines(in io.Reader) *jsonLines {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	return &jsonLines{in: s}
}

// next reads a line into v; io.EOF after the last.
func (l *jsonLines) next(v any) error {
	for {
		l.line++
		if !l.in.Scan() {
			switch err := l.in.Err(); {
			case errors.Is(err, bufio.ErrTooLong):
				return fmt.Errorf("the line is longer than %d bytes", maxLine)
			case err != nil:
				return err
			}
			return io.EOF
		}
		if err := l.in.Err(); err != nil {
			return err // what was read before it is a part of a line
		}
		if text := bytes.TrimSpace(l.in.Bytes()); len(text) > 0 {
			return json.Unmarshal(text, v)
		}
	}
}

// The objects of the lines, with the names of their keys.
type (
	jsonEntity struct {
		ID     int32    `json:"id"`
		Player *int32   `json:"player"`
		Type   jsonType `json:"type"`
		X      int32    `json:"x"`
		Y      int32    `json:"y"`
		Health int32    `json:"health"`
		Active bool     `json:"active"`
	}
	jsonSeat struct {
		ID       int32 `json:"id"`
		Index    int32 `json:"index"`
		Score    int32 `json:"score"`
		Resource int32 `json:"resource"`
	}
	jsonAttack struct {
		Range   int32 `json:"range"`
		Reach   int32 `json:"attack_range,omitempty"` // the original's name; one file has it
		Damage  int32 `json:"damage"`
		Collect bool  `json:"collect_resource"`
	}
	jsonProperties struct {
		Size              int32        `json:"size"`
		BuildScore        int32        `json:"build_score"`
		DestroyScore      int32        `json:"destroy_score"`
		CanMove           bool         `json:"can_move"`
		PopulationProvide int32        `json:"population_provide"`
		PopulationUse     int32        `json:"population_use"`
		MaxHealth         int32        `json:"max_health"`
		InitialCost       int32        `json:"initial_cost"`
		SightRange        int32        `json:"sight_range"`
		ResourcePerHealth int32        `json:"resource_per_health"`
		Build             *jsonBuilds  `json:"build"`
		Attack            *jsonAttack  `json:"attack"`
		Repair            *jsonRepairs `json:"repair"`
	}
	jsonBuilds struct {
		Options    []jsonType `json:"options"`
		InitHealth *int32     `json:"init_health"`
	}
	jsonRepairs struct {
		ValidTargets []jsonType `json:"valid_targets"`
		Power        int32      `json:"power"`
	}
	jsonAction struct {
		Move   *jsonMove         `json:"move"`
		Build  *jsonBuild        `json:"build"`
		Attack *jsonAttackAction `json:"attack"`
		Repair *int32            `json:"repair"`
	}
	jsonMove struct {
		Target  [2]int32 `json:"target"`
		Closest bool     `json:"find_closest"`
		Break   bool     `json:"break_through"`
	}
	jsonBuild struct {
		Type     jsonType `json:"type"`
		Position [2]int32 `json:"position"`
	}
	jsonAttackAction struct {
		Target *int32    `json:"target"`
		Auto   *jsonAuto `json:"auto"`
	}
	jsonAuto struct {
		Range int32      `json:"pathfind_range"`
		Valid []jsonType `json:"valid_targets"`
	}
	jsonEvent struct {
		Type     string `json:"type"`
		Attacker int32  `json:"attacker"`
		Target   int32  `json:"target"`
	}
	jsonLine struct {
		Kind             string                    `json:"kind"`
		Source           string                    `json:"source"`
		Base64           []byte                    `json:"base64"`
		NextID           int32                     `json:"next_id"`
		MyID             int32                     `json:"my_id"`
		MapSize          int32                     `json:"map_size"`
		FogOfWar         bool                      `json:"fog_of_war"`
		MaxTickCount     int32                     `json:"max_tick_count"`
		MaxPathfindNodes int32                     `json:"max_pathfind_nodes"`
		Tick             int32                     `json:"tick"`
		Properties       map[string]jsonProperties `json:"properties"`
		Players          []jsonSeat                `json:"players"`
		Entities         []jsonEntity              `json:"entities"`
		Actions          map[string]jsonAction     `json:"actions"`
		ActionsSet       map[string]jsonAction     `json:"actions_set"`
		ActionsRemoved   []int32                   `json:"actions_removed"`
		Events           []jsonEvent               `json:"events"`
		EntitiesNew      []jsonEntity              `json:"entities_new"`
		EntitiesRemoved  []int32                   `json:"entities_removed"`
		EntitiesUpdated  []jsonEntity              `json:"entities_updated"`
	}
)

// jsonType is a type by its name.
type jsonType codecraft.Type

// UnmarshalJSON reads the name of a type.
func (t *jsonType) UnmarshalJSON(text []byte) error {
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return err
	}
	named, ok := codecraft.TypeNamed(name)
	if !ok {
		return fmt.Errorf("found type %.40q, want one like %q", name, codecraft.House)
	}
	*t = jsonType(named)
	return nil
}

func kindsOf(list []jsonType) []codecraft.Type {
	var kinds []codecraft.Type
	for _, t := range list {
		kinds = append(kinds, codecraft.Type(t))
	}
	return kinds
}

func optional(n *int32) Optional[int32] {
	if n == nil {
		return Optional[int32]{}
	}
	return Some(*n)
}

func (e *jsonEntity) entity() Entity {
	return Entity{e.ID, optional(e.Player), codecraft.Type(e.Type), e.X, e.Y, e.Health, e.Active}
}

func appendEntities(dst []Entity, list []jsonEntity) []Entity {
	for i := range list {
		dst = append(dst, list[i].entity())
	}
	return dst
}

func appendSeats(dst []Seat, list []jsonSeat) []Seat {
	for _, p := range list {
		dst = append(dst, Seat(p))
	}
	return dst
}

func (p *jsonProperties) properties() EntityProperties {
	q := EntityProperties{
		Size: p.Size, BuildScore: p.BuildScore, DestroyScore: p.DestroyScore, CanMove: p.CanMove,
		PopulationProvide: p.PopulationProvide, PopulationUse: p.PopulationUse, MaxHealth: p.MaxHealth,
		InitialCost: p.InitialCost, SightRange: p.SightRange, ResourcePerHealth: p.ResourcePerHealth,
	}
	if b := p.Build; b != nil {
		q.Build = Some(BuildProperties{kindsOf(b.Options), optional(b.InitHealth)})
	}
	if a := p.Attack; a != nil {
		q.Attack = Some(AttackProperties{max(a.Range, a.Reach), a.Damage, a.Collect})
	}
	if r := p.Repair; r != nil {
		q.Repair = Some(RepairProperties{kindsOf(r.ValidTargets), r.Power})
	}
	return q
}

// typesOf are the properties in the order of the types.
func typesOf(m map[string]jsonProperties) ([]TypeProperties, error) {
	var list []TypeProperties
	for name, p := range m {
		t, ok := codecraft.TypeNamed(name)
		if !ok {
			return nil, fmt.Errorf("properties: found type %.40q, want one like %q", name, codecraft.House)
		}
		list = append(list, TypeProperties{t, p.properties()})
	}
	slices.SortFunc(list, func(a, b TypeProperties) int { return int(a.Type) - int(b.Type) })
	return list, nil
}

func (a *jsonAction) action() (b EntityAction) {
	if m := a.Move; m != nil {
		b.Move = Some(MoveAction{m.Target[0], m.Target[1], m.Closest, m.Break})
	}
	if c := a.Build; c != nil {
		b.Build = Some(BuildAction{codecraft.Type(c.Type), c.Position[0], c.Position[1]})
	}
	if c := a.Attack; c != nil {
		b.Attack.Given = true
		b.Attack.Value.Target = optional(c.Target)
		if c.Auto != nil {
			b.Attack.Value.Auto = Some(AutoAttack{c.Auto.Range, kindsOf(c.Auto.Valid)})
		}
	}
	if r := a.Repair; r != nil {
		b.Repair = Some(RepairAction{*r})
	}
	return b
}

// appendOrders appends a map of actions in the order of the ids.
func appendOrders(dst []EntityOrder, m map[string]jsonAction) ([]EntityOrder, error) {
	from := len(dst)
	for key, a := range maps.All(m) {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return dst, fmt.Errorf("actions: found key %.40q, want the id of an entity", key)
		}
		dst = append(dst, EntityOrder{int32(id), a.action()})
	}
	slices.SortFunc(dst[from:], func(a, b EntityOrder) int { return int(a.ID) - int(b.ID) })
	return dst, nil
}

// openJSON reads the first line of a recorded game.
func (r *Recording) openJSON(in io.Reader) error {
	l := newJSONLines(in)
	r.at = func() string { return fmt.Sprintf("line %d", l.line) }
	var first jsonLine
	switch err := l.next(&first); {
	case err != nil:
		return err
	case first.Kind != "initial":
		return fmt.Errorf("found a line of kind %.40q, want %q: it holds no game", first.Kind, "initial")
	case first.MapSize != codecraft.Side:
		return fmt.Errorf("found map_size %d, want %d", first.MapSize, codecraft.Side)
	}
	if err := first.world(&r.World); err != nil {
		return err
	}
	r.next = func() error { return r.nextJSON(l) }
	return nil
}

// world fills in a whole state.
func (l *jsonLine) world(w *World) (err error) {
	*w = World{
		NextID: l.NextID, MapSize: l.MapSize, FogOfWar: l.FogOfWar,
		MaxTickCount: l.MaxTickCount, MaxPathfindNodes: l.MaxPathfindNodes, CurrentTick: l.Tick,
		Players: appendSeats(nil, l.Players), Entities: appendEntities(nil, l.Entities),
	}
	if w.EntityProperties, err = typesOf(l.Properties); err != nil {
		return err
	}
	w.Actions, err = appendOrders(nil, l.Actions)
	return err
}

// nextJSON reads a tick of a recorded game.
func (r *Recording) nextJSON(l *jsonLines) error {
	var t jsonLine
	if err := l.next(&t); err != nil {
		return err
	}
	if t.Kind != "tick" {
		return fmt.Errorf("found a line of kind %.40q, want %q", t.Kind, "tick")
	}
	for _, e := range t.Events {
		if e.Type != "attack" {
			return fmt.Errorf("found an event of type %.40q, want %q", e.Type, "attack")
		}
		r.Events = append(r.Events, Event{e.Attacker, e.Target})
	}
	w, d := &r.World, &r.Delta
	d.NextID, d.MapSize, d.FogOfWar, d.CurrentTick, d.Reserved = t.NextID, w.MapSize, w.FogOfWar, t.Tick, w.Reserved
	d.MaxTickCount, d.MaxPathfindNodes = w.MaxTickCount, w.MaxPathfindNodes
	for _, p := range appendSeats(nil, t.Players) {
		if i := slices.IndexFunc(w.Players, func(q Seat) bool { return q.ID == p.ID }); i < 0 {
			return fmt.Errorf("found player %d, want those of the first line", p.ID)
		} else if w.Players[i] != p {
			d.Players.Changed = append(d.Players.Changed, p)
		}
	}
	d.Entities.New = appendEntities(d.Entities.New, t.EntitiesNew)
	d.Entities.Changed = appendEntities(d.Entities.Changed, t.EntitiesUpdated)
	d.Entities.Removed = append(d.Entities.Removed, t.EntitiesRemoved...)
	d.Actions.Removed = append(d.Actions.Removed, t.ActionsRemoved...)
	set, err := appendOrders(nil, t.ActionsSet)
	if err != nil {
		return err
	}
	known := map[int32]bool{}
	for i := range w.Actions {
		known[w.Actions[i].ID] = true
	}
	for _, a := range set {
		if known[a.ID] {
			d.Actions.Changed = append(d.Actions.Changed, a)
		} else {
			d.Actions.New = append(d.Actions.New, a)
		}
	}
	return nil
}
