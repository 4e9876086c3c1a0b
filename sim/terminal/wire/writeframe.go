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
	w := writer{buf: dst, style: s}
	w.frame(f)
	return w.buf
}

// writer writes pieces of JSON.
type writer struct {
	buf   []byte
	style Style
	kept  *[2][8]keptUnits // of a FrameWriter, or nil
}

func (w *writer) frame(f *Frame) {
	w.raw(`{"p2Units":`)
	w.units(f, 1)
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
	w.units(f, 0)
	w.raw(`,"p2Stats":`)
	w.stats(&f.Stats[1])
	w.raw(`,"events":`)
	w.events(&f.Events)
	w.raw("}")
}

func (w *writer) raw(text string) { w.buf = append(w.buf, text...) }
func (w *writer) int(n int)       { w.buf = appendInt(w.buf, int64(n)) }
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
	w.buf = appendInt(w.buf, int64(id))
	w.buf = append(w.buf, '"')
}

// units writes the lists of player p.
func (w *writer) units(f *Frame, p sim.Player) {
	lists := f.Units[p][:]
	if lists[terminal.Upgrade] == nil {
		lists = lists[:terminal.Upgrade]
	}
	w.raw("[")
	for k, list := range lists {
		w.comma(k)
		if w.kept != nil && !terminal.Kind(k).Mobile() {
			w.keptUnits(list, &w.kept[p][k])
		} else {
			for i := range list {
				if i > 0 {
					w.raw(",")
				}
				w.unit(&list[i])
			}
		}
		w.raw("]")
	}
	w.raw("]")
}

func (w *writer) unit(u *Unit) {
	w.raw("[")
	w.cell(u.At)
	w.raw(",")
	w.float(u.Value)
	w.raw(",")
	w.id(u.ID)
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
	first, values := true, p.values()
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
		switch at := values[i].at.(type) {
		case *float32:
			w.float(*at)
		case *float64:
			w.time(*at)
		case *bool:
			w.flag(*at)
		case *string:
			w.string(*at)
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

// who writes the end that events have: kind,"id",player] where some name another
// unit, or none, after the first.
func (w *writer) who(k terminal.Kind, p sim.Player, ids ...uint32) {
	w.raw(",")
	w.int(int(k))
	for _, id := range ids {
		w.raw(",")
		w.id(id)
	}
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
		w.who(b.Kind, b.Player, b.ID)
	}
	w.raw(`],"damage":[`)
	for i := range e.Damages {
		d := &e.Damages[i]
		w.comma(i)
		w.hit(d.At, d.Damage)
		w.who(d.Kind, d.Player, d.ID)
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
		w.who(s.Kind, s.Player, s.ID)
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
		w.who(e.Kind, e.Player, e.ID)
	}
}

func (w *writer) shields(list []terminal.ShieldEvent) {
	for i := range list {
		e := &list[i]
		w.comma(i)
		w.pos(e.From)
		w.raw(",")
		w.hit(e.To, e.Amount)
		w.who(e.Kind, e.Player, e.ID, e.Unit)
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
		w.who(e.Kind, e.Player, e.ID)
	}
}

func (w *writer) deaths(list *Events) {
	for i := range list.Deaths {
		e := &list.Deaths[i]
		w.comma(i)
		w.pos(e.At)
		w.who(e.Kind, e.Player, e.ID)
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
		if target {
			w.who(e.Kind, e.Player, e.ID, e.Target)
		} else {
			w.who(e.Kind, e.Player, e.ID)
		}
	}
}
