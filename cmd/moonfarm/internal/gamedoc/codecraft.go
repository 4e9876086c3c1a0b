package gamedoc

// codecraft describes the game to the commands.
var codecraft = Doc{
	Name:    "codecraft",
	Score:   "the points of the game, for resources, building and destroying; they decide the places",
	Contest: []string{"round1", "round1", "round2", "finals"}, // the Sandbox first
	Runner:  true,
}
