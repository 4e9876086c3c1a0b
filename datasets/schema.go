package datasets

import (
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/features"
)

// Column describes one column of a file.
type Column = arrowfile.Column

// Names of columns.
const (
	ColEpisode    = "episode"
	ColTurn       = "turn"
	ColSeat       = "seat"
	ColPlanes     = "planes"
	ColPacked     = "packed"
	ColScalars    = "scalars"
	ColMask       = "mask"
	ColAction     = "action"
	ColOrders     = "orders"
	ColReward     = "reward"
	ColReturn     = "return"
	ColOutcome    = "outcome"
	ColTerminated = "terminated"
	ColTruncated  = "truncated"
	ColChosen     = "chosen"

	ColSeed     = "seed"
	ColRules    = "rules"
	ColPolicies = "policies"
	ColSource   = "source"
	ColTurns    = "turns"
	ColStatus   = "status"
	ColResults  = "results"
	ColScores   = "scores"
	ColEnds     = "ends"

	ColStopped   = "stopped"
	ColRecording = "recording"
)

// stepColumns are the columns of steps/*.arrow in a version of the format. Those
// of format 1 must stay as they are: reading compares every name, shape and text.
func stepColumns(format int, s env.Spec, o Obs, mixed bool) []Column {
	c := []Column{
		{Name: ColEpisode, Type: arrowfile.Uint64, Doc: "number of the episode in the dataset, from 0"},
		{Name: ColTurn, Type: arrowfile.Int32, Doc: "turn of the episode, from 0"},
		{Name: ColSeat, Type: arrowfile.Uint8, Doc: "seat of the player, from 0"},
	}
	c = append(c, observationColumns(s.Shape, o, "before the turn")...)
	tensor := func(name string, t arrowfile.Type, doc string, dims []string, shape ...int) {
		c = appendTensor(c, name, t, doc, dims, shape...)
	}
	if o != ObsNone {
		legal := "legal choices: choice c of head h is bit i%64 of word i/64, i = c + choices of the heads before h; the last heads may have none: see action.unmasked"
		doc := "the choice of each head that says the orders that belong to it; -1 if none of its choices does, and the other heads stand; of several heads 0: no orders"
		if format == 1 {
			legal = "legal choices: choice c of head h is bit i%64 of word i/64, i = c + choices of the heads before h"
			doc = "the choice of each head that says the orders; -1 if none does"
		}
		tensor(ColMask, arrowfile.Uint64, legal, []string{"word"}, s.MaskWords)
		if len(s.Heads) == 1 {
			c = append(c, Column{Name: ColAction, Type: arrowfile.Int32, Doc: doc})
		} else {
			tensor(ColAction, arrowfile.Int32, doc, []string{"head"}, len(s.Heads))
		}
	}
	c = append(c,
		Column{Name: ColOrders, Type: arrowfile.Uint64, List: true,
			Doc: "packed orders the seat gave in the turn, in order; none: it did nothing"},
		Column{Name: ColReward, Type: arrowfile.Float32, Doc: "reward of the turn"},
		Column{Name: ColReturn, Type: arrowfile.Float32, Doc: returnDoc(format)},
		Column{Name: ColOutcome, Type: arrowfile.Float32, Doc: "final result of the seat: +1 first place … -1 last"},
		Column{Name: ColTerminated, Type: arrowfile.Bool, Doc: "the rules ended the game with this turn"},
		Column{Name: ColTruncated, Type: arrowfile.Bool, Doc: "a limit cut the game after this turn"},
	)
	if format == 1 {
		return c
	}
	if mixed {
		c = append(c, Column{Name: ColChosen, Type: arrowfile.Uint8,
			Doc: "number of the member of the seat's policy that chose, from 0, as job.members lists them; 0 if the policy has none"})
	}
	return c
}

