// Package models holds trained networks, which play as the policy net. How each was
// trained stands in README.md beside it.
package models

import _ "embed"

// Towerdefence is an ONNX file.
//
//go:embed towerdefence.onnx
var Towerdefence []byte
