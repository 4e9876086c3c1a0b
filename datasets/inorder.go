package datasets

// inOrder passes values that are put in any order to take in the order of their
// numbers, from 0. It holds the values that came early. It is not safe for concurrent
// use.
type inOrder[T any] struct {
	take  func(T)
	next  int
	early map[int]T
}

func (o *inOrder[T]) put(i int, v T) {
	if i != o.next {
		if o.early == nil {
			o.early = map[int]T{}
		}
		o.early[i] = v
		return
	}
	for ok := true; ok; v, ok = o.early[o.next] {
		delete(o.early, o.next)
		o.take(v)
		o.next++
	}
}
