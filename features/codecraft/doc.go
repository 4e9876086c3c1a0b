package codecraft

const actionsDoc = "14 choices a tick for each of 256 slots. Slot i is the own entity whose lowest corner, as seen, is the i-th in the order of the cells,\n" +
	"  row by row from below, in each from the left: those that the plane own_corner shows, not active ones and buildings among them. Head k of slot i\n" +
	"  is head 256·k + i: the action is an array [14, 256]. Slots beyond the last entity have the choice 0 only, and others there do nothing; entities\n" +
	"  beyond slot 255 cannot be told anything. All coordinates are the player's own, and 0 says nothing in every head.\n" +
	"  Head 0: the order. Its mask is one word a slot; the other heads have none. A choice that is not in the mask does nothing.\n" +
	"     0          leave the entity's action as it is\n" +
	"     1          replace it by the parts that the other heads of the slot say; by none, it stops. A part that is said in some of its heads only, or whose\n" +
	"                target is not there as far as is seen, is left out\n" +
	"  What an entity is told, and found for orders, is choice 0 or 1. Choices 2 … 63 are shortcuts for play by the mask: each gives an action\n" +
	"  that choice 1 can say too. Directions d are 0 right (x + 1), 1 left, 2 up (y + 1), 3 down.\n" +
	"     2 + d      step: move to the next cell; legal if that is on the map and not covered by an own entity that cannot move\n" +
	"     6          gather: auto attack of resources, pathfind range 80\n" +
	"     7          fight: auto attack of all else, pathfind range 80\n" +
	"     8 + d      repair the own entity next to it in that direction; legal if its health is not full\n" +
	"    12 + 4k + d build its k-th option (builder units: 0 house, 1 wall, 2 builder base, 3 melee base, 4 ranged base, 5 turret; bases: 0 their unit) in that\n" +
	"                direction: on the first square next to it that is free as far as it is seen, level with its lowest corner (right, left: the lower\n" +
	"                edges; up, down: the left ones), else further up or right, along its side, else further down or left; legal if there is one, and the\n" +
	"                purse and the population limit allow it now\n" +
	"    36 + r      march: move to the middle of region r = x/20 + 4·(y/20), that is (10 + 20·(r mod 4), 10 + 20·(r div 4)), or the closest\n" +
	"                position, without breaking through; with auto attack of all but resources, without chasing, if it attacks and does not collect\n" +
	"    52 + e      advance: likewise move 8 cells, less at the edge of the map; e = 0 … 3 as d, 4 right and up, 5 left and up, 6 left and down,\n" +
	"                7 right and down\n" +
	"    60          hold: auto attack of all but resources, without chasing (pathfind range is the attack range)\n" +
	"    61          harvest: auto attack of resources, without chasing\n" +
	"    62          focus: attack the enemy in range with the least health, of equals that with the lowest id\n" +
	"    63          mend: repair the nearest own entity whose health is not full, of equals that with the lowest id, and move to its nearest cell\n" +
	"  Heads 1 … 3: move. Head 1: 1 + find closest position + 2 · break through + 4 · the target lies outside of the map, of which (x, y), at the edge, is\n" +
	"    the nearest cell; heads 2 and 3: 1 + x and 1 + y of the target.\n" +
	"  Heads 4 … 6: build. Head 4: 1 + type (0 wall, 1 house, 2 builder base, 3 builder unit, 4 melee base, 5 melee unit, 6 ranged base, 7 ranged unit,\n" +
	"    8 resource, 9 turret); heads 5 and 6: 1 + x and 1 + y of the lowest corner, both 81 outside of the map.\n" +
	"  Heads 7 and 8: attack of one target: 1 + x and 1 + y of its lowest corner; any other of its cells does too.\n" +
	"  Heads 9 … 11: auto attack. Heads 9 and 10: valid targets, the sum of 2^type over types 0 … 4 and of 2^(type − 5) over 5 … 9 (resources alone are\n" +
	"    0 and 8, all but these 31 and 23); head 11: pathfind range, 1 + r up to 160, then 162 … 173: 200, 255, 256, 300, 400, 500, 999, 1000, 6400, 9999,\n" +
	"    10000, 65535 (and all above).\n" +
	"  Heads 12 and 13: repair: 1 + x and 1 + y of the target, as for attack.\n" +
	"  Orders are found part by part. A head is −1 if its part cannot be said: a target that is not there or not in sight, another range than those above,\n" +
	"    a square whose lowest corner, as seen, lies left of the map or below. Orders that leave an entity with the action it has need no choice then."
