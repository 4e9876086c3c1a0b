package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sidecar tells of a finished shard while others are still missing. It is
// renamed into place after the shard's files, and so commits them.
type sidecar struct {
	Shard    int       `json:"shard"`
	Steps    File      `json:"steps"`
	Episodes File      `json:"episodes"`
	Turns    uint64    `json:"turns"`
	Over     uint64    `json:"over"`
	Cut      uint64    `json:"cut"`
	Pairings []Pairing `json:"pairings"`
}

// folder is a dataset in the making:
//
//	run.json               the Job; a run with another is refused
//	steps/ episodes/       files of finished shards
//	shards/00000.json      one sidecar per finished shard
//	*.tmp                  what a run is writing, or was when it was killed
//
// When no shard is missing, manifest.json is written, and run.json and the
// sidecars go.
type folder struct {
	dir  string
	disk disk
	job  Job
}

func (f folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// begin makes the folder ready for the Job: a new one, or one where an earlier
// run of the same Job was stopped. It returns the finished shards; done is true
// if the dataset is complete already.
func (f folder) begin() (have map[int]sidecar, done bool, err error) {
	if err := f.disk.mkdir(f.dir); err != nil {
		return nil, false, err
	}
	run, err := readJSON(f.path(runName))
	running := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	if _, err := os.Stat(f.path(manifestName)); err == nil {
		return nil, true, f.complete()
	}
	if !running {
		return nil, false, f.start()
	}
	if err := f.same(run); err != nil {
		return nil, false, err
	}
	have, err = f.resume()
	return have, false, err
}

// start writes run.json into an empty folder.
func (f folder) start() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != runName+tempSuffix {
			return fmt.Errorf("%s: the folder is not empty and holds no dataset: there is %s", f.dir, e.Name())
		}
	}
	text, err := canonical(f.job)
	if err != nil {
		return err
	}
	if err := f.disk.writeFile(f.path(runName), text); err != nil {
		return err
	}
	return f.mkdirs()
}

func (f folder) mkdirs() error {
	for _, d := range []string{stepsDir, episodesDir, shardsDir} {
		if err := f.disk.mkdir(f.path(d)); err != nil {
			return err
		}
	}
	return nil
}

// same compares run.json with the Job.
func (f folder) same(text []byte) error {
	var j Job
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return fmt.Errorf("%s: damaged: %w", f.path(runName), err)
	}
	if diff := j.differ(f.job); diff != "" {
		return fmt.Errorf("%s: an unfinished dataset of another run: %s", f.dir, diff)
	}
	return nil
}

// complete compares the manifest with the Job and removes what a run that was
// killed at the very end left.
func (f folder) complete() error {
	m, err := readManifest(f.dir)
	if err != nil {
		return err
	}
	if diff := m.Job.differ(f.job); diff != "" {
		return fmt.Errorf("%s: a complete dataset of another run: %s", f.dir, diff)
	}
	return f.clean()
}

// clean removes all that belongs to a run only.
func (f folder) clean() error {
	entries, err := os.ReadDir(f.path(shardsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !shardFile.MatchString(e.Name()) {
			return fmt.Errorf("%s: %s does not belong there", f.path(shardsDir), e.Name())
		}
		if err := f.disk.remove(f.path(shardsDir + "/" + e.Name())); err != nil {
			return err
		}
	}
	for _, name := range []string{shardsDir, manifestName + tempSuffix, runName + tempSuffix, runName} {
		if _, err := os.Lstat(f.path(name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := f.disk.remove(f.path(name)); err != nil {
			return err
		}
	}
	return f.disk.sync(f.dir)
}

// shardFile matches the names of files of shards, finished or not.
var shardFile = regexp.MustCompile(`^[0-9]{5,7}\.(arrow|json)(\.tmp)?$`)

// resume reads the sidecars and removes all files that none of them tells of.
func (f folder) resume() (map[int]sidecar, error) {
	if err := f.mkdirs(); err != nil {
		return nil, err
	}
	have, keep := map[int]sidecar{}, map[string]bool{}
	entries, err := os.ReadDir(f.path(shardsDir))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := shardsDir + "/" + e.Name()
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		c, err := f.sidecar(name)
		if err != nil {
			return nil, err
		}
		have[c.Shard] = c
		keep[name], keep[c.Steps.Path], keep[c.Episodes.Path] = true, true, true
	}
	for _, d := range []string{stepsDir, episodesDir, shardsDir} {
		if err := f.sweep(d, keep); err != nil {
			return nil, err
		}
	}
	return have, nil
}

// sidecar reads one sidecar and looks for its files.
func (f folder) sidecar(name string) (c sidecar, err error) {
	text, err := readJSON(f.path(name))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s: damaged: %w", f.path(name), err)
	}
	again, err := canonical(c)
	if err != nil || !bytes.Equal(again, text) || c.Shard < 0 || uint64(c.Shard) >= f.job.shards() ||
		sidecarPath(c.Shard) != name || c.Steps.Path != stepsPath(c.Shard) || c.Episodes.Path != episodesPath(c.Shard) {
		return c, fmt.Errorf("%s: damaged; remove it to make the shard again", f.path(name))
	}
	for _, file := range []File{c.Steps, c.Episodes} {
		s, err := os.Stat(f.path(file.Path))
		if err != nil {
			return c, fmt.Errorf("%w; remove %s to make the shard again", err, f.path(name))
		}
		if uint64(s.Size()) != file.Bytes {
			return c, fmt.Errorf("%s: %d bytes, expected %d; remove %s to make the shard again",
				f.path(file.Path), s.Size(), file.Bytes, f.path(name))
		}
	}
	return c, nil
}

// sweep removes the files of a folder that are not to be kept.
func (f folder) sweep(dir string, keep map[string]bool) error {
	entries, err := os.ReadDir(f.path(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		switch {
		case keep[name]:
		case !shardFile.MatchString(e.Name()):
			return fmt.Errorf("%s: %s does not belong there", f.path(dir), e.Name())
		default:
			if err := f.disk.remove(f.path(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish writes the manifest of a folder in which no shard is missing.
func (f folder) finish(m *Manifest, have map[int]sidecar) error {
	for i := range int(f.job.shards()) {
		c, ok := have[i]
		if !ok {
			return fmt.Errorf("%s: shard %d is missing", f.dir, i)
		}
		m.add(c)
	}
	text, err := m.encode()
	if err != nil {
		return err
	}
	for _, d := range []string{stepsDir, episodesDir} {
		if err := f.disk.sync(f.path(d)); err != nil {
			return err
		}
	}
	if err := f.disk.writeFile(f.path(manifestName), text); err != nil {
		return err
	}
	return f.clean()
}
