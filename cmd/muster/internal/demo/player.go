package demo

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/musterkafka/muster/client"
	"github.com/musterkafka/muster/groupmember"
)

// player is one member of the group, in this process, with a network of its
// own so that it can crash.
type player struct {
	name     string
	net      *network
	cl       *client.Client
	consumer *client.Consumer
	stop     context.CancelFunc
	wg       sync.WaitGroup
	owns     chan struct{} // closed at the first assignment
	ended    chan struct{} // closed when reading has ended
	err      error         // why reading ended; valid after that
}

// stage is what all players share.
type stage struct {
	cfg    Config
	topic  string
	group  string
	board  *board
	ledger *ledger
}

// enter starts a member: it joins the group and reads until stopped.
func (s *stage) enter(ctx context.Context, name string) (*player, error) {
	p := &player{name: name, net: &network{}, owns: make(chan struct{}), ended: make(chan struct{})}
	var err error
	p.cl, err = client.New(client.Config{Brokers: s.cfg.Brokers, ClientID: name, Logger: s.logger(name, p.net), Dial: p.net.dial})
	if err != nil {
		return nil, err
	}
	consumerConfig := client.ConsumerConfig{Group: s.group, Topics: []string{s.topic}, Trace: s.trace(p)}
	consumerConfig.Classic.SessionTimeout = s.cfg.SessionTimeout
	consumerConfig.Classic.HeartbeatInterval = min(500*time.Millisecond, s.cfg.SessionTimeout/3)
	consumerConfig.CommitInterval = 500 * time.Millisecond
	p.consumer, err = p.cl.Consumer(consumerConfig)
	if err != nil {
		return nil, err
	}
	s.board.update(name, func(r *row) { r.Status = joining })
	ctx, p.stop = context.WithCancel(ctx)
	p.wg.Go(func() {
		defer close(p.ended)
		p.err = s.read(ctx, p)
	})
	return p, nil
}

// logger is where warnings of a client go. With a network that is dead the
// client says nothing more, as a crashed process would.
func (s *stage) logger(name string, net *network) *slog.Logger {
	w := newsWriter{board: s.board, name: name, net: net}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: shorten}))
}

// read is what any application does: a loop over records.
func (s *stage) read(ctx context.Context, p *player) error {
	for rec, err := range p.consumer.Records(ctx) {
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		number, err := strconv.Atoi(string(rec.Value))
		if err != nil {
			return fmt.Errorf("%s read a record that the demo did not write: %w", p.name, err)
		}
		s.ledger.read(number)
		s.board.update(p.name, func(r *row) { r.Records++ })
	}
	return nil
}

func (s *stage) trace(p *player) *client.ConsumerTrace {
	owns := sync.OnceFunc(func() { close(p.owns) })
	return &client.ConsumerTrace{
		Assigned: func(generation int32, _, owned groupmember.Partitions) {
			s.board.update(p.name, func(r *row) {
				r.Status, r.Generation, r.Owned = member, generation, owned[s.topic]
			})
			s.board.tell("%s owns %s in generation %d", p.name, ranges(owned[s.topic]), generation)
			owns()
		},
		Revoked: func(groupmember.Partitions, bool) {
			s.board.update(p.name, func(r *row) { r.Owned = nil })
		},
	}
}

// leave ends the member politely.
func (s *stage) leave(ctx context.Context, p *player) error {
	p.stop()
	p.wg.Wait()
	err := p.consumer.Close(ctx)
	s.board.update(p.name, func(r *row) { r.Status, r.Owned = left, nil })
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return p.cl.Close()
}

// crash ends the member as kill -9 would: its network is gone before it can
// commit or leave.
func (s *stage) crash(p *player) {
	p.net.cut()
	p.stop()
	p.wg.Wait()
	s.board.update(p.name, func(r *row) { r.Status, r.Owned = crashed, nil })
}

// bury frees what a crashed member left in this process. Its good-byes cannot
// reach anybody, and are not expected to.
func bury(p *player) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = p.consumer.Close(ctx)
	_ = p.cl.Close()
}
