package history_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/history"
)

// A member that is stepped by hand is recorded, and what was recorded is replayed.
// A Consumer is recorded with ConsumerConfig.History.
func Example() {
	cfg := groupmember.Config{Group: "billing", Seed: 7}
	member, err := groupmember.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	recorder := history.NewRecorder(&file, func(err error) { fmt.Println(err) })
	recorder.Begin(now, cfg)
	for _, ev := range []groupmember.Event{groupmember.Start{}, groupmember.Found{Seq: 1}} {
		now = now.Add(time.Millisecond)
		recorder.Step(now, ev, member.Step(now, ev, nil))
	}

	reader, err := history.NewReader(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	for step, err := range history.Replay(reader) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(step.At.Sub(reader.Header().Started), step.State, groupmember.DescribeEvent(step.Event))
		for _, a := range step.Actions {
			fmt.Println(" ", groupmember.DescribeAction(a))
		}
	}
	// Output:
	// 1ms Finding start
	//   moved Idle -> Finding: consumer started
	//   find 1
	// 2ms Encoding found 1 ok
	//   moved Finding -> Encoding: consumer started
	//   encode 2 owned=none generation=-1
}
