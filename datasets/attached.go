package datasets

import (
	"fmt"
	"slices"

	"moonfarm/datasets/internal/disk"
)

// attach writes the texts beside the manifest, and their sums into it.
func (f folder) attach(m *Manifest, sum *sampled) error {
	if m.hasFinals() {
		text, err := canonical(sum.statistics(m))
		if err != nil {
			return err
		}
		if m.Statistics, err = f.attachment(statisticsName, text); err != nil {
			return err
		}
	}
	var err error
	m.Card, err = f.attachment(cardName, cardText(m))
	return err
}

func (f folder) attachment(name string, text []byte) (Attachment, error) {
	return attachmentOf(name, text), f.disk.WriteFile(f.path(name), text)
}

func attachmentOf(name string, text []byte) Attachment {
	return Attachment{Path: name, SHA256: disk.SHA256(text), Bytes: uint64(len(text))}
}

// attached reads a text beside the manifest, which must be the one that the manifest describes.
func (d *Dataset) attached(a Attachment) ([]byte, error) {
	text, err := disk.ReadFile(d.path(a.Path), maxAttachment)
	if err != nil {
		return nil, err
	}
	if got := attachmentOf(a.Path, text); got != a {
		return nil, fmt.Errorf("%s: %d bytes with the sha256 %s, the manifest says %d with %s", a.Path, got.Bytes, got.SHA256, a.Bytes, a.SHA256)
	}
	return text, nil
}

// attachments are the texts beside the manifest.
func (m *Manifest) attachments() (list []Attachment) {
	for _, a := range []Attachment{m.Statistics, m.Card} {
		if a.Path != "" {
			list = append(list, a)
		}
	}
	return list
}

// attached compares the texts beside the manifest with it. The card follows from
// the manifest; another version of moonfarm may word it differently.
func (v *verifier) attached() {
	m := v.d.manifest
	for _, a := range m.attachments() {
		if _, err := v.d.attached(a); err != nil {
			v.problem("%v", err)
		} else if want := attachmentOf(cardName, cardText(m)); a.Path == cardName && m.Moonfarm == Version && a != want {
			v.problem("%s: it does not say what the manifest does: its sha256 should be %s", cardName, want.SHA256)
		}
	}
}

// sampled compares the statistics with those of the rows in the files.
func (v *verifier) sampled() error {
	m := v.d.manifest
	if m.Statistics.Path == "" {
		return nil
	}
	text, err := canonical(v.sample.statistics(m))
	if err != nil {
		return err
	}
	if want := attachmentOf(statisticsName, text); want != m.Statistics {
		v.problem("%s: not the statistics of the rows: its sha256 should be %s", statisticsName, want.SHA256)
	}
	return nil
}

// listing compares the names in the folder with those that belong there.
func (v *verifier) listing() error {
	m := v.d.manifest
	counts := map[string]uint64{} // of files in each folder
	for _, t := range v.d.tables {
		counts[t.name] = m.Totals.Shards
	}
	if m.Format > 1 {
		counts[indexDir] = uint64(len(m.Index))
	}
	for dir, n := range counts {
		err := disk.EachName(v.d.path(dir), func(name string) error {
			if i, ok := numberOf(dir, name); !ok || uint64(i) >= n {
				v.problem("%s/%s: does not belong to the dataset", dir, name)
			}
			return nil
		})
		if err != nil {
			v.problem("%v", err)
		}
	}
	return disk.EachName(v.d.dir, func(name string) error {
		if _, ok := counts[name]; !ok && name != manifestName && !slices.ContainsFunc(m.attachments(), func(a Attachment) bool { return a.Path == name }) {
			v.problem("%s: does not belong to the dataset", name)
		}
		return nil
	})
}
