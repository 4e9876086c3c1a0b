package datasets

import (
	"fmt"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/rollout"
)

// The bounds of the format. Reading takes no more memory than they and the manifest
// allow, whatever is in the files. Writers keep to these bounds.
const (
	// Bounds of a dataset, so that numbers of files fit into their names.
	maxEpisodes = 1 << 40
	maxShards   = 1 << 20

	// Bounds of a batch that is read.
	maxBatchBytes = 64 << 20 // of columns of fixed shape

	// Bounds of ReadOptions.
	maxWindow  = 1 << 30 // rows
	maxParts   = 1 << 20
	maxWorkers = 1 << 12

	// Bounds of an episode.
	maxOrders        = 1 << 20   // orders of one seat in one turn
	maxEpisodeTurns  = 1 << 24   // turns × seats
	maxEpisodeOrders = 1 << 24   // orders in all: 128 MiB
	maxMoves         = 1 << 12   // moves that a search weighed in one turn
	maxEpisodeMoves  = 1 << 24   // moves in all, and their choices in all
	maxRecording     = 1 << 26   // bytes of its recording
	maxText          = 1 << 16   // bytes of its source, and of the reason why it stopped
	maxPolicy        = 1 << 12   // bytes of the name of a policy
	maxOpening       = 10_000    // turns of an opening
	maxEpisodeLists  = 160 << 20 // bytes of its lists and texts together

	// Bytes of files that are read as a whole.
	maxManifest   = 1 << 30
	maxRun        = 64 << 20
	maxSidecar    = 64 << 20 // most of it is pairings, at most one per episode of the shard
	maxIndexPart  = 4 << 20  // a full part has about 112 bytes for each shard
	maxAttachment = 64 << 20 // of statistics.json and README.md

	// The index lists the shards in parts, so that neither the manifest nor the memory
	// of a reader or writer grows with their number.
	indexShards = 4096 // in a full part

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
	listBytes        = 8 << 20 // of lists and texts after which any batch is full

	keptBytes = 64 << 20 // of rows that a worker keeps while it plays
)

// checkSizes fails if batches, turns or orders may be larger than the bounds.
func (l *layout) checkSizes() error {
	for _, t := range l.tables {
		width := 0
		for _, c := range t.schema.Columns {
			width += c.Width() // at most 1 GiB each, which was checked, and there are about ten
		}
		if width > maxBatchBytes/max(t.rows, 1) {
			return fmt.Errorf("%s: %d rows of %d bytes, a batch holds at most %d bytes", t.name, t.rows, width, maxBatchBytes)
		}
	}
	s := l.specs[0]
	if turns := l.maxTurns(); turns < 1 || turns > maxEpisodeTurns/s.Info.Players {
		return fmt.Errorf("%d turns of %d seats, expected 1 to %d turns of all seats together", turns, s.Info.Players, maxEpisodeTurns)
	}
	if n := l.maxOrders(); n < 0 || n > maxOrders {
		return fmt.Errorf("%d orders of a seat in a turn, expected at most %d", n, maxOrders)
	}
	return nil
}

// checkEpisode fails if anything of an episode is larger than the bounds.
func checkEpisode(e *rollout.Episode, source string) error {
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
		if err := tooLong(name, maxPolicy); err != nil {
			return err
		}
	}
	for _, text := range []string{source, e.Stopped} {
		if err := tooLong(text, maxText); err != nil {
			return err
		}
	}
	if len(e.Recording) > maxRecording {
		return fmt.Errorf("episode %d: a recording of %d bytes, at most %d are kept", e.ID, len(e.Recording), maxRecording)
	}
	if n := max(len(found.Shares), len(found.Choices)); n > maxEpisodeMoves {
		return fmt.Errorf("episode %d: %d moves or choices of searches, at most %d are kept", e.ID, n, maxEpisodeMoves)
	}
	if max(len(e.Orders), len(e.AskedOrders)) > maxEpisodeOrders || lists > maxEpisodeLists {
		return fmt.Errorf("episode %d: %d orders, %d bytes in all; at most %d and %d are kept", e.ID, max(len(e.Orders), len(e.AskedOrders)), lists, maxEpisodeOrders, maxEpisodeLists)
	}
	return nil
}

// bound sets the bounds of lists and texts of a batch that is read. A batch ends after
// the row with which its lists reach listBytes. So it holds at most listBytes and the
// lists of one row; for steps, the lists of the rows of one turn.
func (d *Dataset) bound(table int, t *arrowfile.RecordBatch) {
	g := d.manifest.Game
	turns := g.MaxTurns * g.Players
	most := map[string]struct{ values, size int }{
		ColOrders: {min(turns*g.MaxOrders, maxEpisodeOrders), 8}, ColEnds: {turns, 4}, ColChosen: {turns, 1}, ColRecording: {maxRecording, 1},
		ColAskedOrders: {min(turns*g.MaxOrders, maxEpisodeOrders), 8}, ColAskedEnds: {turns, 4},
		ColSearchValue: {turns, 4}, ColSearchEnds: {turns, 4}, ColSearchPolicy: {maxEpisodeMoves, 4},
		ColSearchChoices: {maxEpisodeMoves, 4}, ColSearchCounts: {maxEpisodeMoves, 4},
		ColPolicies: {maxPolicy, 1}, ColSource: {maxText, 1}, ColStopped: {maxText, 1},
	}
	beyond := 0 // bytes of lists beyond listBytes
	for _, c := range t.Data {
		if c == nil || c.Ends == nil {
			continue
		}
		m := most[c.Column.Name]
		if table == stepsTable { // the bound of a row
			switch c.Column.Name {
			case ColOrders:
				m.values = g.MaxOrders
			case ColSearchChoices: // only games of several heads have more choices than moves
				m.values = min(maxMoves*len(d.manifest.Action.Heads), maxEpisodeMoves)
			default:
				m.values = maxMoves
			}
			beyond += m.values * m.size * (g.Players - 1)
		}
		c.Most = max(m.values, 1)
		beyond += c.Most * m.size * c.Column.Values()
	}
	t.MostLists = listBytes + min(beyond, maxEpisodeLists)
}
