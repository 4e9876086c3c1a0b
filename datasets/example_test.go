package datasets_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow/array"

	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

// The records of a table go to any library for Arrow.
func ExampleDataset_Records() {
	dir, err := os.MkdirTemp("", "moonfarm")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	d, err := small(filepath.Join(dir, "td"))
	if err != nil {
		log.Fatal(err)
	}
	rows, sum := int64(0), float32(0)
	for record, err := range d.Records("steps", "episode", "reward") {
		if err != nil {
			log.Fatal(err)
		}
		rows += record.NumRows()
		for _, v := range record.Column(1).(*array.Float32).Float32Values() {
			sum += v
		}
	}
	fmt.Println(rows == int64(d.Manifest().Totals.Rows), "rewards sum to", sum)
	// Output: true rewards sum to 0
}

// small makes a small dataset of Tower Defence.
func small(dir string) (*datasets.Dataset, error) {
	g, err := catalog.Find("towerdefence")
	if err != nil {
		return nil, err
	}
	m := datasets.Makers{Vector: g.New, Policy: func(name string, _ rollout.Files) (rollout.Maker, error) { return policy.New(g.Name, name) }}
	j := datasets.Job{Game: g.Name, Policies: []string{"econ", "rush"}, Episodes: 4}
	if _, err := datasets.Generate(context.Background(), dir, j, m, datasets.Options{Workers: 1}); err != nil {
		return nil, err
	}
	return datasets.Open(dir)
}
