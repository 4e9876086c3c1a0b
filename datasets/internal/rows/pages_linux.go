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

// largePages asks for large pages where a slab has room for some: otherwise each row
// that goes to a random place of a window misses the processor's TLB. Only the speed
// depends on whether the system grants them.
func largePages(slab []byte) {
	if len(slab) < fewHugePages {
		return
	}
	at := uintptr(unsafe.Pointer(&slab[0]))
	from := int((at+hugePage-1)&^(hugePage-1) - at)
	to := int((at+uintptr(len(slab)))&^(hugePage-1) - at)
	_ = syscall.Madvise(slab[from:to], adviseHuge)
}
