package child

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// plan is a Box with absolute paths without links, as its guard makes it.
type plan struct {
	Folder string   // ""; none
	Shown  []string // files and folders to show below those that are hidden
	Hidden []string // folders that are empty in the box
	Port   int      // of TCP: the only one that the bot connects to, or in namespaces any number but 0; 0: none
	Means  Means
}

// plan finds the paths of the box.
func (b *Box) plan(means Means, strict bool, own *BoxFolders) (*plan, error) {
	p := &plan{Means: means}
	if means == Landlock && b.Program.Typed && b.Program.Folder == "" {
		return p, nil // what is in the current folder may be anything of the user's
	}
	folder, err := filepath.Abs(cmp.Or(b.Program.Folder, b.Program.Dir, "."))
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	if (strict || means == Landlock) && below(home, folder) {
		return nil, fmt.Errorf("the bot's folder is %s, in which your home is; expected a folder of the bot's own for this box", folder)
	}
	for _, output := range own.Hidden {
		if means == Landlock && below(realPath(output), folder) {
			return nil, fmt.Errorf("the bot could change %s, which is in its folder; expected outputs elsewhere for a box of Landlock", output)
		}
	}
	if filepath.Dir(folder) != folder { // not the root
		p.Folder = folder
	}
	p.Hidden = hidden(strict, own.Hidden, p.within)
	for _, path := range b.shown(strict, own) {
		if all, err := filepath.Abs(path); err == nil {
			for _, path := range []string{all, realPath(all)} {
				if _, err := os.Stat(path); err == nil && below(path, append(p.Hidden, "/tmp")...) {
					p.Shown = append(p.Shown, path)
				}
			}
		}
	}
	return p, nil
}

// shown returns what the box shows if it lies in a folder that is hidden.
func (b *Box) shown(strict bool, own *BoxFolders) (list []string) {
	path, dir, err := b.Program.find()
	if err != nil {
		return nil // Run says it
	}
	if b.Program.Typed || !strict {
		list = append(list, path)
		for _, arg := range b.Program.Args[1:] {
			if !filepath.IsAbs(arg) {
				arg = filepath.Join(dir, arg)
			}
			if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
				list = append(list, arg)
			}
		}
	}
	for _, variable := range os.Environ() { // such as PATH, PYTHONPATH or the library of a bot
		name, value, _ := strings.Cut(variable, "=")
		for _, path := range filepath.SplitList(value) {
			if path != "/tmp" && below(path, "/tmp") && (!strict || name == "PATH") {
				list = append(list, path)
			}
		}
	}
	if strict {
		home, _ := os.UserHomeDir()
		list = slices.Concat(list, own.Shown, b.Program.installed(), []string{"/var/lib/ghc", "/var/lib/gems", filepath.Join(home, ".rustup")})
	}
	return list
}

// within reports whether a path is below the bot's folder.
func (p *plan) within(path string) bool {
	return p.Folder != "" && path != p.Folder && below(path, p.Folder)
}

// realPath returns a path without links, or the path itself.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// homes are folders of people and their data, which a strict box hides.
var homes = []string{"/home", "/root", "/mnt", "/media", "/srv", "/var/tmp", "/var/lib", "/var/mail", "/var/spool"}

// systems are folders of programs, which a strict box shows, with all that is mounted below them.
var systems = []string{"/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/gnu", "/snap"}

// below reports whether a path is one of the folders or below one.
func below(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(of string) bool { return path == of || strings.HasPrefix(path, strings.TrimSuffix(of, "/")+"/") })
}

// unescaped undoes the escapes of paths in /proc/self/mounts: proc(5).
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#")

// mounts returns what is mounted outside of systems, if all are asked for, and other mounts of /proc, which show all processes.
func mounts(all bool) (list []string) {
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		at := unescaped.Replace(fields[1])
		if fields[2] == "proc" && at != "/proc" || all && at != "/" && !below(at, "/tmp") && !below(at, systems...) {
			list = append(list, at)
		}
	}
	return list
}

// hidden returns the folders that are empty in a box: /run, where services listen, and in a strict
// box those of people, all that is mounted outside of systems, and more. A folder in one of these is
// left out, unless it is within the bot's folder, which is shown.
func hidden(strict bool, more []string, within func(path string) bool) (list []string) {
	list = append(mounts(strict), "/run")
	if strict {
		list = append(append(list, homes...), more...)
		if home, err := os.UserHomeDir(); err == nil {
			list = append(list, home)
		}
	}
	for i := range list {
		list[i] = realPath(list[i])
	}
	list = slices.DeleteFunc(list, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || !info.IsDir() || path == "/" || below(path, "/tmp") && !within(path)
	})
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(slices.Clone(list), func(path string) bool {
		return !within(path) && slices.ContainsFunc(list, func(of string) bool { return path != of && below(path, of) })
	})
}

// languages are the programs that scripts of bots start.
var languages = []string{"python3", "python", "python2", "node", "java", "dotnet", "mono", "julia", "ruby", "php", "perl", "go", "bash", "sh"}

// installed returns the folders of the program's interpreter, and of others that a script may start, as
// far as they are installed in a home, as pyenv, conda and nvm do. A strict box shows them.
func (p *Program) installed() (list []string) {
	path, _, err := p.find()
	if err != nil {
		return nil
	}
	names := []string{filepath.Base(path)}
	if p.Typed {
		names[0] = path
	}
	for _, word := range strings.Fields(strings.TrimPrefix(firstLine(path), "#!")) {
		names = append(names, filepath.Base(word)) // the author of the bot may name any file
	}
	home, _ := os.UserHomeDir()
	for _, name := range append(names, languages...) {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		real, _ := filepath.EvalSymlinks(found)
		for _, file := range []string{found, real} {
			dir := filepath.Dir(file)
			if all := filepath.Dir(dir); slices.Contains([]string{"bin", "shims"}, filepath.Base(dir)) && !below(home, all) && filepath.Base(all) != ".local" {
				dir = all
			}
			if filepath.IsAbs(file) && below(dir, append(homes, home)...) && !below(home, dir) && !below(dir, list...) {
				list = append(list, dir)
			}
		}
	}
	return list
}
