// Package wire has no code. It lists the packages below it, which read and write the formats
// of the official engine of C1 Terminal:
//
//   - config: the engine's config file, which is also the first line that bots get
//   - frame: the frames that bots are shown, and the answers of bots
//   - referee: plays matches and shows their frames
//   - replay: replay files: the orders in them, writing a match, and verification
//
// They work on bytes, readers and writers; none of them opens a file.
package wire
