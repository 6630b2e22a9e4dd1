package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/musterkafka/muster/bench/member"
	"github.com/musterkafka/muster/client"
)

// cost is what a process has.
type cost struct {
	Goroutines  int
	ResidentKiB float64
	HeapKiB     float64 // reachable
	StacksKiB   float64
	Connections int
}

func (c cost) minus(d cost) cost {
	return cost{
		c.Goroutines - d.Goroutines, c.ResidentKiB - d.ResidentKiB,
		c.HeapKiB - d.HeapKiB, c.StacksKiB - d.StacksKiB, c.Connections - d.Connections,
	}
}

// A variant is one way to have many members. begin returns what starts one.
type variant struct {
	name  string
	begin func(settings) (func(member.Options, member.Events) (stop func(), err error), error)
}

func variants() []variant {
	var list []variant
	for _, c := range member.Clients() {
		name := c.Name
		if name == "muster" {
			name = "muster, a Client each"
			list = append(list, variant{"muster, one Client", shareClient})
		}
		list = append(list, variant{name, func(settings) (func(member.Options, member.Events) (func(), error), error) { return c.Start, nil }})
	}
	return list
}

func shareClient(s settings) (func(member.Options, member.Events) (stop func(), err error), error) {
	cl, err := client.New(client.Config{Brokers: []string{s.Broker}})
	if err != nil {
		return nil, err
	}
	return func(o member.Options, e member.Events) (func(), error) { return member.StartMusterOn(cl, o, e) }, nil
}

// measureHere starts the members of one client in this process and prints what they cost.
func measureHere(ctx context.Context, s settings) error {
	all := variants()
	i := slices.IndexFunc(all, func(v variant) bool { return v.name == s.Client })
	if i < 0 {
		return fmt.Errorf("-child: no client %q", s.Client)
	}
	runtime.GC()
	before, err := costNow()
	if err != nil {
		return err
	}
	start, err := all[i].begin(s)
	if err != nil {
		return err
	}
	ready := make(chan struct{}, s.Members)
	events := member.Events{
		Assigned: func(parts []int32) {
			if len(parts) > 0 {
				ready <- struct{}{}
			}
		},
		Revoked: func([]int32) {}, Cleared: func() {}, Record: func(int32) {},
	}
	for n := range s.Members {
		protocol := member.Cooperative
		if s.Client == "kafka-go" {
			protocol = member.Eager
		}
		o := member.Options{Broker: s.Broker, Topic: s.Topic, Group: fmt.Sprintf("%s-%s-%d", s.Topic, s.Client, n), Protocol: protocol}
		if _, err := start(o, events); err != nil { // they end with the process
			return err
		}
	}
	for n := range s.Members {
		select {
		case <-ready:
		case <-time.After(time.Minute):
			return fmt.Errorf("%d of %d members have no partition", s.Members-n, s.Members)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	time.Sleep(s.Rest)
	runtime.GC()
	after, err := costNow()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(after.minus(before))
}

func costNow() (cost, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c := cost{Goroutines: runtime.NumGoroutine(), HeapKiB: float64(m.HeapAlloc) / 1024, StacksKiB: float64(m.StackInuse) / 1024}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return cost{}, fmt.Errorf("read the resident memory, which only Linux tells: %w", err)
	}
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(resident, &c.ResidentKiB); err != nil {
		return cost{}, fmt.Errorf("read the resident memory: %w", err)
	}
	c.Connections, err = sockets()
	return c, err
}

// sockets counts the sockets of this process.
func sockets() (n int, err error) {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, fmt.Errorf("count connections: %w", err)
	}
	for _, f := range files {
		target, err := os.Readlink("/proc/self/fd/" + f.Name())
		if errors.Is(err, os.ErrNotExist) {
			continue // it was the one of the folder
		}
		if err != nil {
			return 0, fmt.Errorf("count connections: %w", err)
		}
		if strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n, nil
}
