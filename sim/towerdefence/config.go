package towerdefence

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The text of rule values is the original's game-config.properties: lines of
// key and value in the syntax of Java's properties files. AppendText writes
// it in one canonical form, every key in a fixed order.

// configValue is one numeric key of the file: where its value goes and the
// least value that makes sense.
type configValue struct {
	key   string
	value *int
	least int
}

// configIcon is one key whose value is a letter.
type configIcon struct {
	key  string
	icon *byte
}

const configPrefix = "game.config."

// configKind is the name of a kind in keys.
func configKind(k Kind) string { return strings.ToLower(k.String()) }

// configValues lists the numeric keys of the file in canonical order. The
// board's size is not part of the rules; it is passed through size.
func (r *Rules) configValues(size *[2]int) []configValue {
	list := []configValue{
		{"map-width", &size[0], 0},
		{"map-height", &size[1], 0},
		{"max-rounds", &r.MaxRounds, 0},
		{"start-energy", &r.StartEnergy, 0},
		{"round-income-energy", &r.RoundIncome, 0},
		{"starting-health", &r.StartHealth, 0},
		{"health-score-multiplier", &r.HealthScoreMultiplier, 0},
		{"energy-score-multiplier", &r.EnergyScoreMultiplier, 0},
		{"deconstruction-refund-amount", &r.DeconstructionRefund, 0},
		{"max-do-nothings", &r.MaxDoNothings, 0},
	}
	for _, k := range Kinds {
		b, name := &r.Buildings[k], configKind(k)+".config."
		list = append(list,
			configValue{name + "health", &b.Health, 0},
			configValue{name + "construction-time-left", &b.ConstructionTime, 0},
			configValue{name + "price", &b.Price, 0},
			configValue{name + "weapon-damage", &b.Damage, 0},
			configValue{name + "weapon-speed", &b.Speed, 0},
			configValue{name + "weapon-cooldown-period", &b.Cooldown, 0},
			configValue{name + "destroy-multiplier", &b.DestroyMultiplier, 0},
			configValue{name + "construction-score", &b.ConstructionScore, 0},
			configValue{name + "energy-produced-per-turn", &b.EnergyPerTurn, 0},
			configValue{name + "max-range", &b.Range, 0})
	}
	list = append(list,
		configValue{"tesla.energy.per.shot", &r.TeslaEnergyPerShot, 0},
		configValue{"ironcurtain.config.price", &r.CurtainPrice, 0},
		configValue{"ironcurtain.config.active-rounds", &r.CurtainActiveRounds, 0},
		configValue{"ironcurtain.config.reset-period", &r.CurtainResetPeriod, 1},
		configValue{"ironcurtain.config.construction-score", &r.CurtainConstructionScore, 0})
	return list
}

// configIcons lists the keys of the letters in canonical order.
func (r *Rules) configIcons() []configIcon {
	var list []configIcon
	for _, k := range Kinds {
		list = append(list, configIcon{configKind(k) + ".config.icon", &r.Buildings[k].Icon})
	}
	return list
}

// AppendText appends the rule values as the text of a game-config.properties
// file: every key once, in a fixed order, one "key=value" a line. It is the
// canonical text: equal rules have equal texts, and ParseRules reads it back.
func (r Rules) AppendText(dst []byte) []byte {
	size := [2]int{2 * Width, Height}
	for _, v := range r.configValues(&size) {
		dst = append(dst, configPrefix...)
		dst = append(dst, v.key...)
		dst = append(dst, '=')
		dst = strconv.AppendInt(dst, int64(*v.value), 10)
		dst = append(dst, '\n')
	}
	for _, v := range r.configIcons() {
		dst = append(dst, configPrefix...)
		dst = append(dst, v.key...)
		dst = append(dst, '=', *v.icon, '\n')
	}
	return dst
}

