package read

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
)

// Attached reads a text beside the manifest. It fails if the text is not the one that
// the manifest describes.
func (d *Dataset) Attached(a about.Attachment) ([]byte, error) {
	return d.attachedUpTo(a, about.MaxAttachment)
}

// attachedUpTo is attached with another bound on the bytes of the file.
func (d *Dataset) attachedUpTo(a about.Attachment, most int64) ([]byte, error) {
	text, err := store.ReadFile(d.Ctx, d.Files, a.Path, most)
	if err != nil {
		return nil, err
	}
	if got := about.AttachmentOf(a.Path, text); got != a {
		return nil, fmt.Errorf("%s: %d bytes with the sha256 %s, the manifest says %d with %s", a.Path, got.Bytes, got.SHA256, a.Bytes, a.SHA256)
	}
	return text, nil
}

// Statistics reads statistics.json. It fails if the file is not the one that
// the manifest describes. Datasets without observations have none.
func (d *Dataset) Statistics() (*stats.Statistics, error) {
	if d.manifest.Statistics.Path == "" {
		return nil, fmt.Errorf("%s: the dataset has no statistics", d.Dir)
	}
	text, err := d.Attached(d.manifest.Statistics)
	if err != nil {
		return nil, err
	}
	s := new(stats.Statistics)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: damaged: %w", about.StatisticsName, err)
	}
	return s, nil
}

// ModelsIn returns the function that finds models in the files of a dataset. It fails
// for a model whose sha256 differs from its name.
func ModelsIn(ctx context.Context, files store.Store) rollout.Files {
	return func(sha256 string) ([]byte, error) {
		path := ""
		err := files.Each(ctx, about.ModelsDir, func(name string) error {
			if strings.HasPrefix(name, sha256) && !about.Unfinished.MatchString(name) {
				path = about.ModelsDir + "/" + name
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, fs.ErrNotExist
		}
		data, err := store.ReadFile(ctx, files, path, about.MaxModelFile)
		if sum := store.SHA256(data); err == nil && path != about.ModelPath(sum) {
			err = fmt.Errorf("%s: damaged: its sha256 is %s", path, sum)
		}
		return data, err
	}
}

// Model reads a model of the dataset, and checks its sha256.
func (d *Dataset) Model(m about.Attachment) ([]byte, error) {
	return d.attachedUpTo(m, about.MaxModelFile)
}
