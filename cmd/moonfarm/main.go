// Command moonfarm plays games of the catalog by the million, keeps them as
// datasets, checks datasets and recordings, and compares policies.
//
// What a command prints goes to standard output, and with --json
// it is one JSON value; progress (on a terminal) and the one line that says what
// went wrong go to standard error. The exit status is 0 if all is well, 1 for a
// failure such as a damaged dataset or a difference found, 2 for wrong usage and
// 130 after an interrupt.
package main

import "moonfarm/cmd/moonfarm/command"

func main() { command.Main(command.Parts{}) }
