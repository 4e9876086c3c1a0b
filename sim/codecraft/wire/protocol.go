package wire

import "moonfarm/sim/codecraft"

// PlayerView is what a player sees before a tick, in the player's own frame.
type PlayerView struct {
	MyID int32
	Header
	EntityProperties PropertyMap
	Players          []Player
	Entities         []Entity // ascending by id
}

// Header are the rules and the tick, as views, states and ticks of recordings
// begin with them.
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

// EntityProperties are the numbers of a type of entities.
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

// BuildProperties say what an entity can build.
type BuildProperties struct {
	Options    Kinds           `json:"options"`
	InitHealth Optional[int32] `json:"init_health"` // absent: full
}

// AttackProperties say how an entity attacks.
type AttackProperties struct {
	AttackRange     int32 `json:"range"`
	Damage          int32 `json:"damage"`
	CollectResource bool  `json:"collect_resource"`
}

// RepairProperties say what an entity can repair.
type RepairProperties struct {
	ValidTargets Kinds `json:"valid_targets"`
	Power        int32 `json:"power"`
}

// Player is a player as all see it.
type Player struct {
	ID       int32 `json:"id"`
	Score    int32 `json:"score"`
	Resource int32 `json:"resource"`
}

// Entity is an entity as a player sees it.
type Entity struct {
	ID       int32           `json:"id"`
	PlayerID Optional[int32] `json:"player"` // absent: a resource
	Type     codecraft.Type  `json:"type"`
	X        int32           `json:"x"` // of the lowest corner
	Y        int32           `json:"y"`
	Health   int32           `json:"health"`
	Active   bool            `json:"active"`
}

// ServerKind is the tag of a message to a client.
type ServerKind int32

const (
	GetAction   ServerKind = 0 // has a view, wants an action
	Finish      ServerKind = 1 // the game is over
	DebugUpdate ServerKind = 2 // has a view, wants debug data

	serverKinds = 3
)

// ServerMessage is a message to a client.
type ServerMessage struct {
	Kind           ServerKind
	View           PlayerView // of GetAction and DebugUpdate
	DebugAvailable bool       // of GetAction
}

// ServerMessage reads a message to a client into m, whose memory is used again.
func (r *Reader) ServerMessage(m *ServerMessage) error {
	m.Kind = ServerKind(r.tag("message to a client", serverKinds))
	m.DebugAvailable = false
	if r.err == nil && m.Kind != Finish {
		r.view(&m.View)
	}
	if m.Kind == GetAction {
		m.DebugAvailable = r.truth("debug_available")
	}
	return r.err
}

// Append appends the message as it is sent.
func (m *ServerMessage) Append(dst []byte) []byte {
	dst = appendNumber(dst, int32(m.Kind))
	if m.Kind != Finish {
		dst = m.View.append(dst)
	}
	if m.Kind == GetAction {
		dst = appendTruth(dst, m.DebugAvailable)
	}
	return dst
}

func (r *Reader) view(v *PlayerView) {
	v.MyID = r.number("my_id")
	v.MapSize = r.number("map_size")
	r.header(&v.Header, &v.EntityProperties)
	v.Players = v.Players[:0]
	for i, n := 0, r.count("players", 12); i < n && r.err == nil; i++ {
		v.Players = append(v.Players, Player{r.number("id of a player"), r.number("score"), r.number("resource")})
	}
	v.Entities = v.Entities[:0]
	for i, n := 0, r.count("entities", 22); i < n && r.err == nil; i++ {
		v.Entities = append(v.Entities, r.entity())
	}
}

// header reads what of a Header follows the size of the map, with the map of
// properties in it if there is one.
func (r *Reader) header(h *Header, properties *PropertyMap) {
	h.FogOfWar = r.truth("fog_of_war")
	if properties != nil {
		r.properties(properties)
	}
	h.MaxTickCount = r.number("max_tick_count")
	h.MaxPathfindNodes = r.number("max_pathfind_nodes")
	h.CurrentTick = r.number("current_tick")
}

// append appends the header, with the map of properties in it if there is one.
func (h *Header) append(dst []byte, properties *PropertyMap) []byte {
	dst = appendTruth(appendNumber(dst, h.MapSize), h.FogOfWar)
	if properties != nil {
		dst = properties.append(dst)
	}
	return appendNumbers(dst, h.MaxTickCount, h.MaxPathfindNodes, h.CurrentTick)
}

