package about

import (
	"fmt"

	"moonfarm/datasets/internal/jsontext"
	"moonfarm/rollout"
)

// The bounds of the format. Reading takes no more memory than they and the manifest
// allow, whatever is in the files. Writers keep to these bounds.
const (
	// Bounds of a dataset, so that numbers of files fit into their names.
	maxEpisodes = 1 << 40
	MaxShards   = 1 << 20

	// Bounds of a batch that is read.
	maxBatchBytes = 64 << 20 // of columns of fixed shape

	// Bounds of ReadOptions.
	MaxWindow  = 1 << 30 // rows
	MaxParts   = 1 << 20
	MaxWorkers = 1 << 12

	// Bounds of an episode.
	MaxOrders        = 1 << 20   // orders of one seat in one turn
	MaxEpisodeTurns  = 1 << 24   // turns × seats
	MaxEpisodeOrders = 1 << 24   // orders in all: 128 MiB
	MaxMoves         = 1 << 12   // moves that a search weighed in one turn
	MaxEpisodeMoves  = 1 << 24   // moves in all, and their choices in all
	MaxRecording     = 1 << 26   // bytes of its recording
	MaxText          = 1 << 16   // bytes of its source, and of the reason why it stopped
	MaxPolicy        = 1 << 12   // bytes of the name of a policy
	maxOpening       = 10_000    // turns of an opening
	MaxEpisodeLists  = 160 << 20 // bytes of its lists and texts together

	// Bytes of files that are read as a whole.
	maxManifest   = 1 << 30
	MaxRun        = 64 << 20
	MaxSidecar    = 64 << 20 // most of it is pairings, at most one per episode of the shard
	MaxIndexPart  = 4 << 20  // a full part has about 112 bytes for each shard
	MaxAttachment = 64 << 20 // of statistics.json and README.md

	// The index lists the shards in parts, so that neither the manifest nor the memory
	// of a reader or writer grows with their number.
	IndexShards = 4096 // in a full part

	// mostPairings are counted one by one: the manifest stays short though every
	// recording may have other players.
	mostPairings = 1000
)

// Sizes of the batches that are written, and of the rows that a worker holds.
const (
	// Rows are compressed while they are in the processor's cache, so a batch of
	// steps aims at stepBatchBytes; but it holds stepBatchTurns turns at least, as
	// rows compress by their likeness to those before.
	stepBatchBytes   = 4 << 20
	stepBatchTurns   = 16
	finalBatchBytes  = 1 << 20
	mostBatchRows    = 4096 // of steps or finals
	episodeBatchRows = 1024
	ListBytes        = 8 << 20 // of lists and texts after which any batch is full

	KeptBytes = 64 << 20 // of rows that a worker keeps while it plays
)

// CheckSizes fails if batches, turns or orders may be larger than the bounds.
func (l *Layout) CheckSizes() error {
	for _, t := range l.Tables {
		width := 0
		for _, c := range t.Schema.Columns {
			width += c.Width() // at most 1 GiB each, which was checked, and there are about ten
		}
		if width > maxBatchBytes/max(t.Rows, 1) {
			return fmt.Errorf("%s: %d rows of %d bytes, a batch holds at most %d bytes", t.Name, t.Rows, width, maxBatchBytes)
		}
	}
	s := l.Specs[0]
	turns, orders := l.most()
	if turns < 1 || turns > MaxEpisodeTurns/s.Info.Players {
		return fmt.Errorf("%d turns of %d seats, expected 1 to %d turns of all seats together", turns, s.Info.Players, MaxEpisodeTurns)
	}
	if orders < 0 || orders > MaxOrders {
		return fmt.Errorf("%d orders of a seat in a turn, expected at most %d", orders, MaxOrders)
	}
	return nil
}

// CheckEpisode fails if anything of an episode is larger than the bounds.
func CheckEpisode(e *rollout.Episode, source string) error {
	lists := 8*len(e.Orders) + 4*len(e.Ends) + len(e.Chosen) + len(e.Recording) + len(e.Stopped) + len(source)
	lists += 8*len(e.AskedOrders) + 4*len(e.AskedEnds)
	found := &e.Searches
	lists += 4 * (len(found.Value) + len(found.Ends) + len(found.Shares) + len(found.Choices) + len(found.Counts))
	tooLong := func(text string, most int) error {
		if len(text) <= most {
			return nil
		}
		return fmt.Errorf("episode %d: a text of %d bytes, at most %d are kept: %s", e.ID, len(text), most, jsontext.Short(text, 0))
	}
	for _, name := range e.Policies {
		if err := tooLong(name, MaxPolicy); err != nil {
			return err
		}
	}
	for _, text := range []string{source, e.Stopped} {
		if err := tooLong(text, MaxText); err != nil {
			return err
		}
	}
	if len(e.Recording) > MaxRecording {
		return fmt.Errorf("episode %d: a recording of %d bytes, at most %d are kept", e.ID, len(e.Recording), MaxRecording)
	}
	if n := max(len(found.Shares), len(found.Choices)); n > MaxEpisodeMoves {
		return fmt.Errorf("episode %d: %d moves or choices of searches, at most %d are kept", e.ID, n, MaxEpisodeMoves)
	}
	if max(len(e.Orders), len(e.AskedOrders)) > MaxEpisodeOrders || lists > MaxEpisodeLists {
		return fmt.Errorf("episode %d: %d orders, %d bytes in all; at most %d and %d are kept", e.ID, max(len(e.Orders), len(e.AskedOrders)), lists, MaxEpisodeOrders, MaxEpisodeLists)
	}
	return nil
}
