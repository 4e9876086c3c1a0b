package frame

// Bounds of the text that is read, far above the recordings. They keep a malicious file or
// answer from taking much memory or time.
const (
	// MaxLine bounds the bytes of a line of a replay file; the longest known one has 16 KB.
	MaxLine = 16 << 20
	// MaxUnits bounds the entries of all lists of units of a frame together; the longest
	// list of the recordings has 343.
	MaxUnits = 1 << 16
	// MaxEvents bounds the events of a frame and the targets of its explosions together.
	MaxEvents = 1 << 18
	maxTurn   = 1 << 20
	maxFrame  = 1 << 30

	maxAnswerLine     = 1 << 20 // bytes of a line of an answer
	maxAnswerCommands = 1 << 14 // in both lines
	maxRefusals       = 100
	maxRefusalText    = 48 // bytes of a command that a refusal quotes
)
