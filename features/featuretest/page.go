package featuretest

import (
	"fmt"
	"strings"

	"moonfarm/features"
	"moonfarm/sim"
)

// AppendFields appends the sections of a FEATURES.md on planes or tensors, scalars
// and packed words. level begins their headings; packed explains the words.
func AppendFields[S any](out []byte, level string, kit features.Kit[S], packed string) []byte {
	shape, table := kit.Encoder.Shape(), kit.Encoder.Description()
	if len(table.Tensors) == 0 {
		out = fmt.Appendf(out, "\n%s Planes\n\nuint8 [%d, %d, %d], row-major.\n\n", level, shape.Planes, shape.Height, shape.Width)
		out = appendTable(out, "plane", table.Planes)
	}
	at := 0
	for _, t := range table.Tensors {
		out = fmt.Appendf(out, "\n%s Tensor %s\n\nuint8 %s, bytes %d … %d: %s.\n\n", level, t.Name, strings.ReplaceAll(fmt.Sprint(t.Dims), " ", ", "), at, at+t.Len()-1, t.Doc)
		out = appendTable(out, fmt.Sprintf("axis %d", t.Axis), t.Fields)
		at += t.Len()
	}
	out = fmt.Appendf(out, "\n%s Scalars\n\nfloat32 [%d], unscaled.\n\n", level, shape.Scalars)
	out = appendTable(out, "scalar", table.Scalars)
	return fmt.Appendf(out, "\n%s Packed words\n\nuint64 [%d]: %s.\n\n```text\n%s\n```\n", level, shape.Words, packed, Sentences(table.Packed))
}

func appendTable(out []byte, what string, fields []features.Field) []byte {
	out = fmt.Appendf(out, "| %s | name | unit | scale | |\n|---|---|---|---|---|\n", what)
	for i, f := range fields {
		out = fmt.Appendf(out, "| %d | `%s` | %s | %g | %s |\n", i, f.Name, f.Unit, f.Scale, f.Doc)
	}
	return out
}

// AppendActions appends the section of a FEATURES.md on actions: heads lists
// the numbers of choices, doc explains the choices.
func AppendActions[S any](out []byte, kit features.Kit[S], heads, doc string) []byte {
	return fmt.Appendf(out, "\n## Actions\n\nHeads: %s. The mask has one bit a choice in %d uint64 words; a set bit is accepted by the rules, a clear one refused.\n%s\n\n```text\n%s\n```\n",
		heads, features.MaskWords(kit.Actions.Heads()), Ended(kit), doc)
}

// Ended returns the sentence on the mask of a game that has ended.
func Ended[S any](kit features.Kit[S]) string {
	action := make([]int32, len(kit.Actions.Heads()))
	if kit.Actions.Action(action, nil, new(S), 0); len(action) > 1 {
		return "Once the game has ended, every head that has a mask has choice 0 alone, which orders nothing."
	}
	return fmt.Sprintf("Once the game has ended, it has choice %d alone, which orders nothing.", action[0])
}

// AppendMeasures appends the section of a FEATURES.md on measures.
func AppendMeasures[S any](out []byte, kit features.Kit[S]) []byte {
	out = append(out, "\n## Measures\n\nNumbers of a seat that rewards can be made of.\n\n| name | |\n|---|---|\n"...)
	for _, m := range kit.Measures {
		out = fmt.Appendf(out, "| `%s` | %s |\n", m.Name, m.Doc)
	}
	return out
}

// Sentences breaks a text into lines at the ends of its sentences.
func Sentences(text string) string {
	text = strings.ReplaceAll(text, "; ", ";\n")
	return strings.ReplaceAll(text, ". ", ".\n")
}

// AppendScalars appends the names and values of seat p's scalars that are not
// 0.
func AppendScalars[S any](out []byte, e features.Encoder[S], s *S, p sim.Player) []byte {
	scalars := make([]float32, e.Shape().Scalars)
	e.Scalars(scalars, s, p)
	out = append(out, "scalars"...)
	for i, v := range scalars {
		if v != 0 {
			out = fmt.Appendf(out, " %s %g", e.Description().Scalars[i].Name, v)
		}
	}
	return out
}

// EachPlane calls visit with every plane of seat p's observation, of Height ×
// Width values.
func EachPlane[S any](e features.Encoder[S], s *S, p sim.Player, visit func(name string, plane []uint8)) {
	shape := e.Shape()
	planes := Planes(e, s, p)
	size := shape.Height * shape.Width
	for i, f := range e.Description().Planes {
		visit(f.Name, planes[i*size:(i+1)*size])
	}
}
