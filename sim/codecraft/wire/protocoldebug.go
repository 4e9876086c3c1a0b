package wire

// CommandKind is the tag of a DebugCommand.
type CommandKind int32

const (
	CommandAdd          CommandKind = 0
	CommandClear        CommandKind = 1
	CommandSetAutoFlush CommandKind = 2
	CommandFlush        CommandKind = 3

	commandKinds = 4
)

// DebugCommand is for a window to draw in. Without one it has no effect.
type DebugCommand struct {
	Kind   CommandKind
	Data   DebugData // of Add
	Enable bool      // of SetAutoFlush
}

// DebugKind is the tag of a DebugData.
type DebugKind int32

const (
	DebugLog        DebugKind = 0
	DebugPrimitives DebugKind = 1
	DebugText       DebugKind = 2

	debugKinds = 3
)

// DebugData is a line of text, or something to be drawn.
type DebugData struct {
	Kind      DebugKind
	Text      string          // of Log and PlacedText
	Vertices  []ColoredVertex // of Primitives; of PlacedText the only one
	Triangles bool            // Primitives are triangles, else lines
	Alignment float32         // of PlacedText
	Size      float32         // of PlacedText
}

// ColoredVertex is a point to be drawn.
type ColoredVertex struct {
	World  Optional[[2]float32]
	Screen [2]float32 // offset
	Color  [4]float32 // red, green, blue, alpha
}

func (r *Reader) debugCommand(c *DebugCommand) {
	c.Kind = CommandKind(r.tag("debug command", commandKinds))
	switch c.Kind {
	case CommandAdd:
		r.debugData(&c.Data)
	case CommandSetAutoFlush:
		c.Enable = r.truth("enable")
	}
}

func (c *DebugCommand) append(dst []byte) []byte {
	dst = appendNumber(dst, int32(c.Kind))
	switch c.Kind {
	case CommandAdd:
		dst = c.Data.append(dst)
	case CommandSetAutoFlush:
		dst = appendTruth(dst, c.Enable)
	}
	return dst
}

func (r *Reader) debugData(d *DebugData) {
	d.Kind = DebugKind(r.tag("debug data", debugKinds))
	d.Vertices = d.Vertices[:0]
	switch d.Kind {
	case DebugLog:
		d.Text = r.text("text of a log")
	case DebugPrimitives:
		for i, n := 0, r.count("vertices", vertexSize-8); i < n && r.err == nil; i++ {
			d.Vertices = append(d.Vertices, r.vertex())
		}
		d.Triangles = r.tag("type of primitives", 2) == 1
	case DebugText:
		d.Vertices = append(d.Vertices, r.vertex())
		d.Text = r.text("placed text")
		d.Alignment, d.Size = r.float("alignment"), r.float("size of a text")
	}
}

func (d *DebugData) append(dst []byte) []byte {
	dst = appendNumber(dst, int32(d.Kind))
	switch d.Kind {
	case DebugLog:
		dst = AppendString(dst, d.Text)
	case DebugPrimitives:
		dst = appendNumber(dst, int32(len(d.Vertices)))
		for i := range d.Vertices {
			dst = d.Vertices[i].append(dst)
		}
		dst = appendTruth(dst, d.Triangles)
		dst = append(dst, 0, 0, 0) // the tag is an int32
	case DebugText:
		dst = d.Vertices[0].append(dst)
		dst = AppendString(dst, d.Text)
		dst = appendFloat(appendFloat(dst, d.Alignment), d.Size)
	}
	return dst
}

func (r *Reader) vertex() (v ColoredVertex) {
	if v.World.Given = r.truth("world_pos"); v.World.Given {
		v.World.Value = [2]float32{r.float("world_pos"), r.float("world_pos")}
	}
	v.Screen = [2]float32{r.float("screen_offset"), r.float("screen_offset")}
	for i := range v.Color {
		v.Color[i] = r.float("color")
	}
	return v
}

func (v *ColoredVertex) append(dst []byte) []byte {
	dst = appendTruth(dst, v.World.Given)
	if v.World.Given {
		dst = appendFloat(appendFloat(dst, v.World.Value[0]), v.World.Value[1])
	}
	dst = appendFloat(appendFloat(dst, v.Screen[0]), v.Screen[1])
	for _, c := range v.Color {
		dst = appendFloat(dst, c)
	}
	return dst
}

// DebugState tells what is seen in the window, and which part of the map. It answers
// a RequestDebugState, without a tag.
type DebugState struct {
	WindowSize  [2]int32
	MouseWindow [2]float32
	MouseWorld  [2]float32
	PressedKeys []string
	Camera      Camera
	PlayerIndex int32 // from 0
}

// Camera says how the map is looked at.
type Camera struct {
	Center      [2]float32
	Rotation    float32
	Attack      float32 // an angle
	Distance    float32 // to the center
	Perspective bool
}

// Append appends the state as it is sent.
func (d *DebugState) Append(dst []byte) []byte {
	dst = appendNumbers(dst, d.WindowSize[:]...)
	dst = appendFloats(dst, d.MouseWindow[:]...)
	dst = appendFloats(dst, d.MouseWorld[:]...)
	dst = appendNumber(dst, int32(len(d.PressedKeys)))
	for _, key := range d.PressedKeys {
		dst = AppendString(dst, key)
	}
	c := &d.Camera
	dst = appendFloats(appendFloats(dst, c.Center[:]...), c.Rotation, c.Attack, c.Distance)
	return appendNumber(appendTruth(dst, c.Perspective), d.PlayerIndex)
}

func appendFloats(dst []byte, list ...float32) []byte {
	for _, f := range list {
		dst = appendFloat(dst, f)
	}
	return dst
}
