package human_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
	"moonfarm/rollout/view/human"
	"moonfarm/sim"
)

// slowBot answers when the game has been looked at.
type slowBot struct{ look func() }

func (*slowBot) Follow(*rollout.Episode) {}

func (s *slowBot) Orders(*rollout.Episode, int) ([]sim.Order, error) {
	looked := make(chan struct{})
	go func() { s.look(); close(looked) }()
	select {
	case <-looked:
		return nil, nil
	case <-time.After(3 * time.Minute):
		return nil, errors.New("the game cannot be looked at while a bot thinks")
	}
}

// TestSlowBot: while a bot thinks, a person looks at the game, and asks for a hint.
func TestSlowBot(t *testing.T) {
	b := &slowBot{}
	s := newSession(t, 1, 0, func(o *human.Setup) { o.Seats[1], o.IsBot, o.Bots = nil, []bool{false, true}, b })
	looks := 0
	b.look = func() {
		looks++
		assert.Equal(t, looks-1, s.Offer(human.AllHeads).Turn)
		_, err := s.Hint()
		assert.NoError(t, err)
		film, err := s.Film()
		assert.NoError(t, err)
		assert.NotNil(t, film)
	}
	for turn := range 3 {
		require.NoError(t, s.Choose(human.Answer{Turn: turn, Step: s.Offer(human.AllHeads).Step}))
	}
	assert.Equal(t, 3, looks)
	assert.Equal(t, 3, s.Episode().Turns)
}
