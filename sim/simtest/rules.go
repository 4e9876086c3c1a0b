package simtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"moonfarm/sim/texts"
)

// RuleTable checks that the page has the table of all rules: field, key, bounds
// and meaning of each. rules points to a game's rules, and table lists them.
// short shortens keys that differ only in the type of a unit: they share a row
// with the widest of their bounds. RuleTable also fails if a field, other than
// those in except, has no rule.
func (p Page) RuleTable(t *testing.T, rules any, table []texts.Rule, short func(key string) string, except ...string) {
	t.Helper()
	fields := map[uintptr]string{}
	fieldsOf(fields, reflect.ValueOf(rules).Elem(), "")
	var order []string
	rows := map[string]*texts.Rule{}
	listed := map[string]bool{}
	for _, r := range table {
		field := fields[reflect.ValueOf(r.Value).Pointer()]
		listed[field] = true
		head := fmt.Sprintf("| `%s` | `%s` |", field, short(r.Key))
		row := rows[head]
		switch {
		case row == nil:
			order, rows[head] = append(order, head), &r
		case row.Least == 0 && row.Most == 0:
			row.Least, row.Most = r.Least, r.Most
		case r.Least != 0 || r.Most != 0:
			row.Least, row.Most = min(row.Least, r.Least), max(row.Most, r.Most)
		}
	}
	want := "| field | key | from | to | meaning |\n|---|---|---|---|---|\n"
	for _, head := range order {
		row := rows[head]
		least, most := row.Bounds()
		bounds := strings.ReplaceAll(fmt.Sprintf(" %s | %s |", least, most), "  ", " ")
		want += strings.Replace(head, "| `` |", "| |", 1) + bounds + " " + row.Doc + " |\n"
	}
	if !strings.Contains(string(p), want) {
		t.Errorf("RULES.md has not the table of all rules, which is\n%s", want)
	}
	for _, field := range fields {
		if !listed[field] && !slices.Contains(except, field) {
			t.Errorf("%s has no rule", field)
		}
	}
}

// fieldsOf stores the names of the fields of a struct, and of the structs in
// it, by their addresses.
func fieldsOf(names map[uintptr]string, v reflect.Value, name string) {
	_, whole := v.Addr().Interface().(texts.Value)
	switch {
	case v.Kind() == reflect.Struct && !whole:
		for i := range v.NumField() {
			fieldsOf(names, v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fieldsOf(names, v.Index(i), name)
		}
	default:
		names[v.Addr().Pointer()] = name
	}
}
