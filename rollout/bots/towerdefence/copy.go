package towerdefence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"moonfarm/rollout/files"
)

// Bounds of a copy of a bot's folder.
const (
	maxCopyBytes = 1 << 30
	maxCopyFiles = 100_000
)

// inside returns the working directory in the bot's folder, or an error if it is not in there: its author has named it.
func (p *Program) inside() (string, error) {
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return "", err
	}
	work, err := filepath.EvalSymlinks(p.Work)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(dir, work)
	if err == nil && !filepath.IsLocal(inside) {
		err = fmt.Errorf("the bot works in %s, outside of its folder %s, so its folder cannot be copied; expected one of its own, or no box", work, dir)
	}
	return inside, err
}

// copied makes a copy of the bot's folder. It returns the working directory in the copy,
// and a function that deletes the copy.
func (p *Program) copied(ctx context.Context) (work string, remove func(), err error) {
	inside, err := p.inside()
	if err != nil {
		return "", nil, err
	}
	to, err := os.MkdirTemp("", "moonfarm-bot-")
	if err != nil {
		return "", nil, err
	}
	c := copier{ctx: ctx, from: p.Dir, bytes: maxCopyBytes, files: maxCopyFiles}
	if c.to, err = os.OpenRoot(to); err == nil {
		err = errors.Join(c.copy(), c.to.Close())
	}
	if err != nil {
		files.RemoveAll(to)
		return "", nil, fmt.Errorf("a copy of the folder %s: %w", p.Dir, err)
	}
	return filepath.Join(to, inside), func() { files.RemoveAll(to) }, nil
}

// copier copies a folder with its content, within bounds.
type copier struct {
	ctx   context.Context
	from  string
	to    *os.Root
	bytes int64 // bytes that may still be copied
	files int   // files that may still be copied
}

// copy copies folders, files and links. It leaves out all else, such as pipes.
func (c *copier) copy() error {
	return filepath.WalkDir(c.from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		inside, err := filepath.Rel(c.from, path)
		if err != nil || inside == "." {
			return err
		}
		if c.files--; c.files < 0 {
			return fmt.Errorf("it has more than %d files, too many for a copy in each game", maxCopyFiles)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch mode := info.Mode(); {
		case mode.IsDir():
			return c.to.Mkdir(inside, mode.Perm()|0o700)
		case mode.IsRegular():
			return c.file(path, inside, mode.Perm())
		case mode&fs.ModeSymlink != 0:
			return c.link(path, inside)
		}
		return nil
	})
}

// file copies a file.
func (c *copier) file(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := c.to.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, c.bytes+1))
	if err2 := out.Close(); err == nil {
		err = err2
	}
	if c.bytes -= n; err == nil && c.bytes < 0 {
		err = fmt.Errorf("it has more than %d MiB, too much for a copy in each game", maxCopyBytes>>20)
	}
	return err
}

// link copies a link. If its target is in the folder, the copy leads to the target's copy,
// else to the same target.
func (c *copier) link(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	full := target
	if !filepath.IsAbs(target) {
		full = filepath.Join(filepath.Dir(from), target)
	}
	inside, err := filepath.Rel(c.from, full)
	switch {
	case err != nil || !filepath.IsLocal(inside):
		target = full
	case filepath.IsAbs(target):
		target = filepath.Join(c.to.Name(), inside)
	}
	return c.to.Symlink(target, to)
}
