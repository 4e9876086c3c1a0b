//go:build cgo

package main

import (
	"moonfarm/env"
	"moonfarm/features"
)

// description is the JSON of mf_describe. Its keys are those of a dataset's
// manifest, as far as that has them.
type description struct {
	Game         string           `json:"game"`
	Doc          string           `json:"doc"`
	RulesVersion string           `json:"rules_version"`
	Rules        string           `json:"rules"` // canonical text of all values
	Players      int              `json:"players"`
	MaxTurns     int              `json:"max_turns"`
	MaxOrders    int              `json:"max_orders"`
	Form         string           `json:"form"`       // the form in use
	Sequential   bool             `json:"sequential"` // an action is a part of a turn
	Forms        []formName       `json:"forms"`
	Reward       string           `json:"reward"` // the reward in use
	Rewards      []env.Reward     `json:"rewards"`
	Height       int              `json:"height"`
	Width        int              `json:"width"`
	Planes       []features.Field `json:"planes"`
	Scalars      []features.Field `json:"scalars"`
	// Tensors divide the values of a form without planes.
	Tensors      []features.Tensor `json:"tensors"`
	Remembered   []string          `json:"remembered"` // planes with remembered values
	Words        int               `json:"words"`      // of the packed form
	Packed       string            `json:"packed"`     // relation of the packed words to the planes
	PackedLayout *features.Layout  `json:"packed_layout,omitempty"`
	Heads        []int             `json:"heads"`   // number of choices of each
	Nothing      int               `json:"nothing"` // the choice of every head that orders nothing
	MaskWords    int               `json:"mask_words"`
	MaskOffsets  []int             `json:"mask_offsets"` // first bit of each head
	Actions      string            `json:"actions"`
	// Interruptible means that opponents search, so that a step may take long
	// (mf_step_for).
	Interruptible bool `json:"interruptible"`
}

// formName names a form of a game.
type formName struct {
	Name       string `json:"name"`
	Doc        string `json:"doc"`
	Sequential bool   `json:"sequential"`
}

// describe describes games of the spec. Lists are never nil.
func describe(doc string, s env.Spec, interruptible bool) description {
	d := description{
		Game: s.Info.Name, Doc: doc, RulesVersion: s.Info.Rules, Rules: s.Info.Config,
		Players: s.Info.Players, MaxTurns: s.MaxTurns, MaxOrders: s.Info.MaxOrders,
		Form: s.Form, Sequential: s.Sequential, Forms: []formName{}, Tensors: list(s.Description.Tensors),
		Reward: s.Reward, Rewards: s.Rewards,
		Height: s.Shape.Height, Width: s.Shape.Width,
		Planes: list(s.Description.Planes), Scalars: list(s.Description.Scalars), Remembered: list(s.Remembered),
		Words: s.Shape.Words, Packed: s.Description.Packed, PackedLayout: s.Description.PackedLayout,
		Heads: list(s.Heads), Nothing: s.Nothing, MaskWords: s.MaskWords,
		MaskOffsets: []int{}, Actions: s.Actions, Interruptible: interruptible,
	}
	for _, f := range s.Forms {
		d.Forms = append(d.Forms, formName{f.Form, f.FormDoc, f.Sequential})
	}
	at := 0
	for _, choices := range s.Heads {
		d.MaskOffsets = append(d.MaskOffsets, at)
		at += choices
	}
	return d
}

func list[T any](l []T) []T { return append([]T{}, l...) }
