package stepper

import (
	"errors"
	"fmt"

	"moonfarm/rollout"
)

// asker is a policy that is asked about the rows of a part.
type asker struct {
	*rollout.Asker
	rows []int32 // in hand
}

// question holds the arguments of Ask.
type question struct {
	name  string
	maker rollout.Maker
	dst   []int32 // [rows, heads]
	which []bool  // [rows]
}

// Ask writes to dst [rows, heads] what a policy would choose in the caller's rows:
// see rollout.Asker. With which [rows] it asks only for the rows that are true there
// and writes −1 to all others. The policy is made by maker in the first call with its
// name and stays until Close. The answers do not depend on workers or blocks. Ask
// fails if the maker does, the policy is rollout.Recurrent, a slice has another length, or a game has not begun. It
// fails with ErrInterrupted if Interrupt ends it; what it has written is then
// undefined.
func (s *Stepper) Ask(name string, maker rollout.Maker, dst []int32, which []bool) error {
	if err := s.idle("Ask"); err != nil {
		return err
	}
	if want := s.Rows() * len(s.spec.Heads); len(dst) != want {
		return fmt.Errorf("room for %d choices, expected %d for %d rows", len(dst), want, s.Rows())
	}
	if which != nil && len(which) != s.Rows() {
		return fmt.Errorf("a selection of %d rows, there are %d", len(which), s.Rows())
	}
	for _, k := range s.parts {
		if err := k.allBegun(); err != nil {
			return err
		}
	}
	if err := s.resume(true); err != nil {
		return err
	}
	s.question = question{name, maker, dst, which}
	err := s.answer()
	s.question = question{}
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stepping = false
	if err == nil && i.ended.Load() {
		for _, k := range s.parts {
			k.askers[name].Forget()
		}
		return ErrInterrupted
	}
	return err
}

// answer answers the question in hand.
func (s *Stepper) answer() error {
	for _, k := range s.parts {
		if err := k.addAsker(s.question.name, s.question.maker); err != nil {
			return err
		}
	}
	return s.each(s.asking)
}

// addAsker makes the policy of that name, unless the part has it.
func (k *part) addAsker(name string, maker rollout.Maker) error {
	if k.askers[name] != nil {
		return nil
	}
	a, err := rollout.NewAsker(k.inner, maker)
	if err != nil {
		return err
	}
	if len(rollout.StatesOf(a.Policy())) > 0 {
		return errors.Join(fmt.Errorf("%s is recurrent: it must see every turn of a game, so it cannot be asked about single ones", a.Policy().Name()), a.Close())
	}
	n := len(k.base)
	if k.askers == nil {
		k.askers = map[string]*asker{}
	}
	k.askers[name] = &asker{Asker: a, rows: make([]int32, 0, n*k.players)}
	rollout.Until(k.stepper.stop.ctx, a.Policy())
	return nil
}

// ask writes the answers for the caller's rows of the part. It asks for atOnce rows at
// a time, so that Interrupt and Abandon end it soon.
func (k *part) ask() {
	q, games, n := &k.stepper.question, k.stepper.spec.Games, len(k.base)
	a, dst := k.askers[q.name], cut(q.dst, games, k.first, n)
	which := cut(q.which, games, k.first, n)
	a.rows = a.rows[:0]
	each := k.players // rows of a game
	if k.shown != nil {
		each = 1
	}
	for row := range n * each {
		if which != nil && !which[row] {
			continue
		}
		a.rows = append(a.rows, int32(k.rowOf(row)))
	}
	heads, step := len(dst)/(n*each), atOnce/k.players*k.players // whole games
	to := dst
	for rows := a.rows; len(rows) > 0 && !k.interrupted(); {
		n := min(len(rows), step)
		a.Ask(to[:n*heads], rows[:n])
		rows, to = rows[n:], to[n*heads:]
	}
	if which != nil {
		spread(dst, which, heads, len(a.rows))
	}
}

// spread moves the first n rows of dst [rows, heads] to the n rows that are true in
// which, in order, and writes −1 to all others.
func spread(dst []int32, which []bool, heads, n int) {
	for row := len(which) - 1; row >= 0; row-- {
		to := dst[row*heads:][:heads]
		if which[row] {
			n--
			copy(to, dst[n*heads:][:heads])
			continue
		}
		for h := range to {
			to[h] = -1
		}
	}
}

// closeAskers closes the policies that are asked.
func (k *part) closeAskers() error {
	var all []error
	for _, a := range k.askers {
		all = append(all, a.Close())
	}
	return errors.Join(all...)
}

// waits reports whether the seat of a row has ended its turn.
func (k *part) waits(row int) bool { return k.sequential && k.inner.Waits(row) }
