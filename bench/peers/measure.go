package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/musterkafka/muster/bench/member"
)

// settings say what to measure.
type settings struct {
	broker string
	runs   int
	atOnce int
	only   []string // clients; none means all
	cases  []string
	file   string
}

// variant is one client with one protocol.
type variant struct {
	client   string
	protocol member.Protocol
}

// variants are all that are measured, those to be compared one after the other.
func (s settings) variants(java bool) []variant {
	var list []variant
	for _, protocol := range []member.Protocol{member.Cooperative, member.Eager} {
		all := clients()
		if java {
			all = append(all, member.Client{Name: javaName, Protocols: []member.Protocol{member.Cooperative, member.Eager}})
		}
		for _, c := range all {
			if c.Has(protocol) && (len(s.only) == 0 || slices.Contains(s.only, c.Name)) {
				list = append(list, variant{c.Name, protocol})
			}
		}
	}
	return list
}

// measureAll measures what the file does not have yet.
func measureAll(ctx context.Context, s settings) error {
	done, err := readFigures(s.file)
	if err != nil {
		return err
	}
	var java []string
	if len(s.only) == 0 || slices.Contains(s.only, javaName) {
		if java, err = prepareJava(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "peers: without Java:", err)
		}
	}
	cl, err := dial(s.broker)
	if err != nil {
		return err
	}
	defer cl.Close()
	m := &measurement{settings: s, java: java, admin: cl, done: done}
	for _, runs := range s.batches() {
		for _, v := range s.variants(java != nil) {
			if err := m.pairs(ctx, v, runs); err != nil {
				return err
			}
			for _, run := range runs {
				if err := m.crowd(ctx, v, run); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// batches are the runs that are measured at the same time. Each sweeps the phase, so that a
// file that is not complete is not one-sided.
func (s settings) batches() [][]int {
	batches := make([][]int, (s.runs+s.atOnce-1)/s.atOnce)
	for run := range s.runs {
		i := run % len(batches)
		batches[i] = append(batches[i], run)
	}
	return batches
}

// measurement is one run of this program.
type measurement struct {
	settings
	java  []string // the command that runs Java's tasks; nil if there is none
	admin *kgo.Client
	done  []figure
}

// wants reports whether a case of a run is to be measured.
func (m *measurement) wants(what string, v variant, run int) bool {
	last := map[string]string{casePair: "close", caseCrowd: "disperse"}[what]
	return slices.Contains(m.cases, what) && !slices.ContainsFunc(m.done, func(f figure) bool {
		return f.Client == v.client && f.Protocol == v.protocol && f.Run == run && (f.Name == last || f.Name == what)
	})
}

// pairs measures runs at the same time.
func (m *measurement) pairs(ctx context.Context, v variant, runs []int) (err error) {
	t := task{Case: casePair, Client: v.client, Protocol: v.protocol, Broker: m.broker}
	for _, run := range runs {
		if m.wants(casePair, v, run) {
			name := m.name(v, run)
			t.Groups = append(t.Groups, group{name, name, run, interval * time.Duration(run) / time.Duration(m.runs)})
		}
	}
	if len(t.Groups) == 0 {
		return nil
	}
	for _, g := range t.Groups {
		if err := createTopic(ctx, m.admin, g.Topic, pairPartitions); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, deleteTopic(ctx, m.admin, g.Topic)) }()
	}
	writing, stop := context.WithCancel(ctx)
	writer := t
	writer.Case = casePace
	cmd, err := command(writing, writer)
	if err != nil {
		stop()
		return err
	}
	if err := cmd.Start(); err != nil {
		stop()
		return err
	}
	defer func() {
		stop()
		_ = cmd.Wait() // killed
	}()
	time.Sleep(2 * time.Second) // until it writes steadily
	return m.do(ctx, t)
}

func (m *measurement) crowd(ctx context.Context, v variant, run int) (err error) {
	if !m.wants(caseCrowd, v, run) {
		return nil
	}
	name := m.name(v, run)
	if err := createTopic(ctx, m.admin, name, crowdPartitions); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, deleteTopic(ctx, m.admin, name)) }()
	return m.do(ctx, task{Case: caseCrowd, Client: v.client, Protocol: v.protocol, Broker: m.broker, Groups: []group{{name, name, run, 0}}})
}

// name is one that no group or topic has had.
func (m *measurement) name(v variant, run int) string {
	return fmt.Sprintf("peers-%s-%s-%d-%d", v.client, v.protocol, run, time.Now().UnixNano())
}

// do has a task done in a process of its own, and writes down the figures.
func (m *measurement) do(ctx context.Context, t task) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience+time.Minute, errors.New("the process hangs"))
	defer cancel()
	cmd, err := command(ctx, t)
	if t.Client == javaName {
		cmd, err = javaCommand(ctx, m.java, t), nil
	}
	if err != nil {
		return err
	}
	out, err := cmd.Output()
	if err := m.keep(out); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s, %s, %s: %w", t.Case, t.Client, t.Protocol, errors.Join(err, context.Cause(ctx)))
	}
	return nil
}

// keep appends the figures in the output of a task to the file.
func (m *measurement) keep(output []byte) error {
	file, err := os.OpenFile(m.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(output) {
		if bytes.HasPrefix(line, []byte("{")) { // clients print too
			kept.Write(line)
		}
	}
	_, err = os.Stderr.Write(kept.Bytes())
	_, wrote := file.Write(kept.Bytes())
	return errors.Join(err, wrote, file.Close())
}

// command runs a task with this program.
func command(ctx context.Context, t task) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", string(encoded))
	cmd.Env = append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off")
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// readFigures reads the file; there need not be one.
func readFigures(name string) ([]figure, error) {
	content, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var figures []figure
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	for lines.Scan() {
		var f figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		figures = append(figures, f)
	}
	return figures, nil
}
