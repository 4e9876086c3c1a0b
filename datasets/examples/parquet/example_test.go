// Package parquet shows how a dataset becomes Parquet files. It is a module of its
// own: what Parquet needs (thrift, protobuf, grpc and ten modules more) is
// needed by nobody else here.
package parquet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

// A table becomes a Parquet file: records go from one library to the other as
// they are.
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

	columns := []string{"episode", "turn", "seat", "scalars", "action", "reward", "return"}
	schema, err := d.ArrowSchema("steps", columns...)
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "steps.parquet")
	out, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, out, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd)), pqarrow.DefaultWriterProps())
	if err != nil {
		log.Fatal(err)
	}
	for record, err := range d.Records("steps", columns...) {
		if err != nil {
			log.Fatal(err)
		}
		if err := w.Write(record); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil { // and the file
		log.Fatal(err)
	}

	in, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	table, err := pqarrow.ReadTable(context.Background(), in, nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		log.Fatal(err)
	}
	rows, sum := uint64(table.NumRows()), float32(0)
	for _, c := range table.Column(5).Data().Chunks() {
		for _, v := range c.(*array.Float32).Float32Values() {
			sum += v
		}
	}
	fmt.Println(rows == d.Manifest().Totals.Rows, table.Schema().Field(5).Name, "sums to", sum)
	fmt.Println(table.Schema().Field(3).Type.ID() == arrow.FIXED_SIZE_LIST || table.Schema().Field(3).Type.ID() == arrow.LIST)
	// Output:
	// true reward sums to 0
	// true
}

// small makes a small dataset of Tower Defence.
func small(dir string) (*datasets.Dataset, error) {
	g, err := catalog.Find("towerdefence")
	if err != nil {
		return nil, err
	}
	m := datasets.Makers{Vector: g.New, Policy: func(name string) (rollout.Maker, error) { return policy.New(g.Name, name) }}
	j := datasets.Job{Game: g.Name, Policies: []string{"econ", "rush"}, Episodes: 4}
	if _, err := datasets.Generate(context.Background(), dir, j, m, datasets.Options{Workers: 1}); err != nil {
		return nil, err
	}
	return datasets.Open(dir)
}
