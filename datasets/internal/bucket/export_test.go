package bucket

// Sizes that tests read around.
const (
	SmallBytes = smallBytes
	TailBytes  = tailBytes
)
