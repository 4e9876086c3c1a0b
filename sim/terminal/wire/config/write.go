package config

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"

	"moonfarm/sim/terminal"
	"moonfarm/sim/texts/jsonscan"
)

// Append appends the config as one line without the end of line. A config that was
// parsed is written as it was read, with the lines of a longer text joined. Any other
// config gets the form of the files of 2026, whatever year its rules come from: all keys
// that bots know, in the order, nesting and number style of those files, whose engine
// keeps its objects in HashMaps.
//
// Parse returns the same rules. Choices that no key of the original stands for are written
// below a key of our own, "moonfarm", which bots ignore, unless they are the defaults.
// Append cannot represent two things that Rules.Validate refuses: numbers that are not
// finite, and values of an upgrade of a unit that is not Upgradable.
func (c *Config) Append(dst []byte, style Style) []byte {
	if c.Raw != nil {
		for _, b := range c.Raw {
			if b != '\n' && b != '\r' { // strings cannot contain them
				dst = append(dst, b)
			}
		}
		return dst
	}
	w := writer{buf: dst, style: style}
	w.object(c.fields())
	return w.buf
}

// writer writes objects.
type writer struct {
	buf   []byte
	style Style
}

// field is a key of an object and its value: a float32, an int32, a bool, a string, an
// object ([]field) or a list of objects ([][]field).
type field struct {
	key   string
	value any
}

// object writes an object with its keys in the order of hashOrder.
func (w *writer) object(fields []field) {
	hashOrder(fields)
	w.buf = append(w.buf, '{')
	for i, f := range fields {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(jsonscan.AppendString(w.buf, f.key), ':')
		w.value(f.value)
	}
	w.buf = append(w.buf, '}')
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case float32:
		w.buf = w.style.AppendFloat(w.buf, v)
	case int32:
		w.buf = AppendInt(w.buf, int64(v))
	case bool:
		w.buf = strconv.AppendBool(w.buf, v)
	case string:
		w.buf = jsonscan.AppendString(w.buf, v)
	case []field:
		w.object(v)
	case [][]field:
		for i, fields := range v {
			w.buf = append(w.buf, "[,"[min(i, 1)])
			w.object(fields)
		}
		w.buf = append(w.buf, ']')
	}
}

// hashOrder sorts fields into the order in which a Java HashMap with these keys iterates:
// by the lower bits of the key's hash, which are the index in a table that doubles when it
// is three quarters full. Keys in the same bucket keep their order. Source: the
// documentation of java.lang.String and java.util.HashMap.
func hashOrder(fields []field) {
	size := uint32(16)
	for uint32(len(fields)) > size*3/4 {
		size *= 2
	}
	bucket := func(f field) uint32 {
		h := uint32(0)
		for _, c := range []byte(f.key) {
			h = h*31 + uint32(c)
		}
		return (h ^ h>>16) & (size - 1)
	}
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(bucket(a), bucket(b)) })
}

// valuesOf returns the fields of the keys for whose index keep returns true.
func valuesOf[T any](keys []valueKey[T], of *T, keep func(i int) bool) []field {
	var fields []field
	for i, key := range keys {
		if keep(i) {
			fields = append(fields, field{key.name, valueOf(key.of(of))})
		}
	}
	return fields
}

// valueOf returns the float32, int32 or bool that p points to.
func valueOf(p any) any { return reflect.ValueOf(p).Elem().Interface() }

// fields returns the top-level fields of the config.
func (c *Config) fields() []field {
	r := &c.Rules
	var units [][]field
	for k := range c.Shorthands {
		units = append(units, unitFields(c, terminal.Kind(k)))
	}
	resources := valuesOf(resourceKeys[:], r, func(int) bool { return true })
	fields := []field{
		{"debug", []field{
			{"printMapString", false}, {"printTStrings", false}, {"printActStrings", false},
			{"printHitStrings", false}, {"printPlayerInputStrings", false}, {"printBotErrors", true},
			{"printPlayerGetHitStrings", false},
		}},
		{"unitInformation", units},
		{"timingAndReplay", []field{
			{"playReplaySave", int32(1)}, {"waitTimeBotMax", r.MaxTime}, {"waitTimeManual", int32(1820000)},
			{"waitForever", false}, {"playWaitTimeBotSoft", r.SoftTime}, {"waitTimeEndGame", int32(3000)},
			{"waitTimeBotSoft", r.SoftTime}, {"playWaitTimeBotMax", r.MaxTime}, {"replaySave", int32(1)},
			{"storeBotTimes", true}, {"waitTimeStartGame", int32(3000)},
		}},
		{"resources", resources},
		{"seasonCompatibilityModeP1", int32(5)},
		{"seasonCompatibilityModeP2", int32(5)},
	}
	defaults := defaultChoices()
	choices := valuesOf(choiceKeys[:], r, func(i int) bool {
		return valueOf(choiceKeys[i].of(r)) != valueOf(choiceKeys[i].of(&defaults))
	})
	if len(choices) > 0 {
		fields = append(fields, field{choicesKey, choices})
	}
	return fields
}
