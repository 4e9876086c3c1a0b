package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sort"
	"strings"
	"syscall"

	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
	"moonfarm/rollout/filelock"
)

// folder is a dataset in the making:
//
//	run.json                  the run that makes it; any other run is refused
//	models/                   files of its policies
//	steps/ episodes/ finals/  files of finished shards
//	shards/00000.json         one sidecar per finished shard
//	*.tmp                     files that a run is writing, or was when it was killed
//
// When no shard is missing, the index and manifest.json are written, and run.json
// and the sidecars are removed.
type folder struct {
	dir    string // or URL
	files  store.Store
	ctx    context.Context // of all reads and writes
	begun  runFile
	by     string // name of this process if several make the dataset; "": it is the only one
	shards int
	locked bool          // other runs are locked out
	models rollout.Files // the files of policies
}

// tables returns the names of the folders of shards' files.
func (f folder) tables() []string { return tableNames(hasFinals(f.begun.Job.Obs)) }

// path returns the name of a file for messages.
func (f folder) path(name string) string { return strings.TrimRight(f.dir, "/") + "/" + name }

// begin makes the folder ready for the run: a new one, or one where an earlier run of
// the same Job was stopped. done is true if the dataset is complete.
//
// In a bucket, where nothing is locked, several runs may begin at once. Only one
// creates run.json, and runs of other Jobs are refused. Runs of the same Job write the
// same bytes, and none removes the files of others before there is a manifest.
func (f folder) begin() (done bool, err error) {
	for try := 1; ; try++ {
		done, err = f.beginOnce()
		if err == nil && !done {
			return false, f.keepModels()
		}
		if !errors.Is(err, fs.ErrExist) || try == 3 { // otherwise another run has just begun
			return done, err
		}
	}
}

func (f folder) beginOnce() (done bool, err error) {
	text, err := store.ReadFile(f.ctx, f.files, runName, maxRun)
	running := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if !running {
		if done, err := f.isComplete(); done || err != nil {
			return f.reopen(err)
		}
		if err := f.start(); err != nil {
			return false, err
		}
	}
	if done, err := f.isComplete(); done || err != nil { // another run may just have completed it
		if done, err = f.reopen(err); err != nil && !running {
			err = errors.Join(err, f.files.Remove(f.ctx, runName)) // it was written by this run into a dataset of another
		}
		return done, err
	}
	if !running {
		return false, nil
	}
	if err := f.begun.differ(text); err != nil {
		return false, fmt.Errorf("%s: %w", f.path(runName), err)
	}
	return false, nil
}

// finishedBefore reports whether the dataset is complete, and removes the leftovers of
// a run that was killed after completing it. It locks nothing, so that the folder may
// be read-only. begin reports what is wrong with the dataset.
func (f folder) finishedBefore() bool {
	m, err := readManifest(f.ctx, f.files)
	return err == nil && f.complete(m) == nil
}

// reopen compares the complete dataset with the Job, unless err is set.
func (f folder) reopen(err error) (done bool, _ error) {
	if err != nil {
		return false, err
	}
	m, err := readManifest(f.ctx, f.files)
	if err != nil {
		return false, err
	}
	return true, f.complete(m)
}

