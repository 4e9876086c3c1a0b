// Package featuretest tests encoders and action spaces: the conformance suite
// that every features.Kit must pass, and the kit of the toy game.
package featuretest
