package wire

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// A World holds three maps of the original by id, as lists. mapOf says of the
// items of one of them how they are called, told apart, read and written.
type mapOf[T any] struct {
	one, many string
	key       string // of an item
	id        func(*T) int32
	equal     func(a, b *T) bool
	read      func(*Reader) T
	append    func(*T, []byte) []byte
}

var (
	seats    = mapOf[Seat]{"player", "players", "key of a player", seatID, equal[Seat], (*Reader).seat, (*Seat).append}
	entities = mapOf[Entity]{"entity", "entities", "key of an entity", entityID, equal[Entity], (*Reader).entity, (*Entity).append}
	actions  = mapOf[EntityOrder]{"action of entity", "actions", "key of an action", orderID, equalOrders, (*Reader).order, (*EntityOrder).append}
)

func seatID(p *Seat) int32         { return p.ID }
func entityID(e *Entity) int32     { return e.ID }
func orderID(a *EntityOrder) int32 { return a.ID }

func equal[T comparable](a, b *T) bool { return *a == *b }

// equalOrders reports whether two actions are the same to the letter, whosever
// they are.
func equalOrders(a, b *EntityOrder) bool {
	x, y := &a.Attack.Value, &b.Attack.Value
	return a.Move == b.Move && a.Build == b.Build && a.Repair == b.Repair && a.Attack.Given == b.Attack.Given &&
		x.Target == y.Target && x.Auto.Given == y.Auto.Given && x.Auto.Value.PathfindRange == y.Auto.Value.PathfindRange &&
		slices.Equal(x.Auto.Value.ValidTargets, y.Auto.Value.ValidTargets)
}

// sortByID sorts what mostly is sorted.
func sortByID[T any](list []T, id func(*T) int32) {
	for i := 1; i < len(list); i++ {
		if id(&list[i-1]) > id(&list[i]) {
			slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(id(&a), id(&b)) })
			return
		}
	}
}

// findByID looks for an item of a sorted list.
func findByID[T any](list []T, of int32, id func(*T) int32) (int, bool) {
	at := sort.Search(len(list), func(i int) bool { return id(&list[i]) >= of })
	return at, at < len(list) && id(&list[at]) == of
}

// Changes are what becomes of a map: items that are new, the ids of those that
// go, and the new values of others.
type Changes[T any] struct {
	New     []T
	Removed []int32
	Changed []T
}

func (c *Changes[T]) clear() {
	c.New, c.Removed, c.Changed = c.New[:0], c.Removed[:0], c.Changed[:0]
}

// apply changes a map and leaves it sorted by id. The error says what is not
// there, or twice.
func (m *mapOf[T]) apply(list []T, c *Changes[T]) ([]T, error) {
	sortByID(list, m.id)
	for i := range c.Changed {
		at, ok := findByID(list, m.id(&c.Changed[i]), m.id)
		if !ok {
			return list, fmt.Errorf("%s %d changes, but is not there", m.one, m.id(&c.Changed[i]))
		}
		list[at] = c.Changed[i]
	}
	gone := slices.Clone(c.Removed)
	slices.Sort(gone)
	for i, of := range gone {
		if _, ok := findByID(list, of, m.id); !ok || i > 0 && gone[i-1] == of {
			return list, fmt.Errorf("%s %d is removed, but is not there", m.one, of)
		}
	}
	kept := list[:0]
	for i := range list {
		if len(gone) > 0 && gone[0] == m.id(&list[i]) {
			gone = gone[1:]
			continue
		}
		kept = append(kept, list[i])
	}
	list = append(kept, c.New...)
	sortByID(list, m.id)
	for i := 1; i < len(list); i++ {
		if m.id(&list[i-1]) == m.id(&list[i]) {
			return list, fmt.Errorf("%s %d is there twice", m.one, m.id(&list[i]))
		}
	}
	return list, nil
}

// compare makes c what leads from one list to another, both sorted by id.
func (m *mapOf[T]) compare(c *Changes[T], before, after []T) {
	c.clear()
	i, k := 0, 0
	for i < len(before) || k < len(after) {
		switch {
		case k == len(after) || i < len(before) && m.id(&before[i]) < m.id(&after[k]):
			c.Removed = append(c.Removed, m.id(&before[i]))
			i++
		case i == len(before) || m.id(&after[k]) < m.id(&before[i]):
			c.New = append(c.New, after[k])
			k++
		default:
			if !m.equal(&before[i], &after[k]) {
				c.Changed = append(c.Changed, after[k])
			}
			i, k = i+1, k+1
		}
	}
}

// same reports whether two lists hold the same items, in whatever order.
func (m *mapOf[T]) same(a, b []T) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	sortByID(a, m.id)
	sortByID(b, m.id)
	for i := range a {
		if len(a) != len(b) || m.id(&a[i]) != m.id(&b[i]) || !m.equal(&a[i], &b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// readKeyed reads an item after its id, which is its key in the map.
func (m *mapOf[T]) readKeyed(r *Reader) T {
	key := r.number(m.key)
	v := m.read(r)
	if id := m.id(&v); r.err == nil && key != id {
		r.fail("item of a map", fmt.Errorf("found id %d under key %d", id, key))
	}
	return v
}

// appendKeyed appends what readKeyed reads.
func (m *mapOf[T]) appendKeyed(v *T, dst []byte) []byte {
	return m.append(v, appendNumber(dst, m.id(v)))
}

// readChanges appends changes to c.
func (m *mapOf[T]) readChanges(r *Reader, c *Changes[T]) {
	c.New = readItems(r, c.New, "new "+m.many, m.read)
	c.Removed = readItems(r, c.Removed, "removed "+m.many, func(r *Reader) int32 { return r.number("id that is removed") })
	c.Changed = readItems(r, c.Changed, "changed "+m.many, m.readKeyed)
}

// appendChanges appends what readChanges reads.
func (m *mapOf[T]) appendChanges(dst []byte, c *Changes[T]) []byte {
	dst = appendItems(dst, c.New, m.append)
	dst = appendItems(dst, c.Removed, func(n *int32, dst []byte) []byte { return appendNumber(dst, *n) })
	return appendItems(dst, c.Changed, m.appendKeyed)
}

// readItems appends a list, whose memory grows with what is really read.
func readItems[T any](r *Reader, dst []T, what string, read func(*Reader) T) []T {
	n := r.count(what, 4)
	if r.err == nil && n > maxItems {
		r.at -= 4
		r.fail(what, fmt.Errorf("found %d, want at most %d", n, maxItems))
	}
	for i := 0; i < n && r.err == nil; i++ {
		dst = append(dst, read(r))
	}
	return dst
}

// appendItems appends what readItems reads.
func appendItems[T any](dst []byte, list []T, item func(*T, []byte) []byte) []byte {
	dst = appendNumber(dst, int32(len(list)))
	for i := range list {
		dst = item(&list[i], dst)
	}
	return dst
}
