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

// Attached reads a text beside the manifest, or a model. It fails if the content is not the one that
// the manifest describes.
func (d *Dataset) Attached(a about.Attachment) ([]byte, error) {
	most := int64(about.MaxAttachment)
	if store.Dir(a.Path) == about.ModelsDir {
		most = about.MaxModelFile
	}
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
