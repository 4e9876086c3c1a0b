package console

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/pflag"
)

// Numbers returns a flag of numbers with commas between them.
func Numbers(to *[]uint64) pflag.Value { return numbersFlag{to} }

// numbersFlag is a flag of numbers.
type numbersFlag struct{ to *[]uint64 }

// String implements pflag.Value.
func (f numbersFlag) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*f.to), " ", ","), "[]")
}

// Type implements pflag.Value.
func (numbersFlag) Type() string { return "N,N" }

// Set implements pflag.Value.
func (f numbersFlag) Set(text string) error {
	for _, one := range strings.Split(text, ",") {
		var n uint64
		if err := Whole(&n, 0, uint64(math.MaxUint64)).Set(one); err != nil {
			return err
		}
		*f.to = append(*f.to, n)
	}
	return nil
}
