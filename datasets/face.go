package datasets

import (
	"context"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/check"
	"moonfarm/datasets/internal/filter"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
	"moonfarm/datasets/internal/write"
)

// What describes a dataset.
type (
	Job        = about.Job
	Makers     = about.Makers
	Part       = about.Part
	Obs        = about.Obs
	Codec      = arrowfile.Codec
	Tensors    = about.Tensors
	Manifest   = about.Manifest
	Pairing    = about.Pairing
	TableInfo  = about.TableInfo
	Column     = arrowfile.Column
	Attachment = about.Attachment
	File       = about.File
	Shard      = about.Shard
	Statistics = stats.Statistics
	Statistic  = stats.Statistic
)

// Reading a dataset.
type (
	Dataset       = read.Dataset
	Episode       = read.Episode
	Final         = read.Final
	Batch         = read.Batch
	ReadOptions   = read.ReadOptions
	Split         = read.Split
	Filter        = filter.Filter
	FilterOutcome = filter.Outcome
)

// Summing up a dataset.
type (
	InspectOptions = read.InspectOptions
	Overview       = read.Overview
	Details        = read.Details
	Outcome        = about.Outcome
	Result         = about.Result
	Summary        = stats.Summary
	Labels         = stats.Labels
	Share          = stats.Share
)

// Making and checking datasets.
type (
	Options        = write.Options
	Progress       = write.Progress
	RunResult      = write.RunResult
	Size           = write.Size
	Source         = write.Source
	Run            = write.Run
	Receipt        = write.Receipt
	PermanentError = write.PermanentError
	BrokenError    = write.BrokenError
	VerifyOptions  = check.VerifyOptions
	Report         = check.Report
)

// Places of datasets.
type (
	Bucket      = bucket.Bucket
	Opener      = bucket.Opener
	Stores      = bucket.Stores
	SchemeError = bucket.SchemeError
)

// Version is the version of moonfarm, Format that of the format; ProgramMoonfarm is the Program of jobs
// that the command moonfarm makes.
const (
	Version         = about.Version
	Format          = about.Format
	ProgramMoonfarm = about.ProgramMoonfarm
)

// ColOrders is the name of the column of orders.
const ColOrders = about.ColOrders

// The values of Obs, Codec, Tensors, Split and FilterOutcome.
const (
	ObsPlanes        = about.ObsPlanes
	ObsPacked        = about.ObsPacked
	ObsNone          = about.ObsNone
	Zstd             = arrowfile.Zstd
	LZ4              = arrowfile.LZ4
	None             = arrowfile.None
	TensorsPlain     = about.TensorsPlain
	TensorsExtension = about.TensorsExtension
	All              = read.All
	Train            = read.Train
	Validation       = read.Validation
	Test             = read.Test
	Win              = filter.Win
	Draw             = filter.Draw
	Loss             = filter.Loss
)

// Open opens the dataset in a folder, given by its path or by a URL such as
// file:///data/td. It reads and checks the manifest alone. It fails if the manifest is
// damaged, or if dir holds no dataset or an incomplete one. Damaged files are found
// when they are read; Verify finds changed content.
func Open(dir string) (*Dataset, error) {
	return OpenContext(context.Background(), dir)
}

// OpenContext opens a dataset in a folder or at a URL of the context's stores, such as
// s3://bucket/data/td (WithStores). Files in a bucket are read as streams and not kept.
// When the context is done, reads fail.
func OpenContext(ctx context.Context, dir string) (*Dataset, error) {
	return read.OpenContext(ctx, dir)
}

// WithStores returns a context in which all functions that take a dataset's folder also
// take URLs of these stores, such as s3://bucket/data/td. The query of a URL is for the
// store; timeout=30s in it is the longest time without a byte from the store. Without
// stores this package has folders only.
func WithStores(ctx context.Context, stores Stores) context.Context {
	return read.WithStores(ctx, stores)
}

// OpeningTurns returns the number of turns of an opening, 0 for "". It fails if the
// text is not "random:" and a number of turns, at least 1.
func OpeningTurns(text string) (int, error) {
	return about.OpeningTurns(text)
}

// Generate plays the shards of the Job that dir does not hold yet, and writes the
// manifest when no shard is missing. It makes dir if needed; dir must be empty, or hold
// the files of an earlier run of the same Job. Missing files of a complete dataset are made
// again. If the context is done or anything
// fails, finished shards stay, and the same call continues; the bytes of the files are
// then the same as without the interruption.
//
// It fails if the Job is not valid or dir holds another dataset or other files, and
// with the errors of makers, games and the disk.
func Generate(ctx context.Context, dir string, j Job, m Makers, o Options) (RunResult, error) {
	return write.Generate(ctx, dir, j, m, o)
}

// Write is Generate for episodes from elsewhere: the Job has Shards and a Source text
// instead of policies and a seed.
func Write(ctx context.Context, dir string, j Job, m Makers, from Source, o Options) (RunResult, error) {
	return write.Write(ctx, dir, j, m, from, o)
}

// Merge joins the parts of a dataset that Generate made with Options.Parts into dir,
// with the same bytes as a run that makes all of it. Parts and dir are folders or URLs,
// as for Open. makers make the games of a run; Merge asks for no policies. Files are
// linked where the file system can, and copied otherwise. If it is stopped, the same
// call continues.
//
// It fails if the parts belong to different runs, if a shard is missing, or if two
// parts have different bytes for one shard.
func Merge(ctx context.Context, dir string, parts []string, makers func(game string) (Makers, error), o Options) (RunResult, error) {
	return write.Merge(ctx, dir, parts, makers, o)
}

// OpenRun opens the run of a generated Job in a folder or at a URL, as Open does. The
// first process to open it begins it. It fails if another dataset or a run of Generate
// is there, and with the errors of makers. Close must be called.
func OpenRun(ctx context.Context, out string, j Job, m Makers, o Options) (*Run, error) {
	return write.OpenRun(ctx, out, j, m, o, check.CompareShard)
}

// Inspect reads a dataset and sums it up. The outcome balance is in Manifest.Totals. It
// fails as Open does, and on a damaged file, which the error names.
func Inspect(ctx context.Context, dir string, o InspectOptions) (*Overview, error) {
	return read.Inspect(ctx, dir, o)
}

// Verify checks a dataset: that the manifest is as it was written; that all its files
// are there and no others, with their sha256; that their schemas, row counts and totals
// are right; that episodes, turns and seats follow each other; that games end where
// they should, and returns are the discounted sums of the rewards. With Recompute it
// also makes shards again and compares every bit, and every key of the manifest that
// follows from the job. One of these keys is the version of moonfarm, so a dataset of
// another version is reported.
//
// The Report lists the problems of the dataset. Verify fails if the manifest cannot be
// read or a maker fails, with the error of the context, and if this machine lacks memory or
// file descriptors.
func Verify(ctx context.Context, dir string, m Makers, o VerifyOptions) (*Report, error) {
	return check.Verify(ctx, dir, m, o)
}

// WithWarn returns a context in which Generate, Write, Merge and the methods of Run
// call tell with warnings: a folder that cannot be made durable, or a store that
// refuses checksums or conditional writes. Each warning comes once.
func WithWarn(ctx context.Context, tell func(text string)) context.Context {
	return store.WithWarn(ctx, tell)
}
