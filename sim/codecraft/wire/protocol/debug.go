package protocol

// CommandKind is the tag of a DebugCommand.
type CommandKind int32

const (
	CommandAdd          CommandKind = 0
	CommandClear        CommandKind = 1
	CommandSetAutoFlush CommandKind = 2
	CommandFlush        CommandKind = 3

	commandKinds = 4
)

// DebugCommand draws in the window of the runner. Without a window it has no effect.
type DebugCommand struct {
	Kind   CommandKind
	Data   DebugData // of CommandAdd
	Enable bool      // of CommandSetAutoFlush
}

// DebugKind is the tag of a DebugData.
type DebugKind int32

const (
	DebugLog        DebugKind = 0
	DebugPrimitives DebugKind = 1
	DebugText       DebugKind = 2

	debugKinds = 3
)

// DebugData is a line of text or a drawing.
type DebugData struct {
	Kind      DebugKind
	Text      string          // of DebugLog and DebugText
	Vertices  []ColoredVertex // of DebugPrimitives; of DebugText the only one
	Triangles bool            // DebugPrimitives are triangles, else lines
	Alignment float32         // of DebugText
	Size      float32         // of DebugText
}

// ColoredVertex is a point of a drawing.
type ColoredVertex struct {
	World  Optional[[2]float32]
	Screen [2]float32 // offset
	Color  [4]float32 // red, green, blue, alpha
}

func (r *Reader) debugCommand(c *DebugCommand) {
	c.Kind = CommandKind(r.Tag("debug command", commandKinds))
	switch c.Kind {
	case CommandAdd:
		r.debugData(&c.Data)
	case CommandSetAutoFlush:
		c.Enable = r.truth("enable")
	}
}

func (d *DebugCommand) append(dst []byte) []byte {
	dst = AppendNumber(dst, int32(d.Kind))
	switch d.Kind {
	case CommandAdd:
		dst = d.Data.append(dst)
	case CommandSetAutoFlush:
		dst = appendTruth(dst, d.Enable)
	}
	return dst
}

func (r *Reader) debugData(d *DebugData) {
	d.Kind = DebugKind(r.Tag("debug data", debugKinds))
	d.Vertices = d.Vertices[:0]
	switch d.Kind {
	case DebugLog:
		d.Text = r.text("text of a log")
	case DebugPrimitives:
		for i, n := 0, r.Count("vertices", vertexSize-8); i < n && r.err == nil; i++ {
			d.Vertices = append(d.Vertices, r.vertex())
		}
		d.Triangles = r.Tag("type of primitives", 2) == 1
	case DebugText:
		d.Vertices = append(d.Vertices, r.vertex())
		d.Text = r.text("placed text")
		d.Alignment, d.Size = r.float("alignment"), r.float("size of a text")
	}
}

func (d *DebugData) append(dst []byte) []byte {
	dst = AppendNumber(dst, int32(d.Kind))
	switch d.Kind {
	case DebugLog:
		dst = AppendString(dst, d.Text)
	case DebugPrimitives:
		dst = AppendNumber(dst, int32(len(d.Vertices)))
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

// DebugState describes the window, the mouse and the camera. It is the answer to
// RequestDebugState, and has no tag.
type DebugState struct {
	WindowSize  [2]int32
	MouseWindow [2]float32
	MouseWorld  [2]float32
	PressedKeys []string
	Camera      Camera
	PlayerIndex int32 // from 0
}

// Camera is the place and direction from which the window shows the map.
type Camera struct {
	Center      [2]float32
	Rotation    float32
	Attack      float32 // an angle
	Distance    float32 // to the center
	Perspective bool
}

// Append appends the state in its binary form.
func (d *DebugState) Append(dst []byte) []byte {
	dst = AppendNumbers(dst, d.WindowSize[:]...)
	dst = appendFloats(dst, d.MouseWindow[:]...)
	dst = appendFloats(dst, d.MouseWorld[:]...)
	dst = AppendNumber(dst, int32(len(d.PressedKeys)))
	for _, key := range d.PressedKeys {
		dst = AppendString(dst, key)
	}
	c := &d.Camera
	dst = appendFloats(appendFloats(dst, c.Center[:]...), c.Rotation, c.Attack, c.Distance)
	return AppendNumber(appendTruth(dst, c.Perspective), d.PlayerIndex)
}

func appendFloats(dst []byte, list ...float32) []byte {
	for _, f := range list {
		dst = appendFloat(dst, f)
	}
	return dst
}
