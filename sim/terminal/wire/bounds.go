package wire

// Bounds of what is read, far beyond what the recordings have. They keep a file
// or an answer made by hand from taking much memory or time.
const (
	// MaxLine bounds the bytes of a line of a replay file; the longest has 16 KB.
	MaxLine  = 16 << 20
	maxBlank = 1 << 16 // bytes of blank lines in a row: a small compressed file can hold gigabytes of them

	// MaxConfig bounds the bytes of a config; those of the recordings have 3.5 KB.
	MaxConfig    = 1 << 20
	maxShorthand = 16 // bytes of a name in Config.Shorthands

	// MaxUnits bounds the entries of all lists of units of a frame together; the
	// longest list of the recordings has 343.
	MaxUnits = 1 << 16
	// MaxEvents bounds the events of a frame and the targets of its explosions
	// together.
	MaxEvents = 1 << 18
	maxTurn   = 1 << 20
	maxFrame  = 1 << 30

	maxAnswerLine     = 1 << 20 // bytes of a line of an answer
	maxAnswerCommands = 1 << 14 // in both lines
	maxRefusals       = 100
	maxRefusalText    = 48 // characters of a command that a refusal shows
)
