package frame

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// TestView checks on frames of all kinds that player 1 sees a frame as it is, and that the view
// of player 2 of a view of player 2 is the frame.
func TestView(t *testing.T) {
	var seen, again Frame
	for name, line := range map[string]string{"rich": wiretest.RichLine, "old": wiretest.OldLine, "blank": wiretest.BlankLine} {
		t.Run(name, func(t *testing.T) {
			f := new(Frame)
			require.NoError(t, Parse(f, []byte(line)))
			want := string(f.Append(nil, config.Local))
			View(&seen, f, 0)
			require.Equal(t, want, string(seen.Append(nil, config.Local)))
			View(&seen, f, 1)
			require.Equal(t, [4]int{f.Phase, f.Turn, f.Number, f.Index}, [4]int{seen.Phase, seen.Turn, seen.Number, seen.Index})
			require.Equal(t, f.Stats[1], seen.Stats[0])
			View(&again, &seen, 1)
			require.Equal(t, want, string(again.Append(nil, config.Local)))
		})
	}
}

// TestViewOfPlayer2 turns one entry of every list.
func TestViewOfPlayer2(t *testing.T) {
	const all = `{"p2Units":[[[3,14,60.0,"5"]],[],[],[],[],[],[[3,14,1.0,"5"]],[]],"turnInfo":[1,4,2,9],"p1Stats":[30.0,1.0,2.0,3],` +
		`"endStats":{"duration":7,"winner":1,"player1":{"stationary_resource_spent":1.0,"dynamic_resource_spoiled":0.0,"crashed":true,` +
		`"name":"a","dynamic_resource_destroyed":0.0,"time_damage_taken":0,"dynamic_resource_spent":0.0,"stationary_resource_left_on_board":0.0,` +
		`"timeout_death":false,"points_scored":0.0,"total_computation_time":0},"frames":5,"player2":{"stationary_resource_spent":2.0,` +
		`"dynamic_resource_spoiled":0.0,"crashed":false,"name":"b","dynamic_resource_destroyed":0.0,"time_damage_taken":0,"dynamic_resource_spent":0.0,` +
		`"stationary_resource_left_on_board":0.0,"timeout_death":false,"points_scored":0.0,"total_computation_time":0},"turns":4},` +
		`"p1Units":[[],[],[],[[13,0,15.0,"6"]],[],[],[],[]],"p2Stats":[29.0,4.0,5.0,6],"events":{` +
		`"selfDestruct":[[[1,13],[[2,14]],15.0,3,"8",1]],"breach":[[[10,24],1.0,3,"9",1]],"damage":[[[5,14],2.0,0,"10",2]],` +
		`"shield":[[[6,12],[7,11],3.0,1,"11","12",1]],"move":[[[8,11],[8,12],[0,0],3,"13",1]],"spawn":[[[9,14],0,"14",2]],` +
		`"death":[[[10,14],0,"15",2,false]],"attack":[[[11,12],[12,14],2.0,3,"16","17",1]],"melee":[]}}`
	const want = `{"p2Units":[[],[],[],[[14,27,15.0,"6"]],[],[],[],[]],"turnInfo":[1,4,2,9],"p1Stats":[29.0,4.0,5.0,6],` +
		`"endStats":{"duration":7,"winner":2,"player1":{"stationary_resource_spent":2.0,"dynamic_resource_spoiled":0.0,"crashed":false,` +
		`"name":"b","dynamic_resource_destroyed":0.0,"time_damage_taken":0,"dynamic_resource_spent":0.0,"stationary_resource_left_on_board":0.0,` +
		`"timeout_death":false,"points_scored":0.0,"total_computation_time":0},"frames":5,"player2":{"stationary_resource_spent":1.0,` +
		`"dynamic_resource_spoiled":0.0,"crashed":true,"name":"a","dynamic_resource_destroyed":0.0,"time_damage_taken":0,"dynamic_resource_spent":0.0,` +
		`"stationary_resource_left_on_board":0.0,"timeout_death":false,"points_scored":0.0,"total_computation_time":0},"turns":4},` +
		`"p1Units":[[[24,13,60.0,"5"]],[],[],[],[],[],[[24,13,1.0,"5"]],[]],"p2Stats":[30.0,1.0,2.0,3],"events":{` +
		`"selfDestruct":[[[26,14],[[25,13]],15.0,3,"8",2]],"breach":[[[17,3],1.0,3,"9",2]],"damage":[[[22,13],2.0,0,"10",1]],` +
		`"shield":[[[21,15],[20,16],3.0,1,"11","12",2]],"move":[[[19,16],[19,15],[0,0],3,"13",2]],"spawn":[[[18,13],0,"14",1]],` +
		`"death":[[[17,13],0,"15",1,false]],"attack":[[[16,15],[15,13],2.0,3,"16","17",2]],"melee":[]}}`
	var f, seen Frame
	require.NoError(t, Parse(&f, []byte(all)))
	View(&seen, &f, 1)
	assert.Equal(t, want, string(seen.Append(nil, config.Local)), "player 2 sees")
}

// TestFrameText checks the text of a frame with every part.
func TestFrameText(t *testing.T) {
	var f Frame
	f.Clear()
	f.Phase = PhaseAction
	f.Stats = [2]Stats{{30, 1.5, 2, 12}, {29, 0, 0, 7}}
	f.Units[0][terminal.Wall] = []Unit{{pos(13, 0), 120, 1}, {pos(1, 13), 3.5, 2}}
	f.Units[0][terminal.Upgrade] = []Unit{{pos(13, 0), 0, 1}}
	f.Units[0][terminal.Removal] = []Unit{{pos(1, 13), 2, 2}}
	f.Units[1][terminal.Turret] = []Unit{{pos(13, 27), 75, 3}, {pos(14, 27), 75, 8}}
	f.Units[1][terminal.Removal] = []Unit{{pos(14, 27), 0, 9}} // as before 2020
	f.Units[0][terminal.Scout] = []Unit{{pos(12, 1), 15, 4}, {pos(12, 1), 15, 5}, {pos(12, 2), 15, 6}}
	f.Units[1][terminal.Demolisher] = []Unit{{pos(12, 2), 5, 7}}
	f.Events.Moves = make([]terminal.MoveEvent, 4)
	f.Events.Attacks = make([]terminal.AttackEvent, 1)
	r := wiretest.RuleSet(t, "2022")
	text := string(f.AppendText(nil, &r))
	for _, want := range []string{
		"p1 health 30 cores 1.5 bits 2 time 12\np2 health 29 cores 0 bits 0 time 7\n27 ",
		"\n27                                         t  t0\n",
		"\n13  .  w2 .  .",
		"\n2                                    .  x  .  .  .  .\n1                                       ^  .  .  .\n0                                          W  .\nx   0  1",
		"  6  7\np1 2 × scout on 12,1 health 15\np1 1 × scout on 12,2 health 15\np2 1 × demolisher on 12,2 health 5\n" +
			"p1 hurt 1,13=3.5\nevents move 4, attack 1\n",
	} {
		assert.Contains(t, text, want, "the text lacks")
	}
}
