package gamedoc

// terminal describes the game to the commands.
var terminal = Doc{
	Name:      "terminal",
	Score:     "the health that the other player has lost",
	SoftLimit: true,
}
