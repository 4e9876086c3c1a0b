package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/datasets"
)

// whole is the value of a flag that takes a whole number within bounds.
type whole[T int | uint64] struct {
	to       *T
	min, max T
}

// Set implements the flag's value.
func (w whole[T]) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err == nil && n >= uint64(w.min) && n <= uint64(w.max):
		*w.to = T(n)
		return nil
	case uint64(w.max) >= math.MaxInt64:
		return fmt.Errorf("expected a whole number, %d or more", w.min)
	}
	return fmt.Errorf("expected a whole number from %d to %d", w.min, w.max)
}

// String implements the flag's value.
func (w whole[T]) String() string {
	if w.to == nil {
		return "0"
	}
	return fmt.Sprint(*w.to)
}

// Type names the value in the help.
func (w whole[T]) Type() string { return "N" }

// choice is the value of a flag that takes one of a few words.
type choice[T ~string] struct {
	to *T
	of []T
}

// Set implements the flag's value.
func (v choice[T]) Set(text string) error {
	if !slices.Contains(v.of, T(text)) {
		return fmt.Errorf("expected one of: %s", v.list(", "))
	}
	*v.to = T(text)
	return nil
}

// String implements the flag's value.
func (v choice[T]) String() string {
	if v.to == nil {
		return ""
	}
	return string(*v.to)
}

// Type names the value in the help.
func (v choice[T]) Type() string { return v.list("|") }

func (v choice[T]) list(separator string) string {
	words := make([]string, len(v.of))
	for i, w := range v.of {
		words[i] = string(w)
	}
	return strings.Join(words, separator)
}

// maxWorkers bounds --workers.
const maxWorkers = 4096

// workersFlag adds --workers, by default one per core.
func workersFlag(c *cobra.Command, to *int) {
	*to = runtime.GOMAXPROCS(0)
	c.Flags().Var(whole[int]{to, 1, maxWorkers}, "workers", "how many work at once; the result is the same for any number")
}

// seedFlag adds --seed.
func seedFlag(c *cobra.Command, to *uint64) {
	*to = 1
	c.Flags().Var(whole[uint64]{to, 0, math.MaxUint64}, "seed", "master seed: all chance follows from it")
}

// datasetFlags adds the flags that say how a dataset is written.
func datasetFlags(c *cobra.Command, j *datasets.Job) {
	j.ShardEpisodes = datasets.DefaultShardEpisodes
	j.Obs, j.Codec, j.Tensors = datasets.ObsPlanes, datasets.Zstd, datasets.TensorsExtension
	flags := c.Flags()
	flags.Var(choice[datasets.Obs]{&j.Obs, []datasets.Obs{datasets.ObsPlanes, datasets.ObsPacked, datasets.ObsNone}}, "obs",
		"observations as uint8 planes, as bits packed in uint64 words, or none (then no masks and actions either)")
	flags.Var(choice[datasets.Codec]{&j.Codec, []datasets.Codec{datasets.Zstd, datasets.LZ4, datasets.None}}, "codec", "compression")
	flags.Var(choice[datasets.Tensors]{&j.Tensors, []datasets.Tensors{datasets.TensorsExtension, datasets.TensorsPlain}}, "tensor-metadata",
		"shapes of tensors as arrow.fixed_shape_tensor, or plain for readers that refuse extensions (Polars)")
	flags.Var(whole[uint64]{&j.ShardEpisodes, 1, maxEpisodes}, "shard-episodes", "episodes in one file, which one worker makes; part of what determines the bytes")
}

// splitSpecs splits a list of policies at the commas outside of parentheses.
func splitSpecs(text string) (list []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				list, from = append(list, strings.TrimSpace(text[from:i])), i+1
			}
		}
	}
	return append(list, strings.TrimSpace(text[from:]))
}
