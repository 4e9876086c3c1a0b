//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"moonfarm/features"
	"moonfarm/rollout/view/picture"
	"moonfarm/rollout/view/picture/raster"
	"moonfarm/rollout/view/picture/svg"
)

// drawing has the memory of mf_render_rgb and mf_render_svg.
type drawing struct {
	scene   features.Scene
	width   int
	painter *raster.Painter // of that width; nil before the first picture
	pixels  []byte
}

// rgb returns a picture as [height, width, 3]. It is valid until the next call.
func (d *drawing) rgb(width int) ([]byte, error) {
	if d.painter == nil || d.width != width {
		p, err := raster.New(picture.Settings{Width: width})
		if err != nil {
			return nil, wrong("%v", err)
		}
		d.painter, d.width = p, width
	}
	m, err := d.painter.Draw(&d.scene, "")
	if err != nil {
		return nil, wrong("%v", err)
	}
	d.pixels = d.pixels[:0]
	for p := m.Pix; len(p) >= 4; p = p[4:] {
		d.pixels = append(d.pixels, p[0], p[1], p[2])
	}
	return d.pixels, nil
}

//export mf_render_rgb
func mf_render_rgb(h C.mf_handle, env, width C.int32_t, buf address, room C.size_t, need address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		if err := v.Scene(&v.drawn.scene, int(env), features.Spectator); err != nil {
			return err
		}
		pixels, err := v.drawn.rgb(int(width))
		if err != nil {
			return err
		}
		return copyOut(pixels, false, buf, room, need)
	})
}

//export mf_render_svg
func mf_render_svg(h C.mf_handle, env C.int32_t, id address, buf address, room C.size_t, need address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		name, err := textAt("id", id)
		if err != nil {
			return err
		}
		if name == "" {
			return wrong("id is empty: expected one that no other element of the page has")
		}
		if err := v.Scene(&v.drawn.scene, int(env), features.Spectator); err != nil {
			return err
		}
		drawn := svg.Draw(&v.drawn.scene, name, v.game.Name)
		return copyOut(drawn, true, buf, room, need)
	})
}