// start writes run.json into an empty folder. The error is fs.ErrExist if another run
// has begun.
func (f folder) start() error {
	other, begun := "", false
	err := f.files.Each(f.ctx, "", func(name string) error {
		begun = begun || name == runName || name == manifestName
		if !unfinished.MatchString(name) && name != runName && !strings.HasPrefix(name, filelock.Prefix) {
			other = name
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case begun:
		return &fs.PathError{Op: "create", Path: f.path(runName), Err: fs.ErrExist}
	case other != "":
		return fmt.Errorf("%s: the folder is not empty and holds no dataset: there is %s", f.dir, other)
	}
	text, err := jsontext.Encode(f.begun)
	if err != nil {
		return err
	}
	return store.WriteNew(f.ctx, f.files, runName, variant(runName, f.by), text)
}

// variant returns the name of a file with a text before its ending; with "" the name
// itself.
func variant(name, text string) string {
	if text == "" {
		return name
	}
	base, ending, _ := strings.Cut(name, ".")
	return base + "-" + text + "." + ending
}

// isComplete reports whether there is a manifest.
func (f folder) isComplete() (bool, error) {
	m, err := f.files.Open(f.ctx, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, m.Close()
}

// complete compares the manifest of a complete dataset with the Job, and removes the
// files of a run that was killed after writing the manifest. In a read-only folder they
// stay.
func (f folder) complete(m *Manifest) error {
	if err := f.begun.sameVersion(m.Moonfarm, m.Format); err != nil {
		return fmt.Errorf("%s: a complete dataset of another version: %w", f.dir, err)
	}
	if diff := m.Job.differ(f.begun.Job); diff != "" {
		return fmt.Errorf("%s: a complete dataset of another run: %s", f.dir, diff)
	}
	if err := f.clean(); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

// clean removes the files that are needed only until the dataset is complete.
func (f folder) clean() error {
	err := errors.Join(f.removeAll(shardsDir, func(string) bool { return true }), f.sweepModels())
	if err != nil {
		return err
	}
	names := []string{shardsDir}
	err = f.files.Each(f.ctx, "", func(name string) error {
		if unfinished.MatchString(name) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range append(names, runName) {
		if err := f.files.Remove(f.ctx, name); err != nil {
			return err
		}
	}
	return f.files.Sync(f.ctx, "")
}

// shardFile matches the names of files of shards and of the index, whether finished or
// not.
var shardFile = regexp.MustCompile(`^[0-9]{5,7}(-[0-9a-z]+)?\.(arrow|json)(\.tmp)?$`)

// unfinished matches the names of files that were not written to their end.
var unfinished = regexp.MustCompile(`\.tmp$`)

// removeAll removes the files of a folder for whose names unwanted returns true. It
// fails if there is a file that no run makes.
func (f folder) removeAll(dir string, unwanted func(name string) bool) error {
	const most = 4096 // names held in memory
	for {
		var names []string
		err := f.files.Each(f.ctx, dir, func(base string) error {
			if !shardFile.MatchString(base) {
				return fmt.Errorf("%s: %s does not belong there", f.path(dir), base)
			}
			if unwanted(base) && len(names) < most {
				names = append(names, dir+"/"+base)
			}
			return nil
		})
		if err != nil || len(names) == 0 {
			return err
		}
		sort.Strings(names)
		for _, name := range names {
			if err := f.files.Remove(f.ctx, name); err != nil {
				return err
			}
		}
	}
}

// runFile is run.json: the Job of an incomplete dataset, and the version of moonfarm
// that began it. Neither another version continues it, nor a build of the same version
// that would write another manifest: their shards could differ.
type runFile struct {
	Moonfarm string `json:"moonfarm"`
	Format   int    `json:"format"`
	Manifest string `json:"manifest_sha256"` // of the manifest that will be written, without its index, totals and checksum
	Job      Job    `json:"job"`
}

// newRunFile returns the run.json of a run by this build.
func newRunFile(l *layout, command string) (runFile, error) {
	text, err := jsontext.Encode(newManifest(l, command))
	return runFile{Version, Format, store.SHA256(text), l.job}, err
}

// decodeRunFile reads run.json.
func decodeRunFile(text []byte) (r runFile, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("damaged: %w", err)
	}
	if r.Moonfarm == "" || r.Format < 1 {
		return r, fmt.Errorf("damaged: it names no version of moonfarm and of the format")
	}
	return r, nil
}

// sameVersion fails if another version of moonfarm or of the format began the
// run.
func (r *runFile) sameVersion(moonfarm string, format int) error {
	if moonfarm == r.Moonfarm && format == r.Format {
		return nil
	}
	return fmt.Errorf("moonfarm %s wrote it in format %d, this is moonfarm %s, which writes format %d; continue with that version, or choose another folder",
		moonfarm, format, r.Moonfarm, r.Format)
}

// differ fails if this run cannot continue the run of another run.json; the error gives
// the reason.
func (r *runFile) differ(text []byte) error {
	begun, err := decodeRunFile(text)
	if err != nil {
		return err
	}
	if err := r.sameVersion(begun.Moonfarm, begun.Format); err != nil {
		return fmt.Errorf("an unfinished dataset of another version: %w", err)
	}
	if diff := begun.Job.differ(r.Job); diff != "" {
		return fmt.Errorf("an unfinished dataset of another run: %s", diff)
	}
	if begun.Manifest != r.Manifest {
		return fmt.Errorf("an unfinished dataset of another build of moonfarm %s, whose manifest would be another; continue with that build, or choose another folder", r.Moonfarm)
	}
	return nil
}
