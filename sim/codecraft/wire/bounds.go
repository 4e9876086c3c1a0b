package wire

// Bounds of what is read: a small or damaged file must not take much memory or
// time.
const (
	maxItems  = 1 << 15 // entities, actions or events in a state or a tick: more than the cells of the map could hold
	maxBytes  = 1 << 24 // of a state or a tick of a replay file; a full map has a tenth
	maxReplay = 1 << 28 // bytes of the replay files that are held in memory
	maxLine   = 1 << 22 // bytes of a line of JSON; the longest of the recordings has 180 KB, and a full map with an action for every cell 1.5 MB
	maxBlank  = 1 << 16 // bytes of blank lines in a row: a small file can hold gigabytes of them

	maxSeconds = 1e9  // limits of time in a config: what is longer is a mistake
	maxTries   = 2000 // ways to give last orders that are tried in a tick
)
