package wire

import (
	"strconv"
	"unicode/utf8"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// AppendFrame appends a frame as the original writes it, without the end of
// line: Style.AppendFrame in the Local style.
func AppendFrame(dst []byte, f *Frame) []byte { return Local.AppendFrame(dst, f) }

// AppendFrame appends a frame in the form of the original's files: keys and
// events in its order, which are those of a line of JSON without white space.
// ParseFrame reads it back as it was. Numbers must be finite, lists sorted as
// the caller wants them.
func (s Style) AppendFrame(dst []byte, f *Frame) []byte {
	w := writer{dst, s}
	w.raw(`{"p2Units":`)
	w.units(&f.Units[1])
	w.raw(`,"turnInfo":[`)
	w.int(f.Phase)
	w.raw(",")
	w.int(f.Turn)
	w.raw(",")
	w.int(f.Number)
	if f.Index >= 0 {
		w.raw(",")
		w.int(f.Index)
	}
	w.raw(`],"p1Stats":`)
	w.stats(&f.Stats[0])
	if f.End != nil {
		w.raw(`,"endStats":`)
		w.endStats(f.End)
	}
	w.raw(`,"p1Units":`)
	w.units(&f.Units[0])
	w.raw(`,"p2Stats":`)
	w.stats(&f.Stats[1])
	w.raw(`,"events":`)
	w.events(&f.Events)
	w.raw("}")
	return w.buf
}

// writer writes pieces of JSON.
type writer struct {
	buf   []byte
	style Style
}

func (w *writer) raw(text string) { w.buf = append(w.buf, text...) }
func (w *writer) int(n int)       { w.buf = strconv.AppendInt(w.buf, int64(n), 10) }
func (w *writer) float(v float32) { w.buf = w.style.appendFloat(w.buf, v) }
func (w *writer) time(v float64)  { w.buf = appendTime(w.buf, v) }
func (w *writer) flag(v bool)     { w.buf = strconv.AppendBool(w.buf, v) }
func (w *writer) pos(p terminal.Pos) {
	w.buf = append(w.buf, '[')
	w.cell(p)
	w.buf = append(w.buf, ']')
}

// cell writes x,y.
func (w *writer) cell(p terminal.Pos) {
	w.int(int(p.X))
	w.buf = append(w.buf, ',')
	w.int(int(p.Y))
}

// comma begins entry i of a list.
func (w *writer) comma(i int) {
	if i > 0 {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '[')
}

func (w *writer) id(id uint32) {
	w.buf = append(w.buf, '"')
	w.buf = strconv.AppendUint(w.buf, uint64(id), 10)
	w.buf = append(w.buf, '"')
}

// units writes a player's lists.
func (w *writer) units(u *Units) {
	lists := u[:]
	if u[terminal.Upgrade] == nil {
		lists = u[:terminal.Upgrade]
	}
	w.raw("[")
	for k, list := range lists {
		w.comma(k)
		for i := range list {
			w.comma(i)
			w.cell(list[i].At)
			w.raw(",")
			w.float(list[i].Value)
			w.raw(",")
			w.id(list[i].ID)
			w.raw("]")
		}
		w.raw("]")
	}
	w.raw("]")
}

func (w *writer) stats(s *Stats) {
	w.raw("[")
	w.float(s.Health)
	w.raw(",")
	w.float(s.Cores)
	w.raw(",")
	w.float(s.Bits)
	w.raw(",")
	w.time(s.Time)
	w.raw("]")
}

// endStats writes the sums of a match.
func (w *writer) endStats(e *EndStats) {
	w.raw(`{"duration":`)
	w.time(e.Duration)
	w.raw(`,"winner":`)
	w.int(e.Winner)
	w.raw(`,"player1":`)
	w.playerEnd(&e.Players[0])
	w.raw(`,"frames":`)
	w.int(e.Frames)
	w.raw(`,"player2":`)
	w.playerEnd(&e.Players[1])
	w.raw(`,"turns":`)
	w.int(e.Turns)
	w.raw("}")
}

// playerEnd writes the keys that are not absent, in the order of playerKeys.
func (w *writer) playerEnd(p *PlayerEnd) {
	w.raw("{")
	first := true
	for i, key := range playerKeys {
		if p.absent>>i&1 != 0 {
			continue
		}
		if !first {
			w.raw(",")
		}
		first = false
		w.string(key)
		w.raw(":")
		switch i {
		case 0:
			w.float(p.StructureSpent)
		case 1:
			w.float(p.MobileSpoiled)
		case 2:
			w.flag(p.Crashed)
		case 3:
			w.string(p.Name)
		case 4:
			w.float(p.MobileLost)
		case 5:
			w.time(p.TimeDamage)
		case 6:
			w.float(p.MobileSpent)
		case 7:
			w.float(p.StructureLeft)
		case 8:
			w.flag(p.TimeoutDeath)
		case 9:
			w.float(p.Points)
		case 10:
			w.time(p.Time)
		}
	}
	w.raw("}")
}

// string writes a string; what is not UTF-8 becomes U+FFFD.
func (w *writer) string(text string) {
	const hex = "0123456789abcdef"
	w.raw(`"`)
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			w.buf = append(w.buf, '\\', byte(r))
		case r < ' ':
			w.buf = append(w.buf, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			w.buf = utf8.AppendRune(w.buf, r)
		}
	}
	w.raw(`"`)
}

