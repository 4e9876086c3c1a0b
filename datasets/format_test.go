package datasets

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/write"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/sim"
)

// section returns the cells of the table below a heading of FORMAT.md, line by line,
// without the table's head.
func section(t *testing.T, heading string) (rows [][]string) {
	text := contents(t, "FORMAT.md")
	_, after, ok := strings.Cut(string(text), "\n"+heading+"\n")
	require.True(t, ok, "FORMAT.md has no heading %q", heading)
	inTable := false
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "|") {
			inTable = true
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
			}
			rows = append(rows, cells)
		} else if inTable || strings.HasPrefix(line, "#") {
			break
		}
	}
	require.Greater(t, len(rows), 2, heading)
	return rows[2:]
}

// shapeText returns a column's type and shape in the form of FORMAT.md, with letters
// for a game's numbers.
func shapeText(c Column, letters []string) string {
	switch {
	case c.List:
		return fmt.Sprintf("List<%s>", c.Type)
	case len(c.Shape) > 0:
		return fmt.Sprintf("FixedSizeList<%s> [%s]", c.Type, strings.Join(letters, ", "))
	}
	return string(c.Type)
}

func columnRows(columns []Column, letters map[string][]string) (rows [][]string) {
	for _, c := range columns {
		rows = append(rows, []string{c.Name, shapeText(c, letters[c.Name]), c.Doc})
	}
	return rows
}

// TestFormatColumns compares the tables of columns with the code.
func TestFormatColumns(t *testing.T) {
	spec := env.Spec{
		Info: sim.Info{Players: 2},
		FormSpec: env.FormSpec{Heads: []int{3, 4}, MaskWords: 1,
			Shape: features.Shape{Planes: 1, Height: 1, Width: 1, Scalars: 1, Words: 1}},
	}
	letters := map[string][]string{
		about.ColPlanes: {"P", "H", "W"}, about.ColPacked: {"Words"}, about.ColScalars: {"S"}, about.ColMask: {"MaskWords"}, about.ColAction: {"heads"}, about.ColAsked: {"heads"},
		about.ColPolicies: {"seats"}, about.ColResults: {"seats"}, about.ColScores: {"seats"},
	}
	all := columnRows(about.StepColumns(spec, ObsPlanes, about.Extras{Mixed: true, Search: true, Asked: true}), letters)
	packed := columnRows(about.StepColumns(spec, ObsPacked, about.Extras{})[3:4], letters)
	all = append(all[:4], append(packed, all[4:]...)...)
	require.Equal(t, all, section(t, "## Step rows"))
	sums := map[string][]string{about.StepsDir + about.ColSHA256: {"32"}, about.EpisodesDir + about.ColSHA256: {"32"}, about.FinalsDir + about.ColSHA256: {"32"}}
	require.Equal(t, columnRows(about.IndexColumns(true), sums), section(t, "## Index"))
	require.Len(t, about.IndexColumns(false), len(about.IndexColumns(true))-3)
	finals := columnRows(about.FinalColumns(spec.Shape, ObsPlanes), letters)
	packed = columnRows(about.FinalColumns(spec.Shape, ObsPacked)[3:4], letters)
	require.Equal(t, append(finals[:4], append(packed, finals[4:]...)...), section(t, "## Final rows"))
	require.Equal(t, columnRows(about.EpisodeColumns(spec, about.Extras{Mixed: true, Search: true, Imported: true, Asked: true}), letters), section(t, "## Episode rows"))

	letters[about.ColOpponent] = []string{"seats − 1", "heads"}
	for _, name := range []string{about.ColPlanes, about.ColScalars, about.ColMask} {
		letters[about.Next+name] = letters[name]
	}
	spec.Sequential = true
	rendered := read.RenderedColumns(&Job{Obs: ObsPlanes}, spec, &read.ReadOptions{Steps: 1, Next: true}, true)
	require.Equal(t, columnRows(rendered[len(rendered)-7:], letters), section(t, "### Rows that are played again"))

	names := func(c []Column) (s []string) {
		for _, c := range c {
			s = append(s, c.Name)
		}
		return s
	}
	require.NotContains(t, names(about.StepColumns(spec, ObsPacked, about.Extras{})), about.ColPlanes)
	require.Contains(t, names(about.StepColumns(spec, ObsPacked, about.Extras{})), about.ColScalars)
	for _, left := range []string{about.ColPlanes, about.ColPacked, about.ColScalars, about.ColMask, about.ColAction} {
		require.NotContains(t, names(about.StepColumns(spec, ObsNone, about.Extras{})), left)
	}
	spec.Heads = []int{3}
	require.Empty(t, about.StepColumns(spec, ObsPlanes, about.Extras{})[6].Shape, "one head: a plain int32")
}

