// Package models holds trained networks, which play as the policy net.
//
// How each was trained stands in README.md beside it.
package models

import _ "embed"

//go:embed towerdefence.onnx
var towerdefence []byte

// Of returns the ONNX file of the network that plays a game, nil if there is none.
func Of(game string) []byte {
	if game == "towerdefence" {
		return towerdefence
	}
	return nil
}
