// Package page is a stand-in.
package page

// HTML returns a page.
func HTML(data map[string][]byte) []byte { return nil }
