// Package wiretest has frames and recordings for the tests of the formats of C1 Terminal.
package wiretest

import (
	"bytes"
	"testing"

	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

// RichLine is an end frame in the Local style with every list and key that files since 2020
// have.
const RichLine = `{"p2Units":[[],[],[],[[27,14,2.1000004,"16777215"]],[],[],[[14,27,2.0,"3"]],[]],` +
	`"turnInfo":[2,7,31,402],"p1Stats":[-2.0,12.5,0.1,0],` +
	`"endStats":{"duration":12345,"winner":2,"player1":{"stationary_resource_spent":4.0,"dynamic_resource_spoiled":3.5,` +
	`"crashed":true,"name":"a \"b\"\\\u0001é","dynamic_resource_destroyed":2.0,"time_damage_taken":1,` +
	`"dynamic_resource_spent":1.0,"stationary_resource_left_on_board":5.0,"timeout_death":false,"points_scored":10.0,` +
	`"total_computation_time":17},"frames":395,"player2":{"stationary_resource_spent":0.0,"dynamic_resource_spoiled":0.0,` +
	`"crashed":false,"name":"python-algo","dynamic_resource_destroyed":0.0,"time_damage_taken":0,` +
	`"dynamic_resource_spent":0.0,"stationary_resource_left_on_board":0.0,"timeout_death":true,"points_scored":42.0,` +
	`"total_computation_time":18},"turns":7},` +
	`"p1Units":[[[13,0,60.0,"1"],[0,13,43.559998,"12"]],[],[],[],[],[],[],[[0,13,0.0,"12"]]],` +
	`"p2Stats":[30.0,7.0,99.9,15001],` +
	`"events":{"selfDestruct":[[[13,13],[[14,13],[14,14]],15.0,3,"5",1],[[13,14],[],40.0,5,"6",2]],` +
	`"breach":[[[14,27],1.0,4,"7",1]],"damage":[[[14,13],15.0,2,"8",2]],` +
	`"shield":[[[1,12],[2,12],3.4,1,"9","5",1]],"move":[[[1,12],[1,13],[0,0],3,"5",1]],` +
	`"spawn":[[[3,10],6,"1",1],[[3,10],7,"11",2]],` +
	`"death":[[[3,10],0,"2",1,true],[[4,10],0,"4",2,false]],"attack":[[[5,10],[6,10],6.0,2,"13","14",2]],"melee":[]}}`

// OldLine is a frame in the Web style with the lists and keys of 2018, and with totals that
// lack keys.
const OldLine = `{"p2Units":[[],[],[],[],[],[],[]],"turnInfo":[1,3,0],"p1Stats":[30,1,2,3],` +
	`"endStats":{"duration":0,"winner":1,"player1":{"stationary_resource_spent":0,"dynamic_resource_spoiled":0,` +
	`"crashed":false,"dynamic_resource_destroyed":0,"dynamic_resource_spent":0,"stationary_resource_left_on_board":0,` +
	`"points_scored":0,"total_computation_time":0},"frames":0,"player2":{},"turns":0},` +
	`"p1Units":[[],[],[],[],[],[],[]],"p2Stats":[29,4,5,6],"events":{"selfDestruct":[],"breach":[],"damage":[],"shield":[],` +
	`"move":[[[13,0],[13,1],[13,2],3,"5",1],[[14,0],[14,1],[0,0],3,"6",1]],"spawn":[],"death":[[[13,1],3,"5",1]],"attack":[],` +
	`"melee":[[[1,13],[1,14],0,0,"9",2]]}}`

// BlankLine is a frame in the Local style with empty lists and zeros.
const BlankLine = `{"p2Units":[[],[],[],[],[],[],[],[]],"turnInfo":[0,0,0,0],"p1Stats":[0.0,0.0,0.0,0],` +
	`"p1Units":[[],[],[],[],[],[],[],[]],"p2Stats":[0.0,0.0,0.0,0],` +
	`"events":{"selfDestruct":[],"breach":[],"damage":[],"shield":[],"move":[],"spawn":[],"death":[],"attack":[],"melee":[]}}`

// RuleSet returns a built-in rule set.
func RuleSet(t testing.TB, name string) terminal.Rules {
	t.Helper()
	r, ok := terminal.RuleSet(name)
	if !ok {
		t.Fatalf("no rule set %s", name)
	}
	return r
}

// Recordings returns the paths of all official replays.
func Recordings(t testing.TB) []string {
	t.Helper()
	return simtest.SharedFiles(t, "replays", "terminal", "*.replay.gz")
}

// Lines returns the lines of a replay that are not blank: the config, then the frames.
func Lines(t testing.TB, path string) (lines [][]byte) {
	t.Helper()
	for l := range bytes.Lines(simtest.Text(t, path)) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// Recording returns the lines of the official replay with this file name: see Lines.
func Recording(t testing.TB, name string) [][]byte {
	t.Helper()
	return Lines(t, simtest.Shared(t, "replays", "terminal", name))
}
