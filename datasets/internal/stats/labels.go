package stats

// Labels counts the orders of one seat that the action column can express. A head of
// an action is used if its choice is not 0; an only head is always used, as doing
// nothing is one of its choices. A head is said if its choice is not -1, which means
// that no choice of the head encodes its orders.
type Labels struct {
	Seat  int   `json:"seat"`
	Heads Share `json:"heads"` // said heads among the used heads of all rows
	Rows  Share `json:"rows"`  // rows in which every head is said, among all
	Told  Share `json:"told"`  // rows in which every head is said, among the rows with a used head
}

// Share is a part of a count.
type Share struct {
	All   uint64  `json:"all"`
	Said  uint64  `json:"said"`
	Share float64 `json:"share"` // Said / All; 1 if there are none
}

// Put counts one.
func (s *Share) Put(said bool) {
	s.All++
	if said {
		s.Said++
	}
}

func (s *Share) add(o Share) {
	s.All += o.All
	s.Said += o.Said
}

// Close computes the share.
func (s *Share) Close() {
	if s.Share = 1; s.All > 0 {
		s.Share = float64(s.Said) / float64(s.All)
	}
}

// Put counts one row.
func (l *Labels) Put(action []int32) {
	told, missing := uint64(0), uint64(0)
	for _, c := range action {
		if c != 0 {
			told++
		}
		if c < 0 {
			missing++
		}
	}
	if len(action) == 1 {
		told = 1
	}
	l.Heads.add(Share{All: told, Said: told - missing})
	l.Rows.Put(missing == 0)
	if told > 0 {
		l.Told.Put(missing == 0)
	}
}

// Add adds the counts of other rows.
func (l *Labels) Add(o Labels) {
	l.Heads.add(o.Heads)
	l.Rows.add(o.Rows)
	l.Told.add(o.Told)
}

// Close computes the shares, after the last row.
func (l *Labels) Close() {
	l.Heads.Close()
	l.Rows.Close()
	l.Told.Close()
}
