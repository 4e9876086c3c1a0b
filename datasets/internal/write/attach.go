package write

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
)

// attach writes the texts beside the manifest, and their sums into it.
func (f folder) attach(m *about.Manifest, sum *stats.Sums) error {
	if m.HasFinals() {
		text, err := jsontext.Encode(m.StatisticsOf(sum))
		if err != nil {
			return err
		}
		if m.Statistics, err = f.attachment(about.StatisticsName, text); err != nil {
			return err
		}
	}
	var err error
	m.Card, err = f.attachment(about.CardName, about.CardText(m))
	return err
}

func (f folder) attachment(name string, text []byte) (about.Attachment, error) {
	return about.AttachmentOf(name, text), store.WriteFile(f.ctx, f.Files, name, text)
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
	for _, m := range f.Begun.Job.Models {
		err := store.HasFile(f.ctx, f.Files, m.Path, m.Bytes)
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
		if err := store.WriteFileAs(f.ctx, f.Files, m.Path, Variant(m.Path, f.by), data); err != nil {
			return err
		}
	}
	return nil
}
