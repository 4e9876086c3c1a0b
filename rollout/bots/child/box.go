package child

import "errors"

// Box says what the processes of a bot may reach in a box, if Limits asks for one: see the
// package comment.
type Box struct {
	// Program is the bot. Its processes see a copy of their own of its folder, which they may
	// change and which ends with the Guard: see Guard.Folder. All other files are read-only
	// for them.
	Program Program
	// Port opens a port of TCP on the loopback of the box, which no process outside can reach, or
	// without Namespaces on that of this machine: see Guard.Port.
	Port bool
}

// BoxKind says whether a bot is enclosed, and how.
type BoxKind uint8

// Kinds of boxes. Automatic is the best box that this machine can make, or none. Strict
// also hides homes, other mounts and Limits.Folders.Hidden; Start fails if it cannot be made.
const (
	NoBox BoxKind = iota
	Automatic
	Strict
)

// BoxFolders are outputs, which strict boxes hide as far as they are folders, and folders that they show although they lie in
// hidden ones.
type BoxFolders struct{ Hidden, Shown []string }

// Means are what keeps the processes of a bot from the machine.
type Means uint8

// Means of boxes: see the package comment.
const (
	Nothing Means = iota
	Landlock
	Namespaces
)

// String returns "none", "landlock" or "namespaces".
func (m Means) String() string { return []string{"none", "landlock", "namespaces"}[m] }

// Means returns what this machine has for a box of this kind, and, if it is not Namespaces, why. Start
// fails for a strict box without Namespaces.
func (b BoxKind) Means() (Means, error) {
	if b == NoBox {
		return Nothing, errors.New("no box is asked for")
	}
	means, why := enclosure()
	if b == Strict && means != Namespaces {
		means = Nothing
	}
	return means, why
}