// observationColumns are the columns of what a seat sees at some time.
func observationColumns(h features.Shape, o Obs, when string) (c []Column) {
	switch o {
	case ObsPlanes:
		c = appendTensor(c, ColPlanes, arrowfile.Uint8, "what the seat sees "+when+", from its own side; the manifest names the planes",
			[]string{"plane", "y", "x"}, h.Planes, h.Height, h.Width)
	case ObsPacked:
		c = appendTensor(c, ColPacked, arrowfile.Uint64, "the planes as bits; the manifest tells where each is", []string{"word"}, h.Words)
	case ObsNone:
		return nil
	}
	return appendTensor(c, ColScalars, arrowfile.Float32, "the numbers the seat sees "+when+"; the manifest names them",
		[]string{"scalar"}, h.Scalars)
}

// appendTensor appends a tensor column, unless a dimension is 0.
func appendTensor(c []Column, name string, t arrowfile.Type, doc string, dims []string, shape ...int) []Column {
	for _, n := range shape {
		if n == 0 {
			return c
		}
	}
	return append(c, Column{Name: name, Type: t, Shape: shape, Dims: dims, Tensor: true, Doc: doc})
}

func returnDoc(format int) string {
	if format == 1 {
		return "sum of the rewards from this turn to the end, undiscounted"
	}
	return "sum of the rewards from this turn to the end, that of k turns later times reward.gamma to the power of k"
}

// episodeColumns are the columns of episodes/*.arrow in a version of the format.
// Those that only imported episodes have come last.
func episodeColumns(format, players int, mixed, imported bool) []Column {
	seat := []string{"seat"}
	c := []Column{
		{Name: ColEpisode, Type: arrowfile.Uint64, Doc: "number of the episode in the dataset, from 0"},
		{Name: ColSeed, Type: arrowfile.Uint64, Doc: "seed the game was reset with"},
		{Name: ColRules, Type: arrowfile.Int32, Doc: "number of its rules in the manifest, from 0"},
		{Name: ColPolicies, Type: arrowfile.Utf8, Shape: []int{players}, Dims: seat, Doc: "who played at each seat"},
		{Name: ColSource, Type: arrowfile.Utf8, Doc: "where an imported episode comes from; empty if generated"},
		{Name: ColTurns, Type: arrowfile.Int32, Doc: "turns played; the episode has turns × seats step rows"},
		{Name: ColStatus, Type: arrowfile.Uint8, Doc: "1: ended by the rules, 2: cut by a limit"},
		{Name: ColResults, Type: arrowfile.Float32, Shape: []int{players}, Dims: seat,
			Doc: "final result of each seat: +1 first place … -1 last; they sum to 0"},
		{Name: ColScores, Type: arrowfile.Float64, Shape: []int{players}, Dims: seat, Doc: "the game's own points of each seat"},
		{Name: ColOrders, Type: arrowfile.Uint64, List: true, Doc: "packed orders of all turns and seats, one after the other"},
		{Name: ColEnds, Type: arrowfile.Int32, List: true,
			Doc: "the orders of seat p in turn t are orders[ends[k-1]:ends[k]] with k = t × seats + p, ends[-1] = 0"},
	}
	if format == 1 {
		return c
	}
	if mixed {
		c = append(c, Column{Name: ColChosen, Type: arrowfile.Uint8, List: true,
			Doc: "number of the member of the policy of seat p that chose in turn t, at t × seats + p; 0 if the policy has none"})
	}
	if !imported {
		return c
	}
	return append(c,
		Column{Name: ColStopped, Type: arrowfile.Utf8,
			Doc: "why a recording stops though its game would go on: where it broke off or what first differed from how it plays here; else empty"},
		Column{Name: ColRecording, Type: arrowfile.Uint8, List: true,
			Doc: "the game in the original's own form if its chance is not known and it cannot be played again; else empty"},
	)
}

// finalColumns are the columns of finals/*.arrow.
func finalColumns(s features.Shape, o Obs) []Column {
	return append([]Column{
		{Name: ColEpisode, Type: arrowfile.Uint64, Doc: "number of the episode in the dataset, from 0"},
		{Name: ColTurn, Type: arrowfile.Int32, Doc: "turns played: the number of the turn that would come"},
		{Name: ColSeat, Type: arrowfile.Uint8, Doc: "seat of the player, from 0"},
	}, observationColumns(s, o, "after the last turn")...)
}
