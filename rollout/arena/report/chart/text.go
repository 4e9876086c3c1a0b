package chart

import (
	"strings"
	"unicode"

	"moonfarm/sim/texts"
)

// widths are the widths of the letters from space to ~ in thousandths of the font size, from the
// font metrics of Helvetica; Arial and Liberation Sans have the same.
var widths = [...]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
	556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
	556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// widthOf estimates the width of a letter in points: a tenth above Helvetica's, for machines with
// another font.
func widthOf(r rune) float64 {
	thousandths := 750.0 // Greek, Cyrillic, letters with accents
	switch {
	case r >= ' ' && r <= '~':
		thousandths = float64(widths[r-' '])
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		thousandths = 0 // drawn over the previous letter, or not at all
	case r >= 0x1100: // East Asian letters, symbols
		thousandths = 1000
	}
	return thousandths * letters * 1.1 / 1000
}

// widthOfText estimates the width of a text in points.
func widthOfText(text string) (width float64) {
	for _, r := range text {
		width += widthOf(r)
	}
	return width
}

// shorten makes a text plain and cuts out its middle if it is wider than width: names of bots
// differ at the start or, like paths and options, at the end.
func shorten(text string, width float64) string {
	text = texts.OneLine(text)
	if widthOfText(text) <= width {
		return text
	}
	runes := []rune(text)
	head, tail := 0, len(runes)
	for left := width - widthOf('…'); ; {
		if head <= len(runes)-tail {
			left -= widthOf(runes[head])
			head++
		} else {
			left -= widthOf(runes[tail-1])
			tail--
		}
		if left < 0 {
			break
		}
	}
	// Take back the last letter, which did not fit.
	if head > len(runes)-tail {
		head--
	} else {
		tail++
	}
	return strings.TrimRight(string(runes[:head]), " ") + "…" + strings.TrimLeft(string(runes[tail:]), " ")
}
