package parallel

// Queue brings results back into their order: it passes values that are put in any order to Take in the order of their numbers,
// from 0. It holds the values that came early. It is not safe for concurrent use.
type Queue[T any] struct {
	Take  func(T)
	next  int
	early map[int]T
}

// Put adds value i.
func (q *Queue[T]) Put(i int, v T) {
	if i != q.next {
		if q.early == nil {
			q.early = map[int]T{}
		}
		q.early[i] = v
		return
	}
	for ok := true; ok; v, ok = q.early[q.next] {
		delete(q.early, q.next)
		q.Take(v)
		q.next++
	}
}
