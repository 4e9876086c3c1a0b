package wire

import (
	"cmp"
	"slices"

	"moonfarm/sim/terminal"
)

// AppendConfig appends the config as one line without its end, in the Local
// style: see Style.AppendConfig.
func AppendConfig(dst []byte, c *Config) []byte { return Local.AppendConfig(dst, c) }

// AppendConfig appends the config as one line without its end. A config that
// was read is written as it was (the lines of a longer text joined). Another
// gets the form of the files of 2026, whose original keeps its objects in
// HashMaps: all keys that bots know, in the order, the nesting and the number
// style of those files, also where the rules come from an earlier year.
//
// ParseConfig gives back the same rules, whatever they are: choices that no key
// of the original tells, where they are not the defaults, stand below a key of
// our own, "moonfarm", which bots ignore. Only what Rules.Validate refuses
// cannot be represented: numbers that are not finite, and values of an upgrade
// that Upgradable denies.
func (s Style) AppendConfig(dst []byte, c *Config) []byte {
	if c.Raw != nil {
		for _, b := range c.Raw {
			if b != '\n' && b != '\r' { // they are no part of strings
				dst = append(dst, b)
			}
		}
		return dst
	}
	w := configWriter{writer{buf: dst, style: s}}
	w.object(w.config(c))
	return w.buf
}

// configWriter writes pieces of a config.
type configWriter struct{ writer }

// field is a key of an object that is written, and its value: a float32, an
// int32, a bool, a string, or a list of fields, which is an object.
type field struct {
	key   string
	value any
}

// object writes an object in the order of hashOrder.
func (w *configWriter) object(fields []field) {
	hashOrder(fields)
	w.raw("{")
	for i, f := range fields {
		if i > 0 {
			w.raw(",")
		}
		w.string(f.key)
		w.raw(":")
		w.value(f.value)
	}
	w.raw("}")
}

func (w *configWriter) value(v any) {
	switch v := v.(type) {
	case float32:
		w.float(v)
	case int32:
		w.int(int(v))
	case bool:
		w.flag(v)
	case string:
		w.string(v)
	case []field:
		w.object(v)
	case [][]field:
		for i, fields := range v {
			w.raw("[,"[min(i, 1):][:1])
			w.object(fields)
		}
		w.raw("]")
	}
}

// hashOrder sorts fields into the order in which a Java HashMap with these keys
// iterates: by the lower bits of the hash of the key, as many as the table has
// that grows by doubling when it is three quarters full; keys with the same
// bits stay in the order in which they came. The documentation of
// java.lang.String and java.util.HashMap tells it.
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

// valuesOf are the fields of keys, by number, for which keep tells so.
func valuesOf[T any](keys []configKey[T], of *T, keep func(i int) bool) []field {
	var fields []field
	for i, key := range keys {
		if keep(i) {
			fields = append(fields, field{key.name, valueOf(key.of(of))})
		}
	}
	return fields
}

// valueOf is what p points to.
func valueOf(p any) any {
	switch p := p.(type) {
	case *float32:
		return *p
	case *int32:
		return *p
	}
	return *p.(*bool)
}

func always(int) bool { return true }

// config lists the fields of the config.
func (w *configWriter) config(c *Config) []field {
	r := &c.Rules
	var units [][]field
	for k := range c.Shorthands {
		units = append(units, unitFields(c, terminal.Kind(k)))
	}
	resources := valuesOf(resourceKeys[:], r, always)
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
	usual := usualChoices()
	choices := valuesOf(choiceKeys[:], r, func(i int) bool {
		return valueOf(choiceKeys[i].of(r)) != valueOf(choiceKeys[i].of(&usual))
	})
	if len(choices) > 0 {
		fields = append(fields, field{choicesKey, choices})
	}
	return fields
}