// ParseRules reads the text of a game-config.properties file. Keys the text
// does not name keep the value of release 3.0.2. An unknown key, a key named
// twice, a number that is negative or beyond 32 bits, an icon that is not one
// ASCII letter, and a map of another size than 16 × 8 are errors
// that name the line.
func ParseRules(text []byte) (Rules, error) {
	rules := DefaultRules()
	size := [2]int{2 * Width, Height}
	numbers := map[string]configValue{}
	for _, v := range rules.configValues(&size) {
		numbers[configPrefix+v.key] = v
	}
	icons := map[string]configIcon{}
	for _, v := range rules.configIcons() {
		icons[configPrefix+v.key] = v
	}
	first := map[string]int{}
	p := properties{text: string(text)}
	for p.next() {
		if n, dup := first[p.key]; dup {
			return Rules{}, fmt.Errorf("line %d: key %q was given already in line %d", p.at, p.key, n)
		}
		first[p.key] = p.at
		var err error
		if v, ok := numbers[p.key]; ok {
			err = v.parse(p.value)
		} else if v, ok := icons[p.key]; ok {
			err = v.parse(p.value)
		} else {
			err = fmt.Errorf("not a key of this game: want one like %q", configPrefix+"start-energy")
		}
		if err != nil {
			return Rules{}, fmt.Errorf("line %d: key %q: %w", p.at, p.key, err)
		}
	}
	if p.err != nil {
		return Rules{}, p.err
	}
	for i, want := range [2]int{2 * Width, Height} {
		if size[i] != want {
			key := configPrefix + rules.configValues(&size)[i].key
			return Rules{}, fmt.Errorf("line %d: key %q: the board is fixed at %d, found %d", first[key], key, want, size[i])
		}
	}
	return rules, nil
}

func (v configValue) parse(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < int64(v.least) {
		return fmt.Errorf("want a whole number from %d to %d, found %q", v.least, math.MaxInt32, text)
	}
	*v.value = int(n)
	return nil
}

func (v configIcon) parse(text string) error {
	if len(text) != 1 || text[0]|0x20 < 'a' || text[0]|0x20 > 'z' {
		return fmt.Errorf("want one ASCII letter, found %q", text)
	}
	*v.icon = text[0]
	return nil
}

// properties reads the syntax of Java's properties files: lines end with CR,
// LF or both; a line whose first visible character is # or ! is a comment;
// a backslash at the end joins the next line; the key ends at the first
// =, : or blank; \t \n \r \f \uXXXX and a backslash before any other
// character are escapes. Unlike Java it drops blanks after the value.
type properties struct {
	text       string // what is left
	line       int    // lines read
	at         int    // line of the current key
	key, value string
	err        error
}

const blanks = " \t\f"

// next moves to the next key; it is false at the end and after an error.
func (p *properties) next() bool {
	if p.err != nil {
		return false
	}
	for p.text != "" {
		line := strings.TrimLeft(p.natural(), blanks)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		p.at = p.line
		for joins(line) {
			line = line[:len(line)-1]
			if p.text == "" {
				break
			}
			line += strings.TrimLeft(p.natural(), blanks)
		}
		return p.split(line)
	}
	return false
}

// natural takes one line off the text.
func (p *properties) natural() string {
	p.line++
	i := strings.IndexAny(p.text, "\r\n")
	if i < 0 {
		line := p.text
		p.text = ""
		return line
	}
	line, end := p.text[:i], i+1
	if p.text[i] == '\r' && strings.HasPrefix(p.text[end:], "\n") {
		end++
	}
	p.text = p.text[end:]
	return line
}

// joins tells whether a line ends with an odd number of backslashes.
func joins(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// split takes a joined line apart.
func (p *properties) split(line string) bool {
	i := 0
	for i < len(line) && !strings.ContainsRune("=: \t\f", rune(line[i])) {
		if line[i] == '\\' {
			i++
		}
		i++
	}
	i = min(i, len(line))
	key, value := line[:i], strings.TrimLeft(line[i:], blanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blanks)
	}
	var err error
	if p.key, err = unescape(key); err == nil {
		p.value, err = unescape(strings.TrimRight(value, blanks))
	}
	if err != nil {
		p.err = fmt.Errorf("line %d: %w", p.at, err)
		return false
	}
	return true
}

// unescape resolves backslashes.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 'f':
			out = append(out, '\f')
		case 'u':
			end := min(i+5, len(s))
			n, err := strconv.ParseUint(s[i+1:end], 16, 16)
			if err != nil || end != i+5 {
				return "", fmt.Errorf(`want four hexadecimal digits after \u, found %q`, s[i+1:end])
			}
			out = utf8.AppendRune(out, rune(n))
			i = end - 1
		default:
			out = append(out, s[i])
		}
	}
	return string(out), nil
}
