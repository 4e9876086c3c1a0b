package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNotices: the file in the root is what the command prints.
func TestNotices(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := notices(root)
	require.NoError(t, err)
	file, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY_NOTICES"))
	require.NoError(t, err)
	assert.True(t, string(file) == string(text), "THIRD_PARTY_NOTICES is old: go run ./cmd/internal/notices >THIRD_PARTY_NOTICES")
	assert.Greater(t, strings.Count(string(text), "\ngithub.com/"), 10)
}

// TestWithoutLicence: a module without a licence is an error.
func TestWithoutLicence(t *testing.T) {
	_, err := licences(t.TempDir())
	assert.ErrorContains(t, err, "has no licence")
}
