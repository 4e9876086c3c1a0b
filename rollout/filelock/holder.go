package filelock

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"time"
)

// holder is the content of a lock file: the process that made it.
type holder struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Space   string    `json:"pid_namespace"` // "" if the system has none
	Started string    `json:"started"`       // of the process, in the system's own format; "" if unknown
	Since   time.Time `json:"since"`
	Token   string    `json:"token"` // unique to this lock
}

// self returns the holder of a new lock of this process.
func self() holder {
	host, _ := os.Hostname() // "" if unknown: then no lock belongs to this machine
	pid := os.Getpid()
	return holder{host, pid, namespace(), started(pid), time.Now().UTC().Truncate(time.Second), rand.Text()}
}

func (h holder) encode() string {
	text, _ := json.Marshal(h) // strings and numbers only: cannot fail
	return string(text) + "\n"
}

// decode reads a lock file. ok is false if it is damaged or incomplete.
func decode(text []byte) (h holder, ok bool) {
	err := json.Unmarshal(text, &h)
	return h, err == nil && h.Host != "" && h.PID > 0
}

// ended reports whether the process has certainly ended: it was on this machine, and its number is
// free or belongs to a process with another start time.
func (h holder) ended() bool {
	own := self()
	if h.Host != own.Host || h.Space != own.Space {
		return false
	}
	if !alive(h.PID) {
		return true
	}
	now := started(h.PID)
	return h.Started != "" && now != "" && h.Started != now
}
