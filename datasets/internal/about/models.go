package about

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"moonfarm/rollout"
)

// The files of policies are kept with the dataset, so that the policies can be made
// again on any machine.
const (
	ModelsDir    = "models"
	modelEnding  = ".onnx"
	mostModels   = 256
	MaxModelFile = 1 << 30
)

// ModelPath returns the path of a model, which its sha256 names.
func ModelPath(sha256 string) string { return ModelsDir + "/" + sha256 + modelEnding }

// checkModels fails if the models are not sorted, or not as a run writes them.
func (j *Job) checkModels() error {
	if len(j.Models) > mostModels {
		return fmt.Errorf("%d models, there may be %d", len(j.Models), mostModels)
	}
	for i, m := range j.Models {
		if sum, err := hex.DecodeString(m.SHA256); err != nil || len(sum) != 32 || m.Path != ModelPath(m.SHA256) || m.Bytes > MaxModelFile {
			return fmt.Errorf("model %d: %d bytes in %q with sha256 %q", i, m.Bytes, m.Path, m.SHA256)
		}
		if i > 0 && j.Models[i-1].Path >= m.Path {
			return fmt.Errorf("model %d: %q does not follow %q", i, m.Path, j.Models[i-1].Path)
		}
	}
	return nil
}

// AddModels adds the files of a policy, and fails if they are too many or too large.
func (j *Job) AddModels(files []rollout.File) error {
	for _, f := range files {
		if len(f.Data) > MaxModelFile {
			return fmt.Errorf("%s: %d bytes, at most %d fit into a dataset", f.Name, len(f.Data), MaxModelFile)
		}
		a := Attachment{Path: ModelPath(f.SHA256), SHA256: f.SHA256, Bytes: uint64(len(f.Data))}
		at, found := slices.BinarySearchFunc(j.Models, a, func(a, b Attachment) int { return strings.Compare(a.Path, b.Path) })
		if !found {
			j.Models = slices.Insert(j.Models, at, a)
		}
	}
	return j.checkModels()
}
