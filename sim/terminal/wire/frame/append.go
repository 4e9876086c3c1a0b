package frame

import (
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/texts/jsonscan"
)

// Append appends the frame as the original writes it: a line of JSON without white space
// and without the end of line, with keys and events in the original's order. Parse reads the
// same frame back. Numbers must be finite. Lists keep their order.
func (f *Frame) Append(dst []byte, style config.Style) []byte {
	w := writer{buf: dst, style: style}
	w.frame(f)
	return w.buf
}

// writer writes parts of a frame as JSON.
type writer struct {
	buf   []byte
	style config.Style
	last  *[2][8]writtenUnits // of a Writer, or nil
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
func (w *writer) int(n int)       { w.buf = config.AppendInt(w.buf, int64(n)) }
func (w *writer) float(v float32) { w.buf = w.style.AppendFloat(w.buf, v) }
func (w *writer) time(v float64)  { w.buf = config.AppendTime(w.buf, v) }
func (w *writer) flag(v bool)     { w.buf = strconv.AppendBool(w.buf, v) }

func (w *writer) string(text string) { w.buf = jsonscan.AppendString(w.buf, text) }

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

// comma begins entry i of a list: a comma, unless it is the first, and a bracket.
func (w *writer) comma(i int) {
	if i > 0 {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '[')
}

func (w *writer) id(id uint32) {
	w.buf = append(w.buf, '"')
	w.buf = config.AppendInt(w.buf, int64(id))
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
		if w.last != nil && !terminal.Kind(k).Mobile() {
			w.changedUnits(list, &w.last[p][k])
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

// endStats writes the totals of a match.
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

// tail writes the last fields of an event: kind,"id",player] where ids has no, one or two
// units.
func (w *writer) tail(k terminal.Kind, p sim.Player, ids ...uint32) {
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

// events writes the nine lists of events.
func (w *writer) events(e *Events) {
	w.raw(`{"selfDestruct":[`)
	w.selfDestructs(e)
	w.raw(`],"breach":[`)
	for i := range e.Breaches {
		b := &e.Breaches[i]
		w.comma(i)
		w.hit(b.At, b.Damage)
		w.tail(b.Kind, b.Player, b.ID)
	}
	w.raw(`],"damage":[`)
	for i := range e.Damages {
		d := &e.Damages[i]
		w.comma(i)
		w.hit(d.At, d.Damage)
		w.tail(d.Kind, d.Player, d.ID)
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
		w.tail(s.Kind, s.Player, s.ID)
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
		w.tail(e.Kind, e.Player, e.ID)
	}
}

func (w *writer) shields(list []terminal.ShieldEvent) {
	for i := range list {
		e := &list[i]
		w.comma(i)
		w.pos(e.From)
		w.raw(",")
		w.hit(e.To, e.Amount)
		w.tail(e.Kind, e.Player, e.ID, e.Unit)
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
		w.tail(e.Kind, e.Player, e.ID)
	}
}

func (w *writer) deaths(list *Events) {
	for i := range list.Deaths {
		e := &list.Deaths[i]
		w.comma(i)
		w.pos(e.At)
		w.tail(e.Kind, e.Player, e.ID)
		if !list.Unflagged {
			w.buf[len(w.buf)-1] = ','
			w.flag(e.Removed)
			w.raw("]")
		}
	}
}

// attacks writes attack or melee events. Melee events have no target.
func (w *writer) attacks(list []terminal.AttackEvent, target bool) {
	for i := range list {
		e := &list[i]
		w.comma(i)
		w.pos(e.From)
		w.raw(",")
		w.hit(e.To, e.Damage)
		if target {
			w.tail(e.Kind, e.Player, e.ID, e.Target)
		} else {
			w.tail(e.Kind, e.Player, e.ID)
		}
	}
}
