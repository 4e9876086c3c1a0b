//go:build amd64 && !purego

#include "textflag.h"

// func signature() (vendor, version uint32)
TEXT ·signature(SB), NOSPLIT, $0-8
	XORL AX, AX
	XORL CX, CX
	CPUID
	MOVL BX, vendor+0(FP)
	MOVL $1, AX
	XORL CX, CX
	CPUID
	MOVL AX, version+4(FP)
	RET
