package write

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strings"
	"syscall"

	"moonfarm/datasets/internal/about"
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
	Dir    string // or URL
	Files  store.Store
	ctx    context.Context // of all reads and writes
	Begun  RunFile
	by     string // name of this process if several make the dataset; "": it is the only one
	shards int
	locked bool          // other runs are locked out
	models rollout.Files // the files of policies
}

// tables returns the names of the folders of shards' files.
func (f folder) tables() []string { return about.TableNames(about.HasFinals(f.Begun.Job.Obs)) }

// path returns the name of a file for messages.
func (f folder) path(name string) string { return strings.TrimRight(f.Dir, "/") + "/" + name }

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
	text, err := store.ReadFile(f.ctx, f.Files, about.RunName, about.MaxRun)
	running := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if !running {
		if done, err := f.reopen(); done || err != nil {
			return done, err
		}
		if err := f.start(); err != nil {
			return false, err
		}
	}
	if done, err := f.reopen(); done || err != nil { // another run may just have completed it
		if err != nil && !running {
			err = errors.Join(err, f.Files.Remove(f.ctx, about.RunName)) // it was written by this run into a dataset of another
		}
		return done, err
	}
	if !running {
		return false, nil
	}
	if err := f.Begun.Differ(text); err != nil {
		return false, fmt.Errorf("%s: %w", f.path(about.RunName), err)
	}
	return false, nil
}

// finishedBefore reports whether the dataset is complete, and removes the leftovers of
// a run that was killed after completing it. It locks nothing, so that the folder may
// be read-only. begin reports what is wrong with the dataset.
func (f folder) finishedBefore() bool {
	done, err := f.reopen()
	return done && err == nil
}

// reopen reports whether the dataset is complete, and compares it with the Job.
func (f folder) reopen() (done bool, _ error) {
	m, err := about.ReadManifest(f.ctx, f.Files)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.complete(m)
}

// start writes run.json into an empty folder. The error is fs.ErrExist if another run
// has begun.
func (f folder) start() error {
	other, begun := "", false
	err := f.Files.Each(f.ctx, "", func(name string) error {
		begun = begun || name == about.RunName || name == about.ManifestName
		if !about.Unfinished.MatchString(name) && name != about.RunName && !strings.HasPrefix(name, filelock.Prefix) {
			other = name
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case begun:
		return &fs.PathError{Op: "create", Path: f.path(about.RunName), Err: fs.ErrExist}
	case other != "":
		return fmt.Errorf("%s: the folder is not empty and holds no dataset: there is %s", f.Dir, other)
	}
	text, err := jsontext.Encode(f.Begun)
	if err != nil {
		return err
	}
	return store.WriteNew(f.ctx, f.Files, about.RunName, Variant(about.RunName, f.by), text)
}

// Variant returns the name of a file with a text before its ending; with "" the name
// itself.
func Variant(name, text string) string {
	if text == "" {
		return name
	}
	base, ending, _ := strings.Cut(name, ".")
	return base + "-" + text + "." + ending
}

// isComplete reports whether there is a manifest.
func (f folder) isComplete() (bool, error) {
	m, err := f.Files.Open(f.ctx, about.ManifestName)
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
func (f folder) complete(m *about.Manifest) error {
	if err := f.Begun.sameVersion(m.Moonfarm, m.Format); err != nil {
		return fmt.Errorf("%s: a complete dataset of another version: %w", f.Dir, err)
	}
	if diff := m.Job.Differ(f.Begun.Job); diff != "" {
		return fmt.Errorf("%s: a complete dataset of another run: %s", f.Dir, diff)
	}
	if err := f.clean(); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

// clean removes the files that are needed only until the dataset is complete.
func (f folder) clean() error {
	names := []string{about.ShardsDir}
	err := f.removeAll(about.ShardsDir, func(string) bool { return true })
	for _, dir := range []string{about.ModelsDir, ""} {
		if err == nil {
			err = f.Files.Each(f.ctx, dir, func(name string) error {
				if about.Unfinished.MatchString(name) {
					names = append(names, path.Join(dir, name))
				}
				return nil
			})
		}
	}
	for _, name := range append(names, about.RunName) {
		if err == nil {
			err = f.Files.Remove(f.ctx, name)
		}
	}
	if err != nil {
		return err
	}
	return f.Files.Sync(f.ctx, "")
}

// shardFile matches the names of files of shards and of the index, whether finished or
// not.
var shardFile = regexp.MustCompile(`^[0-9]{5,7}(-[0-9a-z]+)?\.(arrow|json)(\.tmp)?$`)

// removeAll removes the files of a folder for whose names unwanted returns true. It
// fails if there is a file that no run makes.
func (f folder) removeAll(dir string, unwanted func(name string) bool) error {
	const most = 4096 // names held in memory
	for {
		var names []string
		err := f.Files.Each(f.ctx, dir, func(base string) error {
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
			if err := f.Files.Remove(f.ctx, name); err != nil {
				return err
			}
		}
	}
}

// RunFile is run.json: the Job of an incomplete dataset, and the version of moonfarm
// that began it. Neither another version continues it, nor a build of the same version
// that would write another manifest: their shards could differ.
type RunFile struct {
	Moonfarm string    `json:"moonfarm"`
	Format   int       `json:"format"`
	Manifest string    `json:"manifest_sha256"` // of the manifest that will be written, without its index, totals and checksum
	Job      about.Job `json:"job"`
}

// newRunFile returns the run.json of a run by this build.
func newRunFile(l *about.Layout, command string) (RunFile, error) {
	text, err := jsontext.Encode(about.NewManifest(l, command))
	return RunFile{about.Version, about.Format, store.SHA256(text), l.Job}, err
}

// DecodeRunFile reads run.json.
func DecodeRunFile(text []byte) (r RunFile, err error) {
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
func (r *RunFile) sameVersion(moonfarm string, format int) error {
	if moonfarm == r.Moonfarm && format == r.Format {
		return nil
	}
	return fmt.Errorf("moonfarm %s wrote it in format %d, this is moonfarm %s, which writes format %d; continue with that version, or choose another folder",
		moonfarm, format, r.Moonfarm, r.Format)
}

// Differ fails if this run cannot continue the run of another run.json; the error gives
// the reason.
func (r *RunFile) Differ(text []byte) error {
	begun, err := DecodeRunFile(text)
	if err != nil {
		return err
	}
	if err := r.sameVersion(begun.Moonfarm, begun.Format); err != nil {
		return fmt.Errorf("an unfinished dataset of another version: %w", err)
	}
	if diff := begun.Job.Differ(r.Job); diff != "" {
		return fmt.Errorf("an unfinished dataset of another run: %s", diff)
	}
	if begun.Manifest != r.Manifest {
		return fmt.Errorf("an unfinished dataset of another build of moonfarm %s, whose manifest would be another; continue with that build, or choose another folder", r.Moonfarm)
	}
	return nil
}
