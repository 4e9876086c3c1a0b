package gamedoc

// towerdefence describes the game to the commands.
var towerdefence = Doc{
	Name:  "towerdefence",
	Score: "the points of the game, for placing, income and damage; a base that falls decides before them",
}
