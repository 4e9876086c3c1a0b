package gamedoc

// towerdefence describes the game to the commands.
var towerdefence = Doc{
	Name:      "towerdefence",
	Score:     "the points of the game, for placing, income and damage; a base that falls decides before them",
	RulesFile: "game-config.properties",
	Help: Help{
		Imports: "recordings as JSON Lines, of one game or many, and the folders of the match logs that the original's runner leaves behind",
		Convert: "recording: JSON Lines, as the recordings of the original engine; match-log: a folder for each, as the original's runner leaves it behind. " +
			"Commands that cost failures get the shortest text that costs the same. A match log of a game that was cut breaks off; " +
			"import takes it with --keep-until-difference only.",
		Verify: "The folder of a match log is compared with what its files show of every round. Its files tell most of the rules; the others are those of " +
			"--rules, or of release 3.0.2. Whose command was carried out first in every round, which the original leaves to chance, is found out.",
		Show: "--as takes text (players and map), console (the runner's map, always seen from A), state (state.json) and textmap (textMap.txt). " +
			"In the map a cell is [LBR]: its column or missiles of B, the building, its row or missiles of A.",
	},
}