// who writes the end that most events have: kind,"id",player].
func (w *writer) who(k terminal.Kind, id uint32, p sim.Player) {
	w.raw(",")
	w.int(int(k))
	w.raw(",")
	w.id(id)
	w.raw(",")
	w.int(int(p) + 1)
	w.raw("]")
}

// events writes the nine lists.
func (w *writer) events(e *Events) {
	w.raw(`{"selfDestruct":[`)
	w.selfDestructs(e)
	w.raw(`],"breach":[`)
	for i := range e.Breaches {
		b := &e.Breaches[i]
		w.comma(i)
		w.hit(b.At, b.Damage)
		w.who(b.Kind, b.ID, b.Player)
	}
	w.raw(`],"damage":[`)
	for i := range e.Damages {
		d := &e.Damages[i]
		w.comma(i)
		w.hit(d.At, d.Damage)
		w.who(d.Kind, d.ID, d.Player)
	}
	w.raw(`],"shield":[`)
	w.shields(e.Shields)
	w.raw(`],"move":[`)
	w.moves(e)
	w.raw(`],"spawn":[`)
	for i := range e.Spawns {
		s := &e.Spawns[i]
		w.comma(i)
		w.pos(s.At)
		w.who(s.Kind, s.ID, s.Player)
	}
	w.raw(`],"death":[`)
	w.deaths(e)
	w.raw(`],"attack":[`)
	w.attacks(e.Attacks, true)
	w.raw(`],"melee":[`)
	w.attacks(e.Melees, false)
	w.raw("]}")
}

func (w *writer) hit(at terminal.Pos, damage float32) {
	w.pos(at)
	w.raw(",")
	w.float(damage)
}

func (w *writer) selfDestructs(list *Events) {
	for i := range list.SelfDestructs {
		e := &list.SelfDestructs[i]
		w.comma(i)
		w.pos(e.At)
		w.raw(",[")
		for j, target := range list.Targets[e.First:][:e.Count] {
			w.comma(j)
			w.cell(target)
			w.raw("]")
		}
		w.raw("],")
		w.float(e.Damage)
		w.who(e.Kind, e.ID, e.Player)
	}
}

func (w *writer) shields(list []terminal.ShieldEvent) {
	for i := range list {
		e := &list[i]
		w.comma(i)
		w.pos(e.From)
		w.raw(",")
		w.pos(e.To)
		w.raw(",")
		w.float(e.Amount)
		w.raw(",")
		w.int(int(e.Kind))
		w.raw(",")
		w.id(e.ID)
		w.raw(",")
		w.id(e.Unit)
		w.raw(",")
		w.int(int(e.Player) + 1)
		w.raw("]")
	}
}

func (w *writer) moves(list *Events) {
	for i := range list.Moves {
		e := &list.Moves[i]
		w.comma(i)
		w.pos(e.From)
		w.raw(",")
		w.pos(e.To)
		if i < len(list.Planned) {
			w.raw(",")
			w.pos(list.Planned[i])
		} else {
			w.raw(",[0,0]")
		}
		w.who(e.Kind, e.ID, e.Player)
	}
}

func (w *writer) deaths(list *Events) {
	for i := range list.Deaths {
		e := &list.Deaths[i]
		w.comma(i)
		w.pos(e.At)
		w.who(e.Kind, e.ID, e.Player)
		if !list.Unflagged {
			w.buf[len(w.buf)-1] = ','
			w.flag(e.Removed)
			w.raw("]")
		}
	}
}

// attacks writes attack or melee events; the latter name no target.
func (w *writer) attacks(list []terminal.AttackEvent, target bool) {
	for i := range list {
		e := &list[i]
		w.comma(i)
		w.pos(e.From)
		w.raw(",")
		w.hit(e.To, e.Damage)
		w.raw(",")
		w.int(int(e.Kind))
		w.raw(",")
		w.id(e.ID)
		if target {
			w.raw(",")
			w.id(e.Target)
		}
		w.raw(",")
		w.int(int(e.Player) + 1)
		w.raw("]")
	}
}
