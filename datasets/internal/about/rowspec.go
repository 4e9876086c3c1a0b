package about

import (
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/rows"
	"moonfarm/env"
)

// Columns that only replayed rows have.
const (
	ColNStep    = "nstep"
	ColStep     = "step"
	ColOpponent = "opponent"

	ColNextPlanes   = Next + ColPlanes
	ColNextPacked   = Next + ColPacked
	ColNextScalars  = Next + ColScalars
	ColNextMask     = Next + ColMask
	ColNextDiscount = Next + "discount"
)

// Next begins the names of the columns of later observations.
const Next = "next_"

// FixedColumns maps the step columns of fixed shape to those of package rows.
var FixedColumns = map[string]rows.Column{
	ColEpisode: rows.Episode, ColTurn: rows.Turn, ColSeat: rows.Seat, ColPlanes: rows.Planes, ColPacked: rows.Packed,
	ColScalars: rows.Scalars, ColMask: rows.Mask, ColAction: rows.Action, ColAsked: rows.Asked, ColReward: rows.Reward, ColReturn: rows.Return,
	ColOutcome: rows.Outcome, ColTerminated: rows.Terminated, ColTruncated: rows.Truncated, ColChosen: rows.Chosen,
	ColNStep: rows.NStep, ColStep: rows.Step, ColOpponent: rows.Opponent, ColSearchValue: rows.SearchValue,
	ColNextPlanes: rows.NextPlanes, ColNextPacked: rows.NextPacked, ColNextScalars: rows.NextScalars, ColNextMask: rows.NextMask, ColNextDiscount: rows.NextDiscount,
}

// RowSpec returns the spec of rows with these columns.
func RowSpec(j Job, specs []env.Spec, columns []arrowfile.Column) *rows.Spec {
	s := &rows.Spec{Players: specs[0].Info.Players, Heads: len(specs[0].Heads), Memory: j.Memory, Discount: j.Discount, Sequential: specs[0].Sequential}
	for _, of := range specs {
		s.MaxTurns, s.MaxOrders = append(s.MaxTurns, of.MaxTurns), append(s.MaxOrders, of.Info.MaxOrders)
	}
	for _, column := range columns {
		if as, ok := FixedColumns[column.Name]; ok {
			s.Width[as] = column.Width()
		}
	}
	return s
}
