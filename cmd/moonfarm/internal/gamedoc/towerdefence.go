package gamedoc

// towerdefence describes the game to the commands.
var towerdefence = Doc{
	Name:  "towerdefence",
	Score: "the points of the game, for placing, income and damage; a base that falls decides before them",
	Help: Help{
		Imports: "recordings as JSON Lines, of one game or many, and the folders of match logs that the original's runner writes",
		Convert: "recording: JSON Lines, like the recordings of the original engine; match-log: a folder for each episode, like those of the original's runner. " +
			"Commands that count as failures get the shortest text with the same number of failures. A match log of a game that was cut breaks off; " +
			"import takes it with --keep-until-difference only.",
		Verify: "The folder of a match log is compared with the contents of its files in every round. Its files tell most of the rules; --rules, or " +
			"else release 3.0.2, gives the others. The player whose command is carried out first in a round, whom the original draws at random, is found by trying both.",
		Show: "--as takes text (players and map), console (the runner's map, always seen from A), state (state.json) and textmap (textMap.txt). " +
			"In the map a cell is [LBR]: its column or missiles of B, the building, its row or missiles of A.",
	},
}
