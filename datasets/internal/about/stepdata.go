package about

// RowsOf returns the values of n rows of a column from the given row on; nil without
// that column.
func RowsOf[T any](column []T, row, n, size int) []T {
	if column == nil {
		return nil
	}
	return column[row*size : (row+n)*size]
}

// Flag returns 1 for true.
func Flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
