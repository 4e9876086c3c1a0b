package stats

import "moonfarm/rollout/view/overview"

// Counts has the number of times of each number.
type Counts = overview.Counts

// Histogram counts numbers in bars.
type Histogram = overview.Histogram
