package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// metadata keeps the newest cluster. Its one goroutine starts when metadata is
// first asked for; it alone sends the requests and publishes the answers.
type metadata struct {
	cl      *Client
	current atomic.Pointer[cluster]
	nudge   chan struct{} // room for one; the loop looks at schedule again
	wg      sync.WaitGroup

	mu       sync.Mutex
	started  bool
	closed   bool
	watched  map[string]int // topics, with how many watch each
	patterns map[*subscription]struct{}
	schedule schedule
	number   uint64        // of the last request
	began    time.Time     // when that began
	running  bool          // that request is on its way
	why      string        // one reason for the next request
	next     chan struct{} // closed at the next new cluster
	attempts []Attempt     // one for each seed
}

func newMetadata(cl *Client) *metadata {
	m := &metadata{
		cl:       cl,
		nudge:    make(chan struct{}, 1),
		watched:  make(map[string]int),
		patterns: make(map[*subscription]struct{}),
		schedule: schedule{maxAge: cl.cfg.MetadataMaxAge},
		next:     make(chan struct{}),
		attempts: make([]Attempt, len(cl.seeds)),
	}
	for i, seed := range cl.seeds {
		m.attempts[i].Addr = seed
	}
	m.current.Store(&cluster{controller: -1})
	return m
}

// snapshot returns the newest cluster; it is empty before the first answer,
// never nil.
func (cl *Client) snapshot() *cluster { return cl.meta.current.Load() }

// changed returns a channel that is closed at the next new snapshot.
func (cl *Client) changed() <-chan struct{} {
	m := cl.meta
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next
}

// watch keeps topics in the snapshot until release is called, which may be done
// more than once. A topic that nobody has watched before is asked for soon.
func (cl *Client) watch(topics []string) (release func()) {
	m := cl.meta
	topics = slices.Clone(topics)
	isNew := false
	m.mu.Lock()
	for _, name := range topics {
		m.watched[name]++
		isNew = isNew || m.watched[name] == 1
	}
	m.mu.Unlock()
	if isNew {
		cl.refresh("a topic is new")
	}
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, name := range topics {
			if m.watched[name]--; m.watched[name] == 0 {
				delete(m.watched, name)
			}
		}
	})
}

// watchPatterns keeps what matches the patterns of s in the snapshot until release
// is called, which may be done more than once. The first answer that has them is
// the one with that number.
func (cl *Client) watchPatterns(s *subscription) (number uint64, release func()) {
	if len(s.patterns) == 0 {
		return 0, func() {}
	}
	m := cl.meta
	m.mu.Lock()
	m.patterns[s] = struct{}{}
	m.mu.Unlock()
	number = m.ask("topics are wanted by pattern", false)
	return number, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.patterns, s)
	}
}

// refresh asks for new metadata soon. It does not wait. Calls are coalesced,
// and one that comes while a request is on its way causes another one, since
// that one may have been answered before what the caller has seen.
func (cl *Client) refresh(why string) { cl.meta.ask(why, false) }

// fresh returns a snapshot that was asked for after the call, with topics in it.
func (cl *Client) fresh(ctx context.Context, topics []string) (*cluster, error) {
	release := cl.watch(topics)
	defer release()
	number := cl.meta.ask("fresh metadata is needed", false)
	return cl.await(ctx, func(c *cluster) bool { return c.number >= number })
}

// recentMetadata is how old metadata may be that a plan is made of. The rounds of a
// group come close after one another, and requests are spaced (see schedule): to
// wait for new metadata in each would cost more time than the rounds themselves. What has
// changed meanwhile, the leader's watch finds.
const recentMetadata = time.Second

// recent returns a snapshot that describes topics and was asked for not long ago, else one that is
// asked for after the call.
func (cl *Client) recent(ctx context.Context, topics []string) (*cluster, error) {
	if c := cl.snapshot(); time.Since(c.asked) < recentMetadata && c.describes(topics) {
		return c, nil
	}
	return cl.fresh(ctx, topics)
}

// await returns the first snapshot that ok accepts, and refreshes until there
// is one. It fails when ctx ends, when the Client is closed, and with a
// *BootstrapError when no broker has answered yet within
// Config.BootstrapTimeout.
func (cl *Client) await(ctx context.Context, ok func(*cluster) bool) (*cluster, error) {
	start := time.Now()
	var tooLate <-chan time.Time
	for {
		changed := cl.changed()
		c := cl.snapshot()
		if c.number > 0 && ok(c) {
			return c, nil
		}
		if c.number == 0 && tooLate == nil {
			tooLate = time.After(cl.cfg.BootstrapTimeout)
		} else if c.number > 0 {
			tooLate = nil
		}
		cl.meta.ask("somebody waits", true)
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, cl.meta.missed(start, context.Cause(ctx))
		case <-cl.life.Done():
			return nil, context.Cause(cl.life)
		case <-tooLate:
			return nil, cl.meta.missed(start, nil)
		}
	}
}

