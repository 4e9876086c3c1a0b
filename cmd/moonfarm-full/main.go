// Command moonfarm-full is moonfarm with all its parts: it has the same commands, and
// makes datasets on many machines (farm) and in buckets, such as s3://bucket/data/td, as
// well. Those parts are large: what works without them is quicker to build as moonfarm.
package main

import "moonfarm/cmd/moonfarm/command/full"

func main() { full.Main() }
