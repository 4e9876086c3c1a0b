module moonfarm

go 1.26.0

require (
	github.com/apache/arrow/go/v15 v15.0.2
	github.com/klauspost/compress v1.20.3
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	github.com/stretchr/testify v1.12.1
	golang.org/x/term v0.47.0
	gonum.org/v1/gonum v0.17.0
)