// missed is why an await that began at start was in vain; cause is nil if the
// bootstrap timeout has passed.
func (m *metadata) missed(start time.Time, cause error) error {
	if m.current.Load().number > 0 {
		return fmt.Errorf("waiting for metadata: %w", cause)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return &BootstrapError{Waited: time.Since(start), Attempts: slices.Clone(m.attempts), Err: cause}
}

// ask makes the loop send a request and returns the number of the first one
// that will begin after the call. With idle it does nothing while one is on its
// way.
func (m *metadata) ask(why string, idle bool) uint64 {
	m.mu.Lock()
	if !m.started && !m.closed {
		m.started = true
		m.wg.Go(m.loop)
	}
	if !(idle && m.running) && m.schedule.ask(time.Now()) {
		m.why = why
	}
	number := m.number + 1
	m.mu.Unlock()
	select {
	case m.nudge <- struct{}{}:
	default: // it will look anyway
	}
	return number
}

// learn adds a broker that another answer has named before any metadata did.
func (m *metadata) learn(b broker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.current.Load(); c.number > 0 {
		m.current.Store(c.with(b))
	}
}

// loop sends a request whenever the schedule says so, until the Client ends.
func (m *metadata) loop() {
	for {
		m.mu.Lock()
		wait := time.Until(m.schedule.due())
		m.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-m.cl.life.Done():
			timer.Stop()
			return
		case <-m.nudge:
			timer.Stop()
		case <-timer.C:
			m.round(m.cl.life)
		}
	}
}

// round sends one request, to one broker after the other until there is an
// answer, and publishes what it says.
func (m *metadata) round(ctx context.Context) {
	number, asked := m.begin()
	resp, err := askInTurn(ctx, m.cl.metadataSources(), func(ctx context.Context, node int32) (*kmsg.MetadataResponse, error) {
		resp, err := m.cl.requestMetadata(ctx, node, asked)
		if !errors.Is(context.Cause(ctx), errAnswered) {
			m.tried(node, err)
		}
		return resp, err
	})
	if context.Cause(ctx) != nil {
		return
	}
	m.finish(number, asked, resp, err)
}

// begin takes the next number and the topics to ask for.
func (m *metadata) begin() (number uint64, asked scope) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	m.began = time.Now()
	m.running = true
	if !m.schedule.wanted {
		m.why = "it is old"
	}
	m.schedule.begin()
	for name := range m.watched {
		asked.topics = append(asked.topics, name)
	}
	slices.Sort(asked.topics)
	asked.patterns = slices.Collect(maps.Keys(m.patterns))
	return m.number, asked
}

// finish publishes the answer, or takes note of the failure.
func (m *metadata) finish(number uint64, asked scope, resp *kmsg.MetadataResponse, err error) {
	m.mu.Lock()
	before := m.schedule.failures
	m.running = false
	m.schedule.end(time.Now(), err == nil)
	why := m.why
	var next chan struct{}
	if err == nil {
		c := m.current.Load().apply(number, asked, resp)
		c.asked = m.began
		m.current.Store(c)
		next, m.next = m.next, make(chan struct{})
		if c.awaits() && m.schedule.ask(time.Now()) {
			m.why = "a topic is not there yet"
		}
	}
	m.mu.Unlock()
	if err != nil {
		if before == 0 {
			m.cl.log.Warn("cannot get metadata from any broker, trying on", "error", err)
		}
		return
	}
	close(next)
	if before > 0 {
		m.cl.log.Info("metadata is there again", "failures", before)
	}
	m.cl.log.Debug("metadata", "why", why, "brokers", len(resp.Brokers), "topics", len(resp.Topics))
	m.cl.pool.drop(func(key connKey) bool { return key.node < 0 }, errNoSeed)
	m.cl.pool.prune(func(node int32) bool { _, ok := m.current.Load().broker(node); return ok })
}

// tried takes note of what became of a seed.
func (m *metadata) tried(node int32, err error) {
	if node >= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts[seedIndex(node)].Err = err
}

func (m *metadata) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.wg.Wait()
}
