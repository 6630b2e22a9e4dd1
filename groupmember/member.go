package groupmember

import "time"

// Member is one group member.
type Member struct{}

// New returns a member that waits for Start, or what is wrong with cfg.
func New(cfg Config) (*Member, error) { return &Member{}, cfg.Validate() }

// Step applies ev.
func (m *Member) Step(now time.Time, ev Event, out []Action) []Action { return out }

// Deadline returns when to Step an Elapsed.
func (m *Member) Deadline() time.Time { return time.Time{} }

// Trusted returns until when the member may assume its membership.
func (m *Member) Trusted() time.Time { return time.Time{} }

// Status returns what the member knows of itself.
func (m *Member) Status() Status { return Status{} }
