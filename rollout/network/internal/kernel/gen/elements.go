package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The functions of single elements compute in vectors of float64 the same unfused steps, in
// the same order, as elements.go for single numbers. Instead of testing for special cases they
// clamp.

// constants are the bits of the constants that the functions use. Each is in memory 8 times,
// so that any instruction can use it as an operand.
var constants []uint64

// constant returns the location of 8 float64 of that value.
func constant(value float64) operand.Mem { return constantBits(math.Float64bits(value)) }

func constantBits(bits uint64) operand.Mem {
	at := 0
	for at < len(constants) && constants[at] != bits {
		at++
	}
	if at == len(constants) {
		constants = append(constants, bits)
	}
	return operand.NewDataAddr(operand.NewStaticSymbol("constants"), 64*at)
}

// writeConstants writes the constants in use.
func writeConstants() {
	GLOBL("constants", attr.RODATA|attr.NOPTR)
	for at, bits := range constants {
		for i := range 8 {
			DATA(64*at+8*i, operand.U64(bits))
		}
	}
}

// The registers of a function of single elements.
const (
	vX = iota // the argument
	vScale
	vP
	vR
	vY
	vLow // bounds of the argument
	vHigh
	vSign
)

// element writes a function over n elements, a multiple of 8. It clamps the argument to low …
// high, beyond which the result is constant. f computes vY from vX.
func (i *isa) element(name, what string, low, high float64, f func()) {
	i.elementOf(name, "func(dst, src *float32, n int)", what, low, high, f)
}

// elementOf does the same as element with another signature, which begins like that of all
// functions.
func (i *isa) elementOf(name, signature, what string, low, high float64, f func()) {
	TEXT(name, NOSPLIT, signature)
	Doc(name + " sets dst to " + what + " of n elements of src; n is a multiple of 8.")
	Load(Param("dst"), w)
	Load(Param("src"), x)
	Load(Param("n"), left)
	VMOVUPD(constant(low), i.vector(vLow))
	VMOVUPD(constant(high), i.vector(vHigh))
	Label("next")
	VCVTPS2PD(operand.Mem{Base: x}, i.vector(vX))
	f()
	if i.bytes == 64 {
		VCVTPD2PS(i.vector(vY), reg.Y0)
		VMOVUPS(reg.Y0, operand.Mem{Base: w})
	} else {
		VCVTPD2PSY(i.vector(vY), reg.X0)
		VMOVUPS(reg.X0, operand.Mem{Base: w})
	}
	ADDQ(operand.U32(i.bytes/2), x)
	ADDQ(operand.U32(i.bytes/2), w)
	SUBQ(operand.Imm(uint64(i.bytes/8)), left)
	JNE(operand.LabelRef("next"))
	VZEROUPPER()
	RET()
}

// clamp limits vX to the bounds. NaN stays NaN, since vX is the first operand.
func (i *isa) clamp() {
	VMINPD(i.vector(vX), i.vector(vHigh), i.vector(vX))
	VMAXPD(i.vector(vX), i.vector(vLow), i.vector(vX))
}

// and, or and xor combine the bits of two vectors; a may be in memory.
func (i *isa) and(a operand.Op, b, to reg.VecPhysical) {
	if i.bytes == 64 {
		VPANDQ(a, b, to)
	} else {
		VPAND(a, b, to)
	}
}

func (i *isa) or(a operand.Op, b, to reg.VecPhysical) {
	if i.bytes == 64 {
		VPORQ(a, b, to)
	} else {
		VPOR(a, b, to)
	}
}

func (i *isa) xor(a operand.Op, b, to reg.VecPhysical) {
	if i.bytes == 64 {
		VPXORQ(a, b, to)
	} else {
		VPXOR(a, b, to)
	}
}

