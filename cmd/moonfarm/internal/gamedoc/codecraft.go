package gamedoc

// codecraft describes the game to the commands.
var codecraft = Doc{
	Name:      "codecraft",
	Score:     "the points of the game, for resources, building and destroying; they decide the places",
	RulesFile: "rule values, a key=value a line",
	Contest:   []string{"round1", "round1", "round2", "finals"}, // the Sandbox first
	Config:    true,
	Results:   true,
	Help: Help{
		Imports: "replay files of the original's form, and recorded games as JSON Lines. A replay that match or replay convert wrote tells its seed, " +
			"as does a results file, game.json, beside game.replay: such a game is played again. No replay says what an entity was told " +
			"in the tick of its death: orders that do what is recorded stand for it, and up to 2,000 ways are tried in a tick. " +
			"If the seed is not known, or the game does not go as recorded from it, the episode is the recording itself: the rows are those " +
			"of the recorded states, every transition is checked by the rules, and verify --recompute checks them again. " +
			"A recording that ends between two ticks makes a truncated episode.",
		Convert: "replay: files of the original engine, with the state at the start and the events and changes of every tick, but no names.",
		Verify: "Every tick is checked by itself, as its chance cannot be played again: what was done must be what the rules allow, and what came " +
			"of it must be what follows. Views of players and messages to them can be checked, too: as JSON Lines, or messages as raw " +
			"bytes, one behind the other, as bots log them (.bin).",
		Show: "The round is a tick. --as takes text (players, map, units with their stored actions, then the commands and attacks of the tick), " +
			"view (what the player at the seat is shown, as a line of JSON) and state (a state file of one line of JSON, for a game to begin with). " +
			"Files of views and of messages to a client (.bin) are shown, too: what their player sees, whatever --seat says; state then has " +
			"nothing where the player does not see, but for one entity of each player who would be out of the game. " +
			"Commands are objects with the new action of each entity by its id, in the frame of the world.",
	},
}
