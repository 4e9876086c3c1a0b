// Package models holds the trained networks of the policy net. README.md beside it describes
// how they were trained.
package models

import _ "embed"

// Towerdefence is the ONNX file of the network for Tower Defence.
//
//go:embed towerdefence.onnx
var Towerdefence []byte
