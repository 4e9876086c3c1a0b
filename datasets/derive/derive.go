// Package derive computes columns that follow from the rewards of an episode: returns,
// returns of a few turns, the discounts after these, and advantages. Rows are ordered by turn and seat: row t ×
// players + p is of seat p in turn t. Sums are made backwards in float64, and no
// product is fused with a sum, so that every machine computes the same bits.
package derive

// Returns writes the return of every row [turns, players]: its reward, and
// discount times the return of the seat's next row. dst may be reward itself.
func Returns(dst, reward []float32, players int, discount float64) {
	for p := range players {
		sum := 0.0
		for k := len(reward) - players + p; k >= 0; k -= players {
			sum = float64(reward[k]) + float64(discount*sum) // the conversion keeps the compiler from fusing product and sum
			dst[k] = float32(sum)
		}
	}
}

// Steps writes the return of n turns of every row [turns, players]: the rewards of the
// row and of the seat's next n−1 rows; the reward of k turns later has the weight
// discount to the power of k. Rewards after the end of the episode are 0. dst must not
// be reward.
func Steps(dst, reward []float32, players, n int, discount float64) {
	for row := range reward {
		last := row + (min(n, (len(reward)-1-row)/players+1)-1)*players
		sum := 0.0
		for k := last; k >= row; k -= players {
			sum = float64(reward[k]) + float64(discount*sum)
		}
		dst[row] = float32(sum)
	}
}

// Discounts writes the weight that the value of the state n turns later has beside the sum
// of Steps, for every row [turns, players]: discount to the power of n, or of the fewer turns
// that are left; 0 where the rules ended the episode by then (over), which leaves no value.
func Discounts(dst []float32, players, n int, discount float64, over bool) {
	turns, power, done := len(dst)/players, 1.0, 0
	for left := 1; left <= turns; left++ {
		for ; done < min(n, left); done++ {
			power *= discount
		}
		value := power
		if over && left <= n {
			value = 0
		}
		for k := range players {
			dst[(turns-left)*players+k] = float32(value)
		}
	}
}

// Advantages writes the generalised advantage estimate (Schulman and others,
// 2016) of every row [turns, players] of an episode: the sum of the errors
//
//	reward + discount × value of the seat's next row − value
//
// of the row and all later ones; the error of k turns later has the weight
// (discount × lambda) to the power of k. value [turns, players] are the caller's
// estimates, last [players] the value after the last turn: the estimate of the final
// observation if a limit cut the episode, 0 if the rules ended it; nil for zeros.
// dst may be reward or value.
func Advantages(dst, reward, value, last []float32, players int, discount, lambda float64) {
	for p := range players {
		next, sum := 0.0, 0.0
		if last != nil {
			next = float64(last[p])
		}
		for k := len(reward) - players + p; k >= 0; k -= players {
			now := float64(value[k])
			sum = float64(reward[k]) + float64(discount*next) - now + float64(discount*lambda*sum)
			dst[k], next = float32(sum), now
		}
	}
}
