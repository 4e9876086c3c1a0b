package recordings_test

import (
	"context"
	"fmt"
	"log"

	"moonfarm/rollout/recordings"
)

// ExampleVerify plays a recording again and compares every field.
func ExampleVerify() {
	report, err := recordings.Verify(context.Background(), "../../sim/towerdefence/wire/testdata/game.jsonl", "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Game, report.Counts["games"], "games,", report.Counts["rounds"], "rounds,", report.Different, "differences")
	// Output: towerdefence 1 games, 48 rounds, 0 differences
}

// ExampleRecording_Read converts the games of a recording to episodes, which can be written back.
func ExampleRecording_Read() {
	in, err := recordings.Open(context.Background(), "../../sim/towerdefence/wire/testdata/game.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer in.Close()
	_, err = in.Read(recordings.ReadOptions{}, func(g *recordings.RecordedGame) error {
		fmt.Println(g.Name, g.Episode.Policies, g.Episode.Turns, "turns")
		return g.Why
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: golden [random random] 48 turns
}
