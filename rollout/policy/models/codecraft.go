package models

import _ "embed"

// Codecraft is the ONNX file of the network for CodeCraft, in the form entities.
//
//go:embed codecraft.onnx
var Codecraft []byte
