//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import "time"

//export mf_ask
func mf_ask(h C.mf_handle, policy, mask, action address, wait C.int32_t, e address) C.int32_t {
	return guard(e, func() error {
		return callBusy(&handles, handle(h), func(v *environments) error {
			if v.pending == nil && wait < 0 { // without another goroutine
				ask, err := v.question(policy, mask, action)
				if err != nil {
					return err
				}
				return ask()
			}
			err := v.resume("mf_ask", func() (func() error, error) { return v.question(policy, mask, action) })
			if err != nil {
				return err
			}
			return v.await(time.Duration(wait) * time.Millisecond)
		})
	})
}

// question returns a function that asks a policy, with the arguments of mf_ask.
func (e *environments) question(policy, mask, action address) (func() error, error) {
	text, err := textAt("policy", policy)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, wrong("policy is NULL or empty")
	}
	maker, err := e.maker(text)
	if err != nil {
		return nil, err
	}
	to, err := e.actions("answers", action)
	if err != nil {
		return nil, err
	}
	which, err := flags("mask", mask, e.asked)
	return func() error { return e.Ask(text, maker, to, which) }, err
}
