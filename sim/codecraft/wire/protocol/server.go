package protocol

import (
	"moonfarm/sim/codecraft"
)

// PlayerView is the view of a player before a tick, in the player's own frame.
type PlayerView struct {
	MyID int32
	Header
	EntityProperties PropertyMap
	Players          []Standing
	Entities         []Entity // ascending by id
}

// Header has the rules and the tick with which views, and states and ticks of recordings,
// begin.
type Header struct {
	MapSize          int32 `json:"map_size"`
	FogOfWar         bool  `json:"fog_of_war"`
	MaxTickCount     int32 `json:"max_tick_count"`
	MaxPathfindNodes int32 `json:"max_pathfind_nodes"`
	CurrentTick      int32 `json:"tick"`
}

// PropertyMap holds the properties of the types, each once, in any order.
type PropertyMap []TypeProperties

// TypeProperties is an item of a PropertyMap.
type TypeProperties struct {
	Type codecraft.Type
	EntityProperties
}

// EntityProperties has the numbers of an entity type.
type EntityProperties struct {
	Size              int32                      `json:"size"`
	BuildScore        int32                      `json:"build_score"`
	DestroyScore      int32                      `json:"destroy_score"`
	CanMove           bool                       `json:"can_move"`
	PopulationProvide int32                      `json:"population_provide"`
	PopulationUse     int32                      `json:"population_use"`
	MaxHealth         int32                      `json:"max_health"`
	InitialCost       int32                      `json:"initial_cost"`
	SightRange        int32                      `json:"sight_range"`
	ResourcePerHealth int32                      `json:"resource_per_health"`
	Build             Optional[BuildProperties]  `json:"build"`
	Attack            Optional[AttackProperties] `json:"attack"`
	Repair            Optional[RepairProperties] `json:"repair"`
}

// BuildProperties lists the types that an entity can build.
type BuildProperties struct {
	Options    Kinds           `json:"options"`
	InitHealth Optional[int32] `json:"init_health"` // absent: full health
}

// AttackProperties describes the attack of an entity.
type AttackProperties struct {
	AttackRange     int32 `json:"range"`
	Damage          int32 `json:"damage"`
	CollectResource bool  `json:"collect_resource"`
}

// RepairProperties lists the types that an entity can repair.
type RepairProperties struct {
	ValidTargets Kinds `json:"valid_targets"`
	Power        int32 `json:"power"`
}

// Standing is the score and the resource of a player, which all players see.
type Standing struct {
	ID       int32 `json:"id"`
	Score    int32 `json:"score"`
	Resource int32 `json:"resource"`
}

// Entity is an entity in a view or a recorded state.
type Entity struct {
	ID       int32           `json:"id"`
	PlayerID Optional[int32] `json:"player"` // absent: a resource
	Type     codecraft.Type  `json:"type"`
	X        int32           `json:"x"` // X and Y: its lowest corner
	Y        int32           `json:"y"`
	Health   int32           `json:"health"`
	Active   bool            `json:"active"`
}

// ServerKind is the tag of a message to a client.
type ServerKind int32

const (
	GetAction   ServerKind = 0 // asks for an action; has a view
	Finish      ServerKind = 1 // the game is over
	DebugUpdate ServerKind = 2 // asks for debug data; has a view

	serverKinds = 3
)

// ServerMessage is a message to a client.
type ServerMessage struct {
	Kind           ServerKind
	View           PlayerView // of GetAction and DebugUpdate
	DebugAvailable bool       // of GetAction
}

// ServerMessage reads a message to a client into m and reuses the memory of m.
func (r *Reader) ServerMessage(m *ServerMessage) error {
	m.Kind = ServerKind(r.Tag("message to a client", serverKinds))
	m.DebugAvailable = false
	if r.err == nil && m.Kind != Finish {
		r.PlayerView(&m.View)
	}
	if m.Kind == GetAction {
		m.DebugAvailable = r.truth("debug_available")
	}
	return r.err
}

// Append appends the message in its binary form.
func (s *ServerMessage) Append(dst []byte) []byte {
	dst = AppendNumber(dst, int32(s.Kind))
	if s.Kind != Finish {
		dst = s.View.Append(dst)
	}
	if s.Kind == GetAction {
		dst = appendTruth(dst, s.DebugAvailable)
	}
	return dst
}

// PlayerView reads a view into v and reuses the memory of v.
func (r *Reader) PlayerView(v *PlayerView) error {
	v.MyID = r.Number("my_id")
	v.MapSize = r.Number("map_size")
	r.Header(&v.Header, &v.EntityProperties)
	v.Players = v.Players[:0]
	for i, n := 0, r.Count("players", 12); i < n && r.err == nil; i++ {
		v.Players = append(v.Players, Standing{r.Number("id of a player"), r.Number("score"), r.Number("resource")})
	}
	v.Entities = v.Entities[:0]
	for i, n := 0, r.Count("entities", 22); i < n && r.err == nil; i++ {
		v.Entities = append(v.Entities, r.Entity())
	}
	return r.err
}

