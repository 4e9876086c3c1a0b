package recording

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"moonfarm/sim/codecraft/wire/protocol"
)

// mapOf describes the items of one of the three maps in a World, which are lists there: their
// names for errors, their ids, and how to compare, read and write them.
type mapOf[T any] struct {
	one, many string
	key       string // the name of an item's key
	id        func(*T) int32
	equal     func(a, b *T) bool
	read      func(*protocol.Reader) T
	append    func(*T, []byte) []byte
}

var (
	players  = mapOf[PlayerRecord]{"player", "players", "key of a player", playerID, equal[PlayerRecord], readPlayer, (*PlayerRecord).append}
	entities = mapOf[protocol.Entity]{"entity", "entities", "key of an entity", entityID, equal[protocol.Entity], (*protocol.Reader).Entity, (*protocol.Entity).Append}
	actions  = mapOf[protocol.EntityOrder]{"action of entity", "actions", "key of an action", orderID, equalOrders, (*protocol.Reader).StoredOrder, (*protocol.EntityOrder).Append}
)

func playerID(p *PlayerRecord) int32 { return p.ID }

func entityID(e *protocol.Entity) int32 { return e.ID }

func orderID(a *protocol.EntityOrder) int32 { return a.ID }

func equal[T comparable](a, b *T) bool { return *a == *b }

// equalOrders reports whether two actions have the same parts and values. It does not compare
// the ids of their entities.
func equalOrders(a, b *protocol.EntityOrder) bool {
	x, y := &a.Attack.Value, &b.Attack.Value
	return a.Move == b.Move && a.Build == b.Build && a.Repair == b.Repair && a.Attack.Given == b.Attack.Given &&
		x.Target == y.Target && x.Auto.Given == y.Auto.Given && x.Auto.Value.PathfindRange == y.Auto.Value.PathfindRange &&
		slices.Equal(x.Auto.Value.ValidTargets, y.Auto.Value.ValidTargets)
}

// sortByID sorts a list, which usually is sorted already.
func sortByID[T any](list []T, id func(*T) int32) {
	for i := 1; i < len(list); i++ {
		if id(&list[i-1]) > id(&list[i]) {
			slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(id(&a), id(&b)) })
			return
		}
	}
}

// SortEntities sorts entities by id.
func SortEntities(list []protocol.Entity) { sortByID(list, entityID) }

// FindEntity returns the entity with an id in a sorted list, and false if there is none.
func FindEntity(list []protocol.Entity, id int32) (*protocol.Entity, bool) {
	i, ok := findByID(list, id, entityID)
	if !ok {
		return nil, false
	}
	return &list[i], true
}

// findByID returns the place of the item with id of in a sorted list, and false if there is
// none.
func findByID[T any](list []T, of int32, id func(*T) int32) (int, bool) {
	at := sort.Search(len(list), func(i int) bool { return id(&list[i]) >= of })
	return at, at < len(list) && id(&list[at]) == of
}

// Changes are the changes of a map: new items, the ids of removed items, and the new values of
// other items.
type Changes[T any] struct {
	New     []T
	Removed []int32
	Changed []T
}

func (c *Changes[T]) clear() {
	c.New, c.Removed, c.Changed = c.New[:0], c.Removed[:0], c.Changed[:0]
}

// apply changes a map and sorts it by id. It fails if an item does not exist, or exists twice.
func (m *mapOf[T]) apply(list []T, c *Changes[T]) ([]T, error) {
	sortByID(list, m.id)
	for i := range c.Changed {
		at, ok := findByID(list, m.id(&c.Changed[i]), m.id)
		if !ok {
			return list, fmt.Errorf("%s %d changes, but does not exist", m.one, m.id(&c.Changed[i]))
		}
		list[at] = c.Changed[i]
	}
	gone := slices.Clone(c.Removed)
	slices.Sort(gone)
	for i, of := range gone {
		if _, ok := findByID(list, of, m.id); !ok || i > 0 && gone[i-1] == of {
			return list, fmt.Errorf("%s %d is removed, but does not exist", m.one, of)
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
			return list, fmt.Errorf("%s %d appears twice", m.one, m.id(&list[i]))
		}
	}
	return list, nil
}

// compare sets c to the changes from one list to another. Both must be sorted by id.
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

// same reports whether two lists have the same items, in any order.
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

// readKeyed reads a key, which must be an id, and the item with that id.
func (m *mapOf[T]) readKeyed(r *protocol.Reader) T {
	key := r.Number(m.key)
	v := m.read(r)
	if id := m.id(&v); r.Err() == nil && key != id {
		r.Fail("item of a map", fmt.Errorf("found id %d under key %d", id, key))
	}
	return v
}

// appendKeyed appends the id of an item, as its key, and the item.
func (m *mapOf[T]) appendKeyed(v *T, dst []byte) []byte {
	return m.append(v, protocol.AppendNumber(dst, m.id(v)))
}

// readChanges reads changes and appends them to c.
func (m *mapOf[T]) readChanges(r *protocol.Reader, c *Changes[T]) {
	c.New = readItems(r, c.New, "new "+m.many, m.read)
	c.Removed = readItems(r, c.Removed, "removed "+m.many, func(r *protocol.Reader) int32 { return r.Number("id that is removed") })
	c.Changed = readItems(r, c.Changed, "changed "+m.many, m.readKeyed)
}

// appendChanges appends changes in the form that readChanges reads.
func (m *mapOf[T]) appendChanges(dst []byte, c *Changes[T]) []byte {
	dst = appendItems(dst, c.New, m.append)
	dst = appendItems(dst, c.Removed, func(n *int32, dst []byte) []byte { return protocol.AppendNumber(dst, *n) })
	return appendItems(dst, c.Changed, m.appendKeyed)
}

// readItems reads a list and appends it to dst. Its memory grows with the items that are read.
func readItems[T any](r *protocol.Reader, dst []T, what string, read func(*protocol.Reader) T) []T {
	n := r.Count(what, 4)
	if r.Err() == nil && n > maxItems {
		r.Refuse(what, fmt.Errorf("found %d, expected at most %d", n, maxItems))
	}
	for i := 0; i < n && r.Err() == nil; i++ {
		dst = append(dst, read(r))
	}
	return dst
}

// appendItems appends a list in the form that readItems reads.
func appendItems[T any](dst []byte, list []T, item func(*T, []byte) []byte) []byte {
	dst = protocol.AppendNumber(dst, int32(len(list)))
	for i := range list {
		dst = item(&list[i], dst)
	}
	return dst
}