// keys lists the JSON keys of a type with their types.
func keys(prefix string, t reflect.Type) (rows [][]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue // in no file
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		path := prefix + name
		typ := f.Type
		for typ.Kind() == reflect.Slice && typ.Elem().Kind() != reflect.Uint8 || typ.Kind() == reflect.Pointer {
			if typ.Kind() == reflect.Slice {
				path += "[]"
			}
			typ = typ.Elem()
		}
		switch {
		case f.Anonymous:
			rows = append(rows, keys(prefix, typ)...)
		case typ.Kind() == reflect.Struct:
			rows = append(rows, keys(path+".", typ)...)
		case typ.Kind() == reflect.Map:
			rows = append(rows, []string{path, "object"})
		case typ.Kind() == reflect.String || typ.Kind() == reflect.Slice || option == "string": // bytes are in base64
			rows = append(rows, []string{path, "text"})
		case typ.Kind() == reflect.Bool:
			rows = append(rows, []string{path, "bool"})
		default:
			rows = append(rows, []string{path, "number"})
		}
	}
	return rows
}

// TestNames: fields have the same names in Go and in JSON.
func TestNames(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(typ reflect.Type)
	look = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				continue // in no file
			}
			look(f.Type)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.Anonymous {
				require.Equal(t, strings.ToLower(f.Name), strings.ReplaceAll(name, "_", ""), "%v", typ)
			}
		}
	}
	for _, v := range []any{Manifest{}, Overview{}, Report{}, Statistics{}, features.Description{}} {
		look(reflect.TypeOf(v))
	}
}

// TestFormatKeys compares the tables of JSON keys with the code.
func TestFormatKeys(t *testing.T) {
	for heading, v := range map[string]any{"## manifest.json": Manifest{}, "### run.json": write.RunFile{}, "### shards/00000.json": about.Sidecar{}, "## statistics.json": Statistics{}} {
		t.Run(heading, func(t *testing.T) {
			var documented [][]string
			for _, row := range section(t, heading) {
				require.NotEmpty(t, row[2], row[0])
				documented = append(documented, row[:2])
			}
			var want [][]string
			seen := map[string]bool{}
			for _, row := range keys("", reflect.TypeOf(v)) {
				// All tables of columns have the same keys, as have the files
				// of a shard.
				row[0] = regexp.MustCompile(`^(steps|episodes|finals)\.(batch_rows|columns|path|sha256|rows|bytes)`).ReplaceAllString(row[0], "steps|episodes|finals.$2")
				row[0] = regexp.MustCompile(`^(statistics|card)\.`).ReplaceAllString(row[0], "statistics|card.")
				row[0] = regexp.MustCompile(`^(sampled\.)?(planes|scalars)\[\]`).ReplaceAllString(row[0], "${1}planes|scalars[]")
				row[0] = regexp.MustCompile(`(plane|scalar)_fields`).ReplaceAllString(row[0], "plane|scalar_fields")
				row[0] = regexp.MustCompile(`(number|at|if)\.(first|step|width)$`).ReplaceAllString(row[0], "number|at|if.$2")
				row[0] = strings.ReplaceAll(row[0], "|", ",")
				if heading == "### run.json" && strings.HasPrefix(row[0], "job.") {
					row = []string{"job", "object"}
				}
				if !seen[row[0]] {
					want = append(want, row)
				}
				seen[row[0]] = true
			}
			require.Equal(t, want, documented, heading)
		})
	}
}

// TestFormatMetadata compares the tables of Arrow metadata with the code.
func TestFormatMetadata(t *testing.T) {
	var documented []string
	for _, row := range section(t, "### Metadata of the schema") {
		documented = append(documented, row[0])
	}
	require.Equal(t, about.SchemaKeys, documented)
}

// TestFrames: the header of every zstd frame has the size of its content, the number in front of the
// frame (Arrow's BodyCompression). No field has an extension, which some readers refuse, and fields of
// tensors have their shape.
func TestFrames(t *testing.T) {
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	for _, g := range catalog.Games() {
		for _, obs := range []Obs{ObsPlanes, ObsPacked} {
			for _, codec := range []Codec{Zstd, LZ4, None} {
				t.Run(fmt.Sprintf("%s %s %s", g.Name, obs, codec), func(t *testing.T) {
					j := Job{Game: g.Name, Policies: []string{"random", "random"}, Seed: 3, Episodes: 3, ShardEpisodes: 2, MaxTurns: 6, Obs: obs, Codec: codec}
					frames, small := 0, 0
					for name, text := range files(t, generated(t, j, realMakers(t, g.Name), Options{Workers: 1})) {
						if strings.HasPrefix(name, about.PathOf(about.StepsDir, 0)) {
							require.NotContains(t, text, "ARROW:extension", name)
							require.Contains(t, text, "moonfarm.shape", name)
						}
						for at := 8; strings.HasSuffix(name, ".arrow") && at+len(magic) <= len(text); at += 8 { // buffers begin at multiples of 8
							if text[at:at+len(magic)] != string(magic) {
								continue
							}
							var h zstd.Header
							require.NoError(t, h.Decode([]byte(text[at:])))
							require.Truef(t, h.HasFCS, "%s: the frame at %d", name, at)
							require.Equalf(t, binary.LittleEndian.Uint64([]byte(text[at-8:])), h.FrameContentSize, "%s: the frame at %d", name, at)
							frames++
							if h.FrameContentSize < 256 {
								small++
							}
						}
					}
					assert.Equal(t, codec == Zstd, frames > 10 && small > 0, "%d frames, %d of small contents", frames, small)
				})
			}
		}
	}
}
