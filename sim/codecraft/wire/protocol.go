package wire

import "moonfarm/sim/codecraft"

// PlayerView is what a player sees before a tick, in the player's own frame.
type PlayerView struct {
	MyID             int32
	MapSize          int32
	FogOfWar         bool
	EntityProperties []TypeProperties // a map; one per type
	MaxTickCount     int32
	MaxPathfindNodes int32
	CurrentTick      int32
	Players          []Player
	Entities         []Entity // ascending by id
}

// TypeProperties is an item of the map of properties.
type TypeProperties struct {
	Type codecraft.Type
	EntityProperties
}

// EntityProperties are the numbers of a type of entities.
type EntityProperties struct {
	Size              int32
	BuildScore        int32
	DestroyScore      int32
	CanMove           bool
	PopulationProvide int32
	PopulationUse     int32
	MaxHealth         int32
	InitialCost       int32
	SightRange        int32
	ResourcePerHealth int32
	Build             Optional[BuildProperties]
	Attack            Optional[AttackProperties]
	Repair            Optional[RepairProperties]
}

// BuildProperties say what an entity can build.
type BuildProperties struct {
	Options    []codecraft.Type
	InitHealth Optional[int32] // absent: full
}

// AttackProperties say how an entity attacks.
type AttackProperties struct {
	AttackRange     int32
	Damage          int32
	CollectResource bool
}

// RepairProperties say what an entity can repair.
type RepairProperties struct {
	ValidTargets []codecraft.Type
	Power        int32
}

// Player is a player as all see it.
type Player struct {
	ID       int32
	Score    int32
	Resource int32
}

// Entity is an entity as a player sees it.
type Entity struct {
	ID       int32
	PlayerID Optional[int32] // absent: a resource
	Type     codecraft.Type
	X, Y     int32 // lowest corner
	Health   int32
	Active   bool
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
	v.FogOfWar = r.truth("fog_of_war")
	v.EntityProperties = r.allProperties(v.EntityProperties[:0])
	v.MaxTickCount = r.number("max_tick_count")
	v.MaxPathfindNodes = r.number("max_pathfind_nodes")
	v.CurrentTick = r.number("current_tick")
	v.Players = v.Players[:0]
	for i, n := 0, r.count("players", 12); i < n && r.err == nil; i++ {
		v.Players = append(v.Players, Player{r.number("id of a player"), r.number("score"), r.number("resource")})
	}
	v.Entities = v.Entities[:0]
	for i, n := 0, r.count("entities", 22); i < n && r.err == nil; i++ {
		v.Entities = append(v.Entities, r.entity())
	}
}

func (v *PlayerView) append(dst []byte) []byte {
	dst = appendNumber(dst, v.MyID)
	dst = appendNumber(dst, v.MapSize)
	dst = appendTruth(dst, v.FogOfWar)
	dst = appendAllProperties(dst, v.EntityProperties)
	dst = appendNumber(dst, v.MaxTickCount)
	dst = appendNumber(dst, v.MaxPathfindNodes)
	dst = appendNumber(dst, v.CurrentTick)
	dst = appendNumber(dst, int32(len(v.Players)))
	for _, p := range v.Players {
		dst = appendNumber(appendNumber(appendNumber(dst, p.ID), p.Score), p.Resource)
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
	dst = appendNumber(dst, int32(e.Type))
	dst = appendNumber(appendNumber(dst, e.X), e.Y)
	dst = appendNumber(dst, e.Health)
	return appendTruth(dst, e.Active)
}

// allProperties appends the items of a map of properties.
func (r *Reader) allProperties(dst []TypeProperties) []TypeProperties {
	for i, n := 0, r.count("properties", 44); i < n && r.err == nil; i++ {
		dst = append(dst, TypeProperties{r.kind("type with properties"), r.properties()})
	}
	return dst
}

func appendAllProperties(dst []byte, list []TypeProperties) []byte {
	dst = appendNumber(dst, int32(len(list)))
	for i := range list {
		dst = appendNumber(dst, int32(list[i].Type))
		dst = list[i].EntityProperties.append(dst)
	}
	return dst
}

func (r *Reader) properties() (p EntityProperties) {
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
	for _, n := range [...]int32{p.Size, p.BuildScore, p.DestroyScore} {
		dst = appendNumber(dst, n)
	}
	dst = appendTruth(dst, p.CanMove)
	for _, n := range [...]int32{
		p.PopulationProvide, p.PopulationUse, p.MaxHealth, p.InitialCost, p.SightRange, p.ResourcePerHealth,
	} {
		dst = appendNumber(dst, n)
	}
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
		dst = appendNumber(appendNumber(dst, a.AttackRange), a.Damage)
		dst = appendTruth(dst, a.CollectResource)
	}
	dst = appendTruth(dst, p.Repair.Given)
	if p.Repair.Given {
		dst = appendNumber(appendKinds(dst, p.Repair.Value.ValidTargets), p.Repair.Value.Power)
	}
	return dst
}
