package rows

import (
	"syscall"
	"unsafe"
)

const (
	hugePage     = 2 << 20
	adviseHuge   = 14 // MADV_HUGEPAGE, which package syscall does not name
	fewHugePages = 4 * hugePage
)

// largePages asks for large pages where a slab has room for some: rows that go to
// random places of a window otherwise miss the processor's table of pages each
// time. Whether the system grants them changes nothing but the time.
func largePages(slab []byte) {
	if len(slab) < fewHugePages {
		return
	}
	at := uintptr(unsafe.Pointer(&slab[0]))
	from := int((at+hugePage-1)&^(hugePage-1) - at)
	to := int((at+uintptr(len(slab)))&^(hugePage-1) - at)
	_ = syscall.Madvise(slab[from:to], adviseHuge)
}
