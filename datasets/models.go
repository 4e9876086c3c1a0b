package datasets

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
)

// The files of policies are kept with the dataset, so that the policies can be made
// again on any machine.

const (
	modelsDir    = "models"
	modelEnding  = ".onnx"
	mostModels   = 256
	maxModelFile = 1 << 30
)

// modelPath returns the path of a model, which its sha256 names.
func modelPath(sha256 string) string { return modelsDir + "/" + sha256 + modelEnding }

// checkModels fails if the models are not sorted, or not as a run writes them.
func (j *Job) checkModels() error {
	if len(j.Models) > mostModels {
		return fmt.Errorf("%d models, there may be %d", len(j.Models), mostModels)
	}
	for i, m := range j.Models {
		if sum, err := hex.DecodeString(m.SHA256); err != nil || len(sum) != 32 || m.Path != modelPath(m.SHA256) || m.Bytes > maxModelFile {
			return fmt.Errorf("model %d: %d bytes in %q with sha256 %q", i, m.Bytes, m.Path, m.SHA256)
		}
		if i > 0 && j.Models[i-1].Path >= m.Path {
			return fmt.Errorf("model %d: %q does not follow %q", i, m.Path, j.Models[i-1].Path)
		}
	}
	return nil
}

// addModels adds the files of a policy, and fails if they are too many or too large.
func (j *Job) addModels(files []rollout.File) error {
	for _, f := range files {
		if len(f.Data) > maxModelFile {
			return fmt.Errorf("%s: %d bytes, at most %d fit into a dataset", f.Name, len(f.Data), maxModelFile)
		}
		a := Attachment{Path: modelPath(f.SHA256), SHA256: f.SHA256, Bytes: uint64(len(f.Data))}
		at, found := slices.BinarySearchFunc(j.Models, a, func(a, b Attachment) int { return strings.Compare(a.Path, b.Path) })
		if !found {
			j.Models = slices.Insert(j.Models, at, a)
		}
	}
	return j.checkModels()
}

// modelsIn returns the function that finds models in the files of a dataset. It fails
// for a model whose sha256 differs from its name.
func modelsIn(ctx context.Context, files store.Store) rollout.Files {
	return func(sha256 string) ([]byte, error) {
		path := ""
		err := files.Each(ctx, modelsDir, func(name string) error {
			if strings.HasPrefix(name, sha256) && !unfinished.MatchString(name) {
				path = modelsDir + "/" + name
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, fs.ErrNotExist
		}
		data, err := store.ReadFile(ctx, files, path, maxModelFile)
		if sum := store.SHA256(data); err == nil && path != modelPath(sum) {
			err = fmt.Errorf("%s: damaged: its sha256 is %s", path, sum)
		}
		return data, err
	}
}

// among returns the function that finds files in a list.
func among(list []rollout.File) rollout.Files {
	return func(sha256 string) ([]byte, error) {
		for _, f := range list {
			if strings.HasPrefix(f.SHA256, sha256) {
				return f.Data, nil
			}
		}
		return nil, fs.ErrNotExist
	}
}

// keepModels writes the models that are not there yet.
func (f folder) keepModels() error {
	for _, m := range f.begun.Job.Models {
		err := store.HasFile(f.ctx, f.files, m.Path, m.Bytes)
		if err == nil {
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		data, err := f.models(m.SHA256)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		if err := store.WriteFileAs(f.ctx, f.files, m.Path, variant(m.Path, f.by), data); err != nil {
			return err
		}
	}
	return nil
}

// sweepModels removes the unfinished files of models of a run that was killed.
func (f folder) sweepModels() error {
	var names []string
	err := f.files.Each(f.ctx, modelsDir, func(name string) error {
		if unfinished.MatchString(name) {
			names = append(names, modelsDir+"/"+name)
		}
		return nil
	})
	for _, name := range names {
		if err == nil {
			err = f.files.Remove(f.ctx, name)
		}
	}
	return err
}

// Model reads a model of the dataset, and checks its sha256.
func (d *Dataset) Model(m Attachment) ([]byte, error) { return d.attachedUpTo(m, maxModelFile) }

// models compares the models with the manifest.
func (v *verifier) models() {
	for _, m := range v.d.manifest.Job.Models {
		if _, err := v.d.Model(m); err != nil {
			v.wrong(err)
		}
	}
	err := v.d.files.Each(v.d.ctx, modelsDir, func(name string) error {
		path := modelsDir + "/" + name
		if !slices.ContainsFunc(v.d.manifest.Job.Models, func(m Attachment) bool { return m.Path == path }) {
			v.problem("%s: does not belong to the dataset", path)
		}
		return nil
	})
	if err != nil {
		v.wrong(err)
	}
}
