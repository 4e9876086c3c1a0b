package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// Write writes a file as a whole or not at all: beside its place under a name that no other
// process uses, and then into its place. Readers see the old file or the new one.
//
// An existing file keeps its mode and, where this account may give files away, its owner. A
// link is followed, also to a file that is missing. Pipes, devices and open files (/dev/fd/3)
// are written to directly. A file that cannot be replaced, because it is a mount point or its
// folder belongs to others, is overwritten after the new content is complete. A file that may
// not be written is refused.
func Write(name string, write func(w io.Writer) error) error {
	o, err := place(name)
	if err != nil {
		return err
	}
	return o.write(write)
}

// WriteSecret writes a file like Write, and lets its owner alone read it.
func WriteSecret(name string, text []byte) error {
	o, err := place(name)
	if err != nil {
		return err
	}
	o.secret = true
	return o.write(func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Check returns an error if Write cannot write the file. Long work checks its outputs first.
func Check(name string) error {
	o, err := place(name)
	if err != nil || o.direct || o.open != nil {
		return errors.Join(err, o.close())
	}
	defer o.remove()
	return errors.Join(o.create(), o.close())
}

// output is a file that is being written.
type output struct {
	name   string      // as the caller knows it
	path   string      // name without links
	old    fs.FileInfo // nil: there is no such file
	direct bool        // not a regular file
	secret bool

	open *os.File // gets the content
	part string   // the name of open until it is in its place; "": it is there
}

// place finds the place of a file. It fails if the file may not be written.
func place(name string) (o *output, err error) {
	o = &output{name: name}
	if o.open, err = descriptor(name); err != nil || o.open != nil {
		return o, err
	}
	if o.path, o.old, err = follow(name); err != nil {
		return o, err
	}
	if o.old == nil {
		dir := filepath.Dir(beside(o.path, "x"))
		if s, err := os.Stat(dir); err != nil || !s.IsDir() {
			return o, fmt.Errorf("%s: there is no folder %s", name, dir)
		}
		return o, nil
	}
	if o.direct = !o.old.Mode().IsRegular(); o.direct {
		if o.old.IsDir() {
			err = fmt.Errorf("%s: expected the name of a file, found a folder", name)
		}
		return o, err
	}
	if o.old.Mode().Perm()&0o222 == 0 { // root could write it
		return o, &fs.PathError{Op: "open", Path: name, Err: errors.New("the file is read-only")}
	}
	f, err := os.OpenFile(o.path, os.O_WRONLY, 0)
	if err != nil {
		return o, withPath(name, err)
	}
	return o, f.Close()
}

// follow follows the links of a name, and returns the name of a file or folder and what is
// there: nil if it is missing.
func follow(name string) (path string, there fs.FileInfo, err error) {
	if there, err = os.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name, nil, withPath(name, err)
	}
	if there != nil && !there.IsDir() && !there.Mode().IsRegular() {
		return name, there, nil
	}
	path = name
	for range 255 { // Stat has refused circles of links
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = beside(path, to)
		}
		path = to
	}
	return path, there, nil
}

// beside returns the name of a file in the folder of another one, which may have links and ..
// in its name.
func beside(path, file string) string {
	dir, _ := filepath.Split(path)
	return dir + file
}

// unused returns a short name that no other process chooses.
func unused() string { return fmt.Sprintf(".moonfarm-%016x", rand.Uint64()) }

// left matches the names that unused returns.
var left = regexp.MustCompile(`^\.moonfarm-[0-9a-f]{16}$`)

