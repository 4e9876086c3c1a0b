package filelock

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"time"
)

// holder is what a lock file says of the process that made it.
type holder struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Space   string    `json:"pid_namespace"` // "": the system has none
	Started string    `json:"started"`       // of the process, in the system's own form; "": not known
	Since   time.Time `json:"since"`
	Token   string    `json:"token"` // of this lock alone
}

// self is the holder of a new lock of this process.
func self() holder {
	host, _ := os.Hostname() // "" if it is not known: then no lock is one of this machine
	pid := os.Getpid()
	return holder{host, pid, namespace(), started(pid), time.Now().UTC().Truncate(time.Second), rand.Text()}
}

func (h holder) encode() string {
	text, _ := json.Marshal(h) // of texts and numbers: cannot fail
	return string(text) + "\n"
}

// decode reads a lock file. It is false for one that is damaged or not whole yet.
func decode(text []byte) (h holder, ok bool) {
	err := json.Unmarshal(text, &h)
	return h, err == nil && h.Host != "" && h.PID > 0
}

// ended reports whether the process is known to have ended: it was one of this machine,
// and no process has its number, or one that was started at another time.
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
