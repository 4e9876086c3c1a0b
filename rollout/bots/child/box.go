package child

// Box says what the processes of a bot may reach in a box, if Limits asks for one: see the
// package comment.
type Box struct {
	// Program is the bot. Its processes see a copy of their own of its folder, which they may
	// change and which ends with the Guard: see Guard.Folder. All other files are read-only
	// for them.
	Program Program
	// Port opens a port of TCP in the box: see Guard.Port. No process outside can reach it.
	Port bool
}

// BoxKind says whether a bot is enclosed, and how.
type BoxKind uint8

// Kinds of boxes. Automatic is a box where this machine can make one, and none elsewhere. Strict
// also hides homes, other mounts and Limits.Folders.Hidden; Start fails if it cannot be made.
const (
	NoBox BoxKind = iota
	Automatic
	Strict
)

// BoxFolders are more folders that strict boxes hide, and folders that they show although they lie in
// hidden ones.
type BoxFolders struct{ Hidden, Shown []string }

// Made reports whether Start makes a box of this kind, or fails because it cannot.
func (b BoxKind) Made() bool { return b == Strict || b == Automatic && Boxes() == nil }
