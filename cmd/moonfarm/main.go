// Command moonfarm plays games of the catalog by the million, keeps them as
// datasets, checks datasets and recordings, and compares policies.
//
// Commands print their results to standard output, with --json as one JSON value.
// Progress (on a terminal) and the one line of an error go to standard error. The
// exit status is 0 if all is well, 1 for a failure such as a damaged dataset or a
// difference found, 2 for wrong usage and 130 after an interrupt.
package main

import "moonfarm/cmd/moonfarm/command"

func main() { command.Program{}.Main() }