// RemoveLeft removes the files and folders that killed writers have left in a folder. No other process may write there.
func RemoveLeft(dir string) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if left.MatchString(e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// write writes the content and puts the file into its place.
func (o *output) write(content func(w io.Writer) error) (err error) {
	if o.open == nil {
		if err = o.create(); err != nil {
			return err
		}
	}
	defer o.remove()
	if err = content(o); err == nil {
		err = o.finish()
	}
	if e := o.close(); err == nil {
		err = e
	}
	if err == nil && o.part != "" {
		err = o.put()
	}
	return err
}

// create opens the file that gets the content: beside its place or, if that is impossible and
// there is an old file to overwrite, in the folder for temporary files.
func (o *output) create() (err error) {
	if o.direct {
		o.open, err = os.OpenFile(o.path, os.O_WRONLY, 0)
		return err
	}
	mode := fs.FileMode(0o666)
	if o.secret || o.old != nil {
		mode = 0o600 // finish sets the mode of the old file
	}
	o.part = beside(o.path, unused())
	o.open, err = os.OpenFile(o.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil && o.old != nil {
		o.part = filepath.Join(os.TempDir(), unused())
		o.open, err = os.OpenFile(o.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	}
	return withPath(o.name, err)
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.open.Write(b)
	return n, withPath(o.name, err)
}

// finish gives the new file the owner and the mode of the old one, and stores its content.
func (o *output) finish() error {
	if o.part == "" {
		return nil
	}
	if o.old != nil && !o.secret {
		keepOwner(o.open, o.old)
		if err := o.open.Chmod(o.old.Mode().Perm()); err != nil {
			return withPath(o.name, err)
		}
	}
	return withPath(o.name, sync(o.open))
}

// sync stores the content of a file, where the file system can be asked for that.
func sync(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// close closes the open file, if any.
func (o *output) close() error {
	if o.open == nil {
		return nil
	}
	return withPath(o.name, o.open.Close())
}

// put puts the new file into its place.
func (o *output) put() error {
	err := os.Rename(o.part, o.path)
	switch {
	case err == nil:
		o.part = ""
		return nil
	case o.old == nil:
		return withPath(o.name, err)
	}
	from, err := os.Open(o.part)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(o.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return withPath(o.name, err)
	}
	_, err = io.Copy(to, from)
	return withPath(o.name, errors.Join(err, sync(to), to.Close()))
}

// remove removes a file that has not come into its place.
func (o *output) remove() {
	if o.part != "" {
		os.Remove(o.part) // the error that led here counts
	}
}

// RemoveAll removes a folder, also if somebody has removed the rights for that; "" is none.
func RemoveAll(dir string) {
	if dir == "" || os.RemoveAll(dir) == nil {
		return
	}
	if root, err := os.OpenRoot(filepath.Dir(dir)); err == nil {
		fs.WalkDir(root.FS(), filepath.Base(dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				root.Chmod(path, 0o700) // WalkDir reads the entries after this call
			}
			return nil
		})
		root.Close()
	}
	os.RemoveAll(dir)
}

// WriteFolder writes a folder of files as a whole or not at all, in the way of Write. A folder
// of that name is replaced if replaces returns no error.
func WriteFolder(name string, replaces func() error, write func(create func(file string) (io.WriteCloser, error)) error) error {
	path, old, err := follow(name)
	if err != nil {
		return err
	}
	part := beside(path, unused())
	if err := os.Mkdir(part, 0o777); err != nil {
		return withPath(name, err)
	}
	err = write(func(file string) (io.WriteCloser, error) {
		file = filepath.Join(part, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
		return os.Create(file)
	})
	if err == nil && old != nil {
		err = os.Chmod(part, old.Mode().Perm())
	}
	if err == nil {
		err = swap(part, path, replaces)
	}
	if err != nil {
		os.RemoveAll(part)
	}
	return err
}

// swap gives a folder its name, and removes the folder that had the name. Another process may
// do the same. After an error the old folder is in its place.
func swap(part, path string, replaces func() error) (err error) {
	aside := beside(path, unused())
	defer func() {
		if err != nil {
			_ = os.Rename(aside, path) // fails if no folder was moved
		}
		_ = os.RemoveAll(aside)
	}()
	for {
		err := os.Rename(part, path)
		if err == nil {
			return nil
		}
		if s, e := os.Stat(path); !errors.Is(err, fs.ErrExist) && (e != nil || !s.IsDir()) {
			return withPath(path, err)
		}
		if err := replaces(); err != nil {
			return err
		}
		if err := os.RemoveAll(aside); err != nil { // the folder of another process, which this one has moved before
			return err
		}
		if err := os.Rename(path, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return withPath(path, err)
		}
	}
}
