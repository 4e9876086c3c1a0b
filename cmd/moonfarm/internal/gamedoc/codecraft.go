package gamedoc

// codecraft describes the game to the commands.
var codecraft = Doc{
	Name:    "codecraft",
	Score:   "the points of the game, for resources, building and destroying; they decide the places",
	Contest: []string{"round1", "round1", "round2", "finals"}, // the Sandbox first
	Runner:  true,
	Help: Help{
		Imports: "replay files of the original's form, and recorded games as JSON Lines. A game whose seed is known, from the replay or from a " +
			"results file, game.json, beside game.replay, is played again; else the episode has the recorded states, whose transitions are checked by the rules.",
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