func (v *PlayerView) append(dst []byte) []byte {
	dst = v.Header.append(appendNumber(dst, v.MyID), &v.EntityProperties)
	dst = appendNumber(dst, int32(len(v.Players)))
	for _, p := range v.Players {
		dst = appendNumbers(dst, p.ID, p.Score, p.Resource)
	}
	dst = appendNumber(dst, int32(len(v.Entities)))
	for i := range v.Entities {
		dst = v.Entities[i].append(dst)
	}
	return dst
}

func (r *Reader) entity() (e Entity) {
	e.ID = r.number("id of an entity")
	if e.PlayerID.Given = r.truth("player_id"); e.PlayerID.Given {
		e.PlayerID.Value = r.number("player_id")
	}
	e.Type = r.kind("type of an entity")
	e.X, e.Y = r.number("x of an entity"), r.number("y of an entity")
	e.Health = r.number("health")
	e.Active = r.truth("active")
	return e
}

func (e *Entity) append(dst []byte) []byte {
	dst = appendNumber(dst, e.ID)
	dst = appendTruth(dst, e.PlayerID.Given)
	if e.PlayerID.Given {
		dst = appendNumber(dst, e.PlayerID.Value)
	}
	return appendTruth(appendNumbers(dst, int32(e.Type), e.X, e.Y, e.Health), e.Active)
}

func (r *Reader) properties(m *PropertyMap) {
	*m = (*m)[:0]
	for i, n := 0, r.count("properties", 44); i < n && r.err == nil; i++ {
		*m = append(*m, TypeProperties{r.kind("type with properties"), r.propertiesOfType()})
	}
}

func (m PropertyMap) append(dst []byte) []byte {
	dst = appendNumber(dst, int32(len(m)))
	for i := range m {
		dst = m[i].EntityProperties.append(appendNumber(dst, int32(m[i].Type)))
	}
	return dst
}

func (r *Reader) propertiesOfType() (p EntityProperties) {
	p.Size = r.number("size")
	p.BuildScore = r.number("build_score")
	p.DestroyScore = r.number("destroy_score")
	p.CanMove = r.truth("can_move")
	p.PopulationProvide = r.number("population_provide")
	p.PopulationUse = r.number("population_use")
	p.MaxHealth = r.number("max_health")
	p.InitialCost = r.number("initial_cost")
	p.SightRange = r.number("sight_range")
	p.ResourcePerHealth = r.number("resource_per_health")
	if p.Build.Given = r.truth("build"); p.Build.Given {
		b := &p.Build.Value
		b.Options = r.kinds(nil, "options")
		if b.InitHealth.Given = r.truth("init_health"); b.InitHealth.Given {
			b.InitHealth.Value = r.number("init_health")
		}
	}
	if p.Attack.Given = r.truth("attack"); p.Attack.Given {
		p.Attack.Value = AttackProperties{r.number("attack_range"), r.number("damage"), r.truth("collect_resource")}
	}
	if p.Repair.Given = r.truth("repair"); p.Repair.Given {
		p.Repair.Value = RepairProperties{r.kinds(nil, "valid_targets"), r.number("power")}
	}
	return p
}

func (p *EntityProperties) append(dst []byte) []byte {
	dst = appendTruth(appendNumbers(dst, p.Size, p.BuildScore, p.DestroyScore), p.CanMove)
	dst = appendNumbers(dst, p.PopulationProvide, p.PopulationUse, p.MaxHealth, p.InitialCost, p.SightRange, p.ResourcePerHealth)
	dst = appendTruth(dst, p.Build.Given)
	if b := &p.Build.Value; p.Build.Given {
		dst = appendKinds(dst, b.Options)
		dst = appendTruth(dst, b.InitHealth.Given)
		if b.InitHealth.Given {
			dst = appendNumber(dst, b.InitHealth.Value)
		}
	}
	dst = appendTruth(dst, p.Attack.Given)
	if a := &p.Attack.Value; p.Attack.Given {
		dst = appendTruth(appendNumbers(dst, a.AttackRange, a.Damage), a.CollectResource)
	}
	dst = appendTruth(dst, p.Repair.Given)
	if p.Repair.Given {
		dst = appendNumber(appendKinds(dst, p.Repair.Value.ValidTargets), p.Repair.Value.Power)
	}
	return dst
}
