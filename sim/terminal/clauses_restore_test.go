package terminal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/terminal"
)

// Tests of the clauses of RULES.md, section 3: the restore.

func TestClause_3_16_BitsDecay(t *testing.T) {
	// 5.25 is rounded up, 4.1 · ¾ = 3.075 to 3.1, 0.1 · ¾ = 0.075 to 0.1.
	begin(t, "p1 bits 7\np2 bits 4.1", nil).play("", "").want("turn 1\np1 bits 10.3\np2 bits 8.1")
	begin(t, "p1 bits 0.1\np2 bits 0", nil).play("", "").want("p1 bits 5.1\np2 bits 5")
	// A third of 9, by the number of 2019: 9 · 0.66667 = 6.00003.
	begin(t, "p1 bits 9", rules("2019")).play("", "").want("p1 bits 11")
	begin(t, "p1 bits 9", func(r *terminal.Rules) { r.BitDecay = 1 }).play("", "").want("p1 bits 5")
	begin(t, "p1 bits 9", func(r *terminal.Rules) { r.BitDecay = 0 }).play("", "").want("p1 bits 14")
}

func TestClause_3_17_BitsGrow(t *testing.T) {
	for turn, want := range map[int]string{0: "5", 8: "5", 9: "6", 18: "6", 19: "7", 28: "7", 98: "14"} {
		t.Run(fmt.Sprintf("turn %d", turn), func(t *testing.T) {
			begin(t, fmt.Sprintf("turn %d\np1 bits 0", turn), nil).play("", "").want("p1 bits " + want)
		})
	}
	for turn, want := range map[int]string{3: "1", 4: "2", 8: "2", 9: "3", 98: "20"} {
		t.Run(fmt.Sprintf("turn %d with an interval of 5", turn), func(t *testing.T) {
			begin(t, fmt.Sprintf("turn %d\np1 bits 0", turn), rules("2026")).play("", "").want("p1 bits " + want)
		})
	}
	begin(t, "turn 7\np1 bits 0", func(r *terminal.Rules) {
		r.GrowthStart, r.GrowthInterval, r.BitGrowth = 3, 2, 0.5
	}).play("", "").want("p1 bits 6.5") // in turns 3, 5 and 7
	// Supports of 2020 give a bit each, from the first restore on.
	begin(t, "s 13,5 14,5\ns 14,20\np1 bits 0\np2 bits 0", rules("2020")).play("support 13,6", "").want("p1 bits 8\np2 bits 6").
		play("", "").want("p1 bits 14\np2 bits 10.5")
	// Destroyed supports do not.
	begin(t, "s 13,13 13,5\nhealth 13,13=1\np1 bits 0", func(r *terminal.Rules) {
		*r, _ = terminal.RuleSet("2020")
		r.Units[terminal.Scout].AttackRange = 40
		r.Units[terminal.Support].Health, r.Upgraded[terminal.Support].Health = 1000, 1000
	}).play("", "scout 13,27").want("at 13,13 .\np1 bits 6")
}

func TestClause_3_18_BitsAreCapped(t *testing.T) {
	begin(t, "p1 bits 300\np2 bits 190", nil).play("", "").want("p1 bits 150\np2 bits 147.5")
	begin(t, "turn 9\np1 bits 300", nil).play("", "").want("p1 bits 155")
	begin(t, "turn 98\np1 bits 300", nil).play("", "").want("p1 bits 195")
	begin(t, "p1 bits 300", func(r *terminal.Rules) { r.CapBits = false }).play("", "").want("p1 bits 230")
	// Bits before the first restore are not limited.
	begin(t, "p1 bits 300", nil).deploy("50 scout 13,0", "").want("unit 1–50 p1 scout 13,0 health 15\np1 bits 250")
}

