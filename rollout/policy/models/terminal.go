package models

import _ "embed"

// Terminal is the ONNX file of the network for Terminal, in the form orders.
//
//go:embed terminal.onnx
var Terminal []byte
