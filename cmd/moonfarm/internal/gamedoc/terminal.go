package gamedoc

// terminal describes the game to the commands.
var terminal = Doc{
	Name:      "terminal",
	Score:     "the health that the other player has lost",
	SoftLimit: true,
	Help: Help{
		Imports: "replay files of the original engine",
		Convert: "replay: files of the original engine, with every frame. The duration is the players' thinking time, which is 0 unless the " +
			"episode has clocks; the winner is 0 if all is equal, thinking times too, unless the rules have moonfarm.firstWins. A game that was cut by a limit becomes a recording that broke off.",
		Verify: "Each turn is compared up to its first difference, and the next turn begins from the recorded state. " +
			"The rules are those in the file unless --rules gives others.",
		Show: "The round is a turn (--turn says the same), and --frame takes an action frame of it. --as takes text (the numbers of the players, " +
			"the arena with w, s, t for wall, support and turret, in upper case if upgraded, ^ and v for mobile units of player 1 and 2, " +
			"and the number of events) and frame (the frame's line as the bot at the seat receives it; A is player 1).",
	},
}
