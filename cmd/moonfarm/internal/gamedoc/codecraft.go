package gamedoc

// codecraft describes the game to the commands.
var codecraft = Doc{
	Name:      "codecraft",
	Score:     "the points of the game, for resources, building and destroying; they decide the places",
	RulesFile: "rule values, a key=value a line",
	Contest:   []string{"round1", "round1", "round2", "finals"}, // the Sandbox first
	Runner:    true,
	Help: Help{
		Imports: "replay files of the original's form, and recorded games as JSON Lines. A replay that match or replay convert wrote tells its seed, " +
			"as does a results file, game.json, beside game.replay: such a game is played again. Replays lack the orders of an entity " +
			"in the tick of its death: import finds orders with the recorded effect, and tries up to 2,000 combinations in a tick. " +
			"If the seed is unknown, or the game from this seed differs from the recording, the episode is the recording itself: its rows have " +
			"the recorded states, every transition is checked by the rules, and verify --recompute checks them again. " +
			"A recording that ends between two ticks makes a truncated episode.",
		Convert: "replay: files of the original engine, with the state at the start and the events and changes of every tick, but no names.",
		Verify: "Every tick is checked by itself, as its random numbers are unknown: the rules must allow the recorded actions, and the recorded " +
			"state must follow from them. Views of players and messages to them can be checked, too: as JSON Lines, or messages as raw " +
			"bytes, one after the other, as bots log them (.bin).",
		Show: "The round is a tick. --as takes text (players, map, units with their stored actions, then the commands and attacks of the tick), " +
			"view (the view of the player at the seat, as a line of JSON) and state (a state file of one line of JSON, from which a game can begin). " +
			"Files of views and of messages to a client (.bin) can be shown, too: they have the view of their player, and --seat has no effect; " +
			"state then lacks invisible entities, but keeps one entity of each player without visible ones, who would else be out of the game. " +
			"Commands are objects with the new action of each entity by its id, in the frame of the world.",
	},
}
