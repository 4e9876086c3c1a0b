package protocol

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
)

// TestActions converts actions of players to the form of states and back.
func TestActions(t *testing.T) {
	rules := wiretest.Round1()
	var a EntityAction
	a.Move = Some(MoveAction{3, 90, true, true})
	a.Build = Some(BuildAction{codecraft.House, 2, 4})
	a.Attack.Given = true
	a.Attack.Value.Target = Some(int32(77))
	a.Attack.Value.Auto = Some(AutoAttack{99999, []codecraft.Type{codecraft.Turret, codecraft.Wall, codecraft.Turret}})
	a.Repair = Some(RepairAction{55})
	for p, want := range []struct{ mx, my, bx, by uint8 }{{3, 79, 2, 4}, {76, 0, 75, 73}, {0, 3, 73, 2}, {79, 76, 4, 75}} {
		t.Run(fmt.Sprintf("player %d", p+1), func(t *testing.T) {
			c := ActionOf(&a, sim.Player(p), &rules)
			assert.Truef(t, c.MoveX == want.mx && c.MoveY == want.my && c.BuildX == want.bx && c.BuildY == want.by, "player %d: %+v, want %v", p, c, want)
			assert.Truef(t, c.Target == 77 && c.Repair == 55 && c.Range == 65535 && c.Valid == 1<<codecraft.Turret|1<<codecraft.Wall, "player %d: %+v", p, c)
			every := codecraft.Given | codecraft.HasMove | codecraft.FindClosest | codecraft.BreakThrough | codecraft.MoveOutside |
				codecraft.HasBuild | codecraft.HasTarget | codecraft.HasAuto | codecraft.HasRepair
			assert.Equalf(t, every, c.Parts, "player %d: parts", p)
			back := StoredActionOf(&c)
			again := ActionOf(&back, 0, &rules)
			assert.Truef(t, again == c, "player %d: %+v, want %+v", p, again, c)
		})
	}
	none := EntityAction{}
	c := ActionOf(&none, 2, &rules)
	assert.Truef(t, c == (codecraft.Action{Parts: codecraft.Given}), "no parts: %+v", c)
	none.Attack.Given, none.Attack.Value.Auto.Given = true, true
	c = ActionOf(&none, 2, &rules)
	assert.Truef(t, c.Valid == codecraft.EveryType&^(1<<codecraft.Resource) && c.Parts == codecraft.Given|codecraft.HasAuto, "auto attack of all: %+v", c)
	for _, v := range []int32{76, 78, 80, 1 << 30} { // turned round they are below 0
		none.Build = Some(BuildAction{codecraft.BuilderBase, v, 5})
		c := ActionOf(&none, 1, &rules)
		assert.Truef(t, c.BuildX == 255 && c.BuildY == 255, "to build at %d: %+v", v, c)
	}
	for v, want := range map[int32]uint8{-1: 255, 76: 76, 79: 79, 80: 255} {
		t.Run(fmt.Sprintf("build at %d", v), func(t *testing.T) {
			none.Build = Some(BuildAction{codecraft.BuilderBase, v, 5})
			c := ActionOf(&none, 0, &rules)
			assert.Equalf(t, want, c.BuildX, "to build at %d: %+v", v, c)
		})
	}
}