// exponential splits e to the power of vX into vScale·(1 + vP).
func (i *isa) exponential() {
	arg, scale, p, r := i.vector(vX), i.vector(vScale), i.vector(vP), i.vector(vR)
	whole := constant(3 << 51)
	VMULPD(constant(math.Log2E), arg, scale)
	VADDPD(whole, scale, scale)
	VSUBPD(whole, scale, r)
	VMULPD(constant(math.Ln2), r, r)
	VSUBPD(r, arg, r)
	factorial := 39916800.0
	VMOVUPD(constant(1/factorial), p)
	for n := 11; n > 1; n-- {
		factorial /= float64(n)
		VMULPD(r, p, p)
		VADDPD(constant(1/factorial), p, p)
	}
	VMULPD(r, p, p)
	VPADDQ(constantBits(1023), scale, scale)
	VPSLLQ(operand.Imm(52), scale, scale)
}

// functions writes the functions of single elements.
func (i *isa) functions(suffix string) {
	arg, scale, p, y, sign := i.vector(vX), i.vector(vScale), i.vector(vP), i.vector(vY), i.vector(vSign)
	one := constant(1)
	i.element("exp"+suffix, "e to the power", -110, 95, func() {
		i.clamp()
		i.exponential()
		VMULPD(p, scale, y)
		VADDPD(y, scale, y)
	})
	i.element("sigmoid"+suffix, "1/(1+e^−x)", -110, 110, func() {
		VMULPD(constant(-1), arg, arg)
		i.clamp()
		i.exponential()
		VMULPD(p, scale, y)
		VADDPD(y, scale, y)
		VADDPD(one, y, y)
		VMOVUPD(one, p)
		VDIVPD(y, p, y)
	})
	i.element("tanh"+suffix, "the hyperbolic tangent", 0, 20, func() {
		i.and(constantBits(1<<63), arg, sign)
		i.and(constantBits(1<<63-1), arg, arg)
		VADDPD(arg, arg, arg)
		i.clamp()
		i.exponential()
		VMULPD(p, scale, y)
		VSUBPD(one, scale, scale)
		VADDPD(scale, y, y)
		VADDPD(constant(2), y, p)
		VDIVPD(p, y, y)
		i.or(sign, y, y)
	})
}

// erf writes the error function, for AVX-512, whose permutations look up the coefficients of
// 8 series at once.
func (i *isa) erf() {
	arg, a, index, h, sum := i.vector(vX), i.vector(vScale), i.vector(vP), i.vector(vR), i.vector(vY)
	sign, term, z, small := i.vector(vSign), i.vector(vSign+1), i.vector(vSign+2), i.vector(vSign+3)
	const down = 1 // rounding mode of VRNDSCALEPD
	i.elementOf("erf512", "func(dst, src *float32, n int, series *[13][8]float64)", "the error function", 0, 7, func() {
		Load(Param("series"), row)
		i.and(constantBits(1<<63), arg, sign)
		i.and(constantBits(1<<63-1), arg, a)
		VADDPD(a, a, index)
		VRNDSCALEPD(operand.Imm(down), index, index)
		VMINPD(i.vector(vHigh), index, index)
		VMULPD(constant(0.5), index, h)
		VADDPD(constant(0.25), h, h)
		VSUBPD(h, a, h)
		VADDPD(constant(1<<52), index, index) // its last bits are the number now
		VPERMPD(operand.Mem{Base: row}, index, sum)
		for n := 1; n < 13; n++ {
			VPERMPD(operand.Mem{Base: row, Disp: 64 * n}, index, term)
			VMULPD(h, sum, sum)
			VADDPD(term, sum, sum)
		}
		one := constant(1)
		VCMPPD(operand.Imm(13), constant(4), a, reg.K1) // a ≥ 4
		VBLENDMPD(one, sum, reg.K1, sum)
		i.or(sign, sum, sum)
		VMULPD(a, a, z)
		VMOVUPD(constant(1.0/(40320*17)), small)
		for _, c := range []float64{-1.0 / (5040 * 15), 1.0 / (720 * 13), -1.0 / (120 * 11), 1.0 / (24 * 9), -1.0 / (6 * 7), 1.0 / (2 * 5), -1.0 / 3, 1} {
			VMULPD(z, small, small)
			VADDPD(constant(c), small, small)
		}
		VMULPD(arg, small, small)
		VMULPD(constant(1.1283791670955125739), small, small)
		VCMPPD(operand.Imm(1), constant(0.5), a, reg.K1) // a < 0.5
		VBLENDMPD(small, sum, reg.K1, sum)
	})
}