// Header reads the part of a Header after the size of the map. If properties is not nil, the
// map of properties is a part of it.
func (r *Reader) Header(h *Header, properties *PropertyMap) {
	h.FogOfWar = r.truth("fog_of_war")
	if properties != nil {
		r.properties(properties)
	}
	h.MaxTickCount = r.Number("max_tick_count")
	h.MaxPathfindNodes = r.Number("max_pathfind_nodes")
	h.CurrentTick = r.Number("current_tick")
}

// Append appends the header, with the map of properties in it unless properties is nil.
func (h *Header) Append(dst []byte, properties *PropertyMap) []byte {
	dst = appendTruth(AppendNumber(dst, h.MapSize), h.FogOfWar)
	if properties != nil {
		dst = properties.append(dst)
	}
	return AppendNumbers(dst, h.MaxTickCount, h.MaxPathfindNodes, h.CurrentTick)
}

// Append appends the view in its binary form.
func (v *PlayerView) Append(dst []byte) []byte {
	dst = v.Header.Append(AppendNumber(dst, v.MyID), &v.EntityProperties)
	dst = AppendNumber(dst, int32(len(v.Players)))
	for _, p := range v.Players {
		dst = AppendNumbers(dst, p.ID, p.Score, p.Resource)
	}
	dst = AppendNumber(dst, int32(len(v.Entities)))
	for i := range v.Entities {
		dst = v.Entities[i].Append(dst)
	}
	return dst
}

// Entity reads an entity.
func (r *Reader) Entity() (e Entity) {
	e.ID = r.Number("id of an entity")
	if e.PlayerID.Given = r.truth("player_id"); e.PlayerID.Given {
		e.PlayerID.Value = r.Number("player_id")
	}
	e.Type = r.kind("type of an entity")
	e.X, e.Y = r.Number("x of an entity"), r.Number("y of an entity")
	e.Health = r.Number("health")
	e.Active = r.truth("active")
	return e
}

// Append appends the entity in its binary form.
func (e *Entity) Append(dst []byte) []byte {
	dst = AppendNumber(dst, e.ID)
	dst = appendTruth(dst, e.PlayerID.Given)
	if e.PlayerID.Given {
		dst = AppendNumber(dst, e.PlayerID.Value)
	}
	return appendTruth(AppendNumbers(dst, int32(e.Type), e.X, e.Y, e.Health), e.Active)
}

func (r *Reader) properties(m *PropertyMap) {
	*m = (*m)[:0]
	for i, n := 0, r.Count("properties", 44); i < n && r.err == nil; i++ {
		*m = append(*m, TypeProperties{r.kind("type with properties"), r.propertiesOfType()})
	}
}

func (m PropertyMap) append(dst []byte) []byte {
	dst = AppendNumber(dst, int32(len(m)))
	for i := range m {
		dst = m[i].EntityProperties.append(AppendNumber(dst, int32(m[i].Type)))
	}
	return dst
}

func (r *Reader) propertiesOfType() (p EntityProperties) {
	p.Size = r.Number("size")
	p.BuildScore = r.Number("build_score")
	p.DestroyScore = r.Number("destroy_score")
	p.CanMove = r.truth("can_move")
	p.PopulationProvide = r.Number("population_provide")
	p.PopulationUse = r.Number("population_use")
	p.MaxHealth = r.Number("max_health")
	p.InitialCost = r.Number("initial_cost")
	p.SightRange = r.Number("sight_range")
	p.ResourcePerHealth = r.Number("resource_per_health")
	if p.Build.Given = r.truth("build"); p.Build.Given {
		b := &p.Build.Value
		b.Options = r.kinds(nil, "options")
		if b.InitHealth.Given = r.truth("init_health"); b.InitHealth.Given {
			b.InitHealth.Value = r.Number("init_health")
		}
	}
	if p.Attack.Given = r.truth("attack"); p.Attack.Given {
		p.Attack.Value = AttackProperties{r.Number("attack_range"), r.Number("damage"), r.truth("collect_resource")}
	}
	if p.Repair.Given = r.truth("repair"); p.Repair.Given {
		p.Repair.Value = RepairProperties{r.kinds(nil, "valid_targets"), r.Number("power")}
	}
	return p
}

func (e *EntityProperties) append(dst []byte) []byte {
	dst = appendTruth(AppendNumbers(dst, e.Size, e.BuildScore, e.DestroyScore), e.CanMove)
	dst = AppendNumbers(dst, e.PopulationProvide, e.PopulationUse, e.MaxHealth, e.InitialCost, e.SightRange, e.ResourcePerHealth)
	dst = appendTruth(dst, e.Build.Given)
	if b := &e.Build.Value; e.Build.Given {
		dst = appendKinds(dst, b.Options)
		dst = appendTruth(dst, b.InitHealth.Given)
		if b.InitHealth.Given {
			dst = AppendNumber(dst, b.InitHealth.Value)
		}
	}
	dst = appendTruth(dst, e.Attack.Given)
	if a := &e.Attack.Value; e.Attack.Given {
		dst = appendTruth(AppendNumbers(dst, a.AttackRange, a.Damage), a.CollectResource)
	}
	dst = appendTruth(dst, e.Repair.Given)
	if e.Repair.Given {
		dst = AppendNumber(appendKinds(dst, e.Repair.Value.ValidTargets), e.Repair.Value.Power)
	}
	return dst
}
