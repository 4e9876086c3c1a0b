package codecraft

const actionsDoc = "One choice a tick for each of 256 slots: head i is the own entity of row i of the tensor own, the one whose lowest corner, as seen, is the i-th in\n" +
	"  the order of the cells, row by row from below, in each from the left. Slots beyond the last entity have choice 0 only. The mask has two words a slot:\n" +
	"  bit c%64 of word 2·i + c/64. It holds for each slot while the others choose 0; a choice that is not in it does nothing. Directions d are 0 right\n" +
	"  (x + 1), 1 left, 2 up (y + 1), 3 down. Entities that are not active have the choices 0, 1 and 14 to 43 that their type has, but not 22 and 23.\n" +
	"     0          leave the entity's action as it is\n" +
	"     1          stop\n" +
	"     2 + d      step: move to the next cell; legal if that is on the map and not covered by an own entity that cannot move\n" +
	"     6 + d      attack the resource or the entity of another player beside it; of types that attack beside them only, and of all that also build\n" +
	"    10 + d      repair the own entity beside it; legal if its health is not full\n" +
	"    14, 15      auto attack of resources, pathfind range 80, 10\n" +
	"    16          auto attack of resources, pathfind range 30, and else move to the corner opposite to the own start, or the closest position\n" +
	"    17, 18, 19  auto attack of all but resources, pathfind range 80, 20, 10\n" +
	"    20          hold: auto attack of all but resources, without chasing (pathfind range is the attack range)\n" +
	"    21          harvest: auto attack of resources, without chasing\n" +
	"    22          focus: attack the enemy in range with the least health, of equals that with the lowest id\n" +
	"    23          mend: repair the nearest own entity whose health is not full, of equals that with the lowest id, and move to its nearest cell\n" +
	"    24 + r      march: move to the middle of region r = x/20 + 4·(y/20), that is (10 + 20·(r mod 4), 10 + 20·(r div 4)), or the closest position;\n" +
	"                with auto attack of all but resources, without chasing, if it attacks and does not collect\n" +
	"    40 + k      assault: move to the middle of the start of the player opposite (k = 0), at the lower right (1), at the upper left (2), or the closest\n" +
	"                position; with auto attack of all but resources, pathfind range 10, if it attacks and does not collect\n" +
	"    43          home: move to the middle of the own start, (7, 7), or the closest position\n" +
	"    44 + j      place j of 84. Of an entity that builds, the squares beside it, option after option (builder units: house 0 … 11, wall 12 … 15, builder base\n" +
	"                16 … 35, melee base 36 … 55, ranged base 56 … 75, turret 76 … 83; bases: their unit 0 … 19): of an entity of n and a square of z cells a\n" +
	"                side, j = first + d·(n + z − 1) + k, the square in direction d whose lowest corner is k − z + 1 cells further up (d = 0, 1) or right (2, 3)\n" +
	"                than the entity's. Legal if the square is free as far as it is seen, and resource and population allow it: what the collectors beside\n" +
	"                resources can get in this tick counts.\n" +
	"                Of all others that attack beyond the cells beside them, the cells in range, the nearest first, equally near ones row by row from below, in\n" +
	"                each from the left (range 5: 60 of a unit, 80 of a turret): attack the entity of another player there. Legal is the first of its cells.\n" +
	"  Two entities may want the same. Orders are given in the order of the slots. A build of a unit that moves is left out, as with choice 0, if its square\n" +
	"  overlaps with that of an earlier slot, or if earlier slots leave too little resource or population for it: else the unit would keep the build and carry\n" +
	"  it out later. A base that cannot pay now builds when it can, so bases always get their orders, and the game draws which of them comes first. The game\n" +
	"  also draws which of the units that step to one cell gets it.\n" +
	"  The choice that is found for orders gives the entity the same action; if none does, it lets the entity do the same from now on (parts of an action that\n" +
	"  the type cannot carry out, or that a unit at its target does not need, do not count); if none does, the same in this tick: the same attack, step,\n" +
	"  build or repair. Of several equally good steps it is the one that the game draws. Attacks of the enemy that focus means are found as focus. A\n" +
	"  build that must fail is not said; it would only take an id. A head is −1 if there is no such choice."
