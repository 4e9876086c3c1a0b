package wire

import (
	"fmt"
	"math"
	"strconv"
)

// object reads an object: each is called for the value of each key, and reads
// it. Keys that come twice are an error.
func (c *configReader) object(each func(key string)) {
	if !c.next('{') {
		c.fail("an object")
		return
	}
	c.deeper()
	seen := map[string]bool{}
	for more := c.open('{', '}'); more; more = c.more('}') {
		c.space()
		start := c.at
		key := string(c.string("a key"))
		level := c.enter(key)
		if seen[key] {
			c.failAt(start, "each key once")
		}
		seen[key] = true
		c.take(':')
		c.space()
		each(key)
		c.leave(level)
	}
	c.depth--
}

// list reads a list: each is called for each entry, and reads it.
func (c *configReader) list(each func(i int)) {
	if !c.next('[') {
		c.fail("a list")
		return
	}
	c.deeper()
	i := 0
	for more := c.open('[', ']'); more; more = c.more(']') {
		level := c.enter("[" + strconv.Itoa(i) + "]")
		c.space()
		each(i)
		c.leave(level)
		i++
	}
	c.depth--
}

// deeper begins an object or a list.
func (c *configReader) deeper() {
	if c.depth++; c.depth > maxLevels {
		c.errorAt(c.at, fmt.Sprintf("expected at most %d lists and objects in each other, found more", maxLevels))
	}
}

// value reads what to points to: a float32, an int32 (which may be written with
// a fraction of 0) or a bool.
func (c *configReader) value(to any) {
	switch to := to.(type) {
	case *float32:
		c.space()
		start := c.at
		*to = c.float("a number")
		if text := c.text[start:c.at]; !contains(text, '.') && !contains(text, 'e') && !contains(text, 'E') {
			c.config.Style = Web
		}
	case *int32:
		c.space()
		start := c.at
		v := c.time("a whole number")
		if v != math.Trunc(v) || v < math.MinInt32 || v > math.MaxInt32 {
			c.failAt(start, "a whole number of 32 bits")
			return
		}
		*to = int32(v)
	case *bool:
		*to = c.flag()
	}
}

// assign sets what to points to to what from, a pointer of the same type,
// points to.
func assign(to, from any) {
	switch to := to.(type) {
	case *float32:
		*to = *from.(*float32)
	case *int32:
		*to = *from.(*int32)
	case *bool:
		*to = *from.(*bool)
	}
}

// skip reads any value and forgets it.
func (c *configReader) skip() {
	switch {
	case c.next('{'):
		c.object(func(string) { c.skip() })
	case c.next('['):
		c.list(func(int) { c.skip() })
	case c.next('"'):
		c.string("a string")
	case c.word("null"):
	case c.next('t') || c.next('f'):
		c.flag()
	default:
		c.number("a value")
	}
}
