// Package models holds the trained networks of the policy net. README.md beside it describes
// how they were trained.
package models

import _ "embed"

// Towerdefence, Terminal (of the form orders) and Codecraft (of the form entities) are the ONNX files of the games' networks.
var (
	//go:embed towerdefence.onnx
	Towerdefence []byte
	//go:embed terminal.onnx
	Terminal []byte
	//go:embed codecraft.onnx
	Codecraft []byte
)
