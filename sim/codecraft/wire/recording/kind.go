package recording

import (
	"bytes"
	"encoding/binary"
	"regexp"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// Kind is the content of a recording.
type Kind string

// The kinds of recordings.
const (
	HoldsGame     Kind = "games"
	HoldsViews    Kind = "views"
	HoldsMessages Kind = "messages"
	HoldsNothing  Kind = ""
)

// KindOf returns the kind of a recording by its first bytes, of which it needs at most 64.
func KindOf(head []byte) Kind {
	if !looksJSON(head) {
		if len(head) > 8 && head[4] == codecraft.Side && head[5]|head[6]|head[7] == 0 && head[8] < 2 {
			return HoldsGame
		}
		if looksRaw(head) {
			return HoldsMessages
		}
		return HoldsNothing
	}
	switch kind := jsonKind(head); kind {
	case "initial":
		return HoldsGame
	case "view":
		return HoldsViews
	case "raw_get_action":
		return HoldsMessages
	}
	return HoldsNothing
}

// looksJSON reports whether a recording is JSON Lines, by its first bytes. A replay file
// could begin with these bytes only if its map had more than 500 million cells.
func looksJSON(head []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(head), []byte(`{"kind"`)) }

// looksRaw reports whether a file holds raw messages to a client, as clients log them, by its
// first bytes: a GetAction or DebugUpdate, whose view begins with a player and the size of the
// map. A replay file has the size at another place.
func looksRaw(head []byte) bool {
	if len(head) < 13 {
		return false
	}
	kind := protocol.ServerKind(binary.LittleEndian.Uint32(head))
	player, side := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
	return (kind == protocol.GetAction || kind == protocol.DebugUpdate) && player >= 1 && player <= sim.MaxPlayers &&
		side == codecraft.Side && head[12] < 2
}

// kindKey finds the kind of a line of JSON.
var kindKey = regexp.MustCompile(`^\s*\{"kind"\s*:\s*"([a-z_]+)"`)

// jsonKind returns the kind of a line of JSON, "" if it has none.
func jsonKind(head []byte) string {
	if m := kindKey.FindSubmatch(head); m != nil {
		return string(m[1])
	}
	return ""
}
