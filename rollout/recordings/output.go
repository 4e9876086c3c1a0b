package recordings

import "moonfarm/sim/towerdefence/wire/matchlog"

// EachOutput calls each with what the bots printed in the turns of the recorded game, where the recording has it: in a
// match log of Tower Defence, a folder. cut says that text is only the beginning. Other recordings have no output.
func (r *Recording) EachOutput(each func(turn, seat int, text []byte, cut bool)) error {
	if r.folder == nil {
		return nil
	}
	return matchlog.EachOutput(r.folder, each)
}
