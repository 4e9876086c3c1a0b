package farm

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// denied fails the test unless the server denies the actions of do.
func denied(t *testing.T, nc *nats.Conn, what string, do func() error) {
	t.Helper()
	said := make(chan error, 16)
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case said <- err:
		default:
		}
	})
	require.NoError(t, do(), what)
	select {
	case err := <-said:
		assert.ErrorIsf(t, err, nats.ErrPermissionViolation, "%s: %v, want a violation of permissions", what, err)
	case <-time.After(time.Minute):
		t.Errorf("%s: the server denies nothing", what)
	}
}

// TestRights: credentials of a role allow exactly the subjects of that role.
func TestRights(t *testing.T) {
	f := newFarm(t)
	s := spec(60, 5, time.Hour)
	worker := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w1"})
	people := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w1", Credentials: f.key(), Role: RoleOperator}) // the same name
	_, err := NewClient(people).Submit(f.ctx, s)
	require.NoError(t, err)
	ask := func(c *Conn, subject string, body any) func() error {
		return func() error {
			data, err := json.Marshal(body)
			require.NoError(t, err)
			if err := c.nc.PublishRequest(subject, c.inbox+".x", data); err != nil {
				return err
			}
			return c.nc.Flush()
		}
	}
	listen := func(c *Conn, subject string) func() error {
		return func() error {
			if _, err := c.nc.SubscribeSync(subject); err != nil {
				return err
			}
			return c.nc.Flush()
		}
	}
	for _, c := range []*Conn{worker, people} {
		for what, do := range map[string]func() error{
			"deletes a stream":           ask(c, "$JS.API.STREAM.DELETE.moonfarm-notes", nil),
			"makes a stream":             ask(c, "$JS.API.STREAM.CREATE.mine", jetstream.StreamConfig{Name: "mine", Subjects: []string{">"}}),
			"purges records":             ask(c, "$JS.API.STREAM.PURGE.KV_moonfarm-runs", nil),
			"reads records":              ask(c, "$JS.API.DIRECT.GET.KV_moonfarm-runs", nil),
			"writes a record":            ask(c, "$KV.moonfarm-workers.w1", workerRecord{}),
			"writes a failure":           ask(c, "moonfarm.failure", Failure{}),
			"reads all":                  listen(c, ">"),
			"reads all inboxes":          listen(c, "_INBOX.>"),
			"reads what workers say":     listen(c, workerSubject+">"),
			"answers for a coordinator":  listen(c, clientSubject+"status"),
			"takes part in the system":   listen(c, "$SYS.>"),
			"speaks into another's name": ask(c, workerSubject+"claim.w2", &request{Version: testVersion}),
		} {
			t.Run(c.role+" "+what, func(t *testing.T) {
				denied(t, c.nc, c.role+" "+what, do)
			})
		}
	}
	denied(t, worker.nc, "a worker submits", ask(worker, clientSubject+"submit", &request{Spec: spec(61, 5, 0)}))
	denied(t, worker.nc, "a worker cancels", ask(worker, clientSubject+"cancel", &request{Claim: tracker.Claim{Run: s.ID()}}))
	denied(t, worker.nc, "a worker asks for the status", ask(worker, clientSubject+"status", &request{}))
	denied(t, worker.nc, "a worker reads an operator's inbox", listen(worker, people.inbox+".>"))
	denied(t, people.nc, "an operator commits", ask(people, workerSubject+"commit.w1", &request{}))
	denied(t, people.nc, "an operator reads a worker's inbox", listen(people, worker.inbox+".>"))
	st := f.status()
	assert.Truef(t, len(st.Runs) == 1 && st.Runs[0].State == Running, "the status has %+v", st.Runs)
	a, err := f.raw(worker, "claim", &request{Slots: 1, Wait: 5000})
	require.NoErrorf(t, err, "a worker claims: %+v", a)
	assert.NotNilf(t, a.Claim, "a worker claims: %+v", a)
}
