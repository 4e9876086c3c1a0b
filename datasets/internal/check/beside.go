package check

import (
	"slices"
	"strings"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/rollout/filelock"
)

// attached compares the texts beside the manifest, and the models, with it. The card follows from
// the manifest; another version of moonfarm may word it differently.
func (v *verifier) attached() {
	m := v.d.Manifest()
	for _, a := range slices.Concat(m.Attachments(), m.Job.Models) {
		if _, err := v.d.Attached(a); err != nil {
			v.wrong(err)
		} else if want := about.AttachmentOf(about.CardName, about.CardText(m)); a.Path == about.CardName && m.Moonfarm == about.Version && a != want {
			v.problem("%s: it does not fit the manifest: its sha256 should be %s", about.CardName, want.SHA256)
		}
	}
}

// sampled compares the statistics with those of the rows in the files.
func (v *verifier) sampled() error {
	m := v.d.Manifest()
	if m.Statistics.Path == "" {
		return nil
	}
	text, err := jsontext.Encode(m.StatisticsOf(&v.sample))
	if err != nil {
		return err
	}
	if want := about.AttachmentOf(about.StatisticsName, text); want != m.Statistics {
		v.problem("%s: not the statistics of the rows: its sha256 should be %s", about.StatisticsName, want.SHA256)
	}
	return nil
}

// listing compares the names in the folder with those that belong there.
func (v *verifier) listing() error {
	m := v.d.Manifest()
	counts := map[string]uint64{} // of files in each folder
	for _, t := range v.d.Tables {
		counts[t.Name] = m.Totals.Shards
	}
	counts[about.IndexDir] = uint64(len(m.Index))
	counts[about.ModelsDir] = 0
	for dir, n := range counts {
		err := v.d.Files.Each(v.d.Ctx, dir, func(name string) error {
			i, ok := about.NumberOf(dir, name)
			isModel := slices.ContainsFunc(m.Job.Models, func(a about.Attachment) bool { return a.Path == dir+"/"+name })
			if !isModel && (!ok || uint64(i) >= n) {
				v.problem("%s/%s: does not belong to the dataset", dir, name)
			}
			return nil
		})
		if err != nil {
			v.wrong(err)
		}
	}
	if len(m.Job.Models) == 0 {
		delete(counts, about.ModelsDir)
	}
	return v.d.Files.Each(v.d.Ctx, "", func(name string) error {
		if _, ok := counts[name]; !ok && name != about.ManifestName && !strings.HasPrefix(name, filelock.Prefix) && !slices.ContainsFunc(m.Attachments(), func(a about.Attachment) bool { return a.Path == name }) {
			v.problem("%s: does not belong to the dataset", name)
		}
		return nil
	})
}