func TestClause_3_19_CoresGrow(t *testing.T) {
	begin(t, "p1 cores 3.7\np2 cores 0", nil).play("", "").want("p1 cores 8.7\np2 cores 5")
	begin(t, "p1 cores 3.7", rules("2026")).play("", "").want("p1 cores 7.7")
	// Upgraded supports of 2024 give two cores, and still give a bit.
	begin(t, "S 13,5 14,5\ns 15,5\np1 cores 7 bits 0", rules("2024")).play("up 15,5", "").want("p1 cores 11 bits 8")
	// A breach pays at once, before the restore.
	begin(t, "p1 cores 0", nil).deploy("scout 13,0", "").action().want("p1 cores 1").restore().want("p1 cores 6")
}

func TestClause_3_20_Removals(t *testing.T) {
	// Walls of price 1 with full and with half health: 0 + 5 + 0.75 = 5.75 rounds to 5.8, plus 0.375 to 6.2.
	m := begin(t, "w 13,5 14,5\nhealth 14,5=30\np1 cores 0", nil).deploy("rm 13,5; rm 14,5", "").action().want("at 13,5 w1\nat 14,5 w1\np1 cores 0")
	m.restore().want("at 13,5 .\nat 14,5 .\np1 cores 6.2\np2 cores 45")
	assert.Equal(t, "[{{13 5} wall 0 1 true false} {{14 5} wall 0 2 true false}]", fmt.Sprint(m.rec.Removed), "removed")
	// Each refund is rounded, so the order of ids matters: 5 + 0.45 rounds to 5.5, plus 0.69 to 6.2;
	// 5 + 0.69 rounds to 5.7, plus 0.45 to 6.1, because the float32 is below 6.15.
	for ids, want := range map[string]string{"id 13,5=1 14,5=2": "p1 cores 6.2", "id 13,5=2 14,5=1": "p1 cores 6.1"} {
		t.Run(ids, func(t *testing.T) {
			begin(t, "w 13,5 14,5\nhealth 13,5=36 14,5=55.2\np1 cores 0\n"+ids, nil).play("rm 13,5; rm 14,5", "").want(want)
		})
	}
	// An upgraded structure refunds both prices: 0.75 · 6 for a turret, 0.75 · 6 · 20/30 for a support of 2022.
	begin(t, "T 13,5\np1 cores 0", nil).play("rm 13,5", "").want("p1 cores 9.5")
	begin(t, "S 13,5\nhealth 13,5=20\np1 cores 0", rules("2022")).play("rm 13,5", "").want("p1 cores 8")
	// Computed from left to right: a wall of price 2 refunds 0.75 · 2 · 108 / 120 = 1.35, so 6.7 becomes 8.1; with 108 / 120 first it would become 8.
	begin(t, "W 13,5\nhealth 13,5=108\np1 cores 1.7", nil).play("rm 13,5", "").want("p1 cores 8.1")
	// 2026: two restores, three for an upgraded structure, which has another refund.
	m = begin(t, "w 13,5\nW 14,5\np1 cores 0", rules("2026")).play("rm 13,5; rm 14,5", "").want("at 13,5 w1\nat 14,5 W2\np1 cores 4")
	m.play("", "").want("at 13,5 .\nat 14,5 W1\np1 cores 8.9").play("", "").want("at 14,5 .\np1 cores 15.3")
	// A structure destroyed before pays nothing.
	begin(t, "w 13,13\nhealth 13,13=1\np1 cores 0", nil).play("rm 13,13", "scout 13,27").want("at 13,13 .\np1 cores 5\np2 cores 46")
	// RemovedGive decides whether a structure gives resources in the restore that removes it.
	for choice, want := range map[bool]string{true: "p1 bits 6", false: "p1 bits 5"} {
		t.Run(fmt.Sprint(choice), func(t *testing.T) {
			change := func(r *terminal.Rules) { *r, _ = terminal.RuleSet("2020"); r.RemovedGive = choice }
			begin(t, "s 13,5\np1 bits 0", change).play("rm 13,5", "").want("at 13,5 .\n" + want)
			begin(t, "S 13,5\np1 bits 0 cores 0", change).play("rm 13,5", "").want(map[bool]string{true: "p1 cores 12", false: "p1 cores 11"}[choice])
		})
	}
}
