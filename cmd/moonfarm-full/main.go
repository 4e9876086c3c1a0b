// Command moonfarm-full is moonfarm with all its parts: it has the same commands, and
// also makes datasets on many machines (farm) and in buckets, such as s3://bucket/data/td.
// These parts are large, so that moonfarm, which lacks them, is quicker to build.
package main

import "moonfarm/cmd/moonfarm/command/full"

func main() { full.Main() }
