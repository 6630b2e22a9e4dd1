package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Admin creates, deletes and describes what a cluster has. It holds nothing of
// its own: it need not be closed, and its methods may be called from many
// goroutines until the Client is closed. A call ends when its context does.
type Admin struct{ cl *Client }

// Admin returns the administrative calls of cl.
func (cl *Client) Admin() *Admin { return &Admin{cl} }

// NewTopic is a topic to create.
type NewTopic struct {
	Name              string
	Partitions        int32             // zero means the broker's default (KIP-464)
	ReplicationFactor int16             // zero means the broker's default (KIP-464)
	Config            map[string]string // for example "retention.ms"; nil for the broker's defaults
}

// TopicResult is what became of one topic.
type TopicResult struct {
	Name string
	ID   [16]byte // zero if the broker does not say (before Kafka 2.8), or if Err is set
	Err  error    // nil, or a *TopicError
}

// TopicDescription is one topic as a broker knows it.
type TopicDescription struct {
	Name       string
	ID         [16]byte // zero if the broker does not say (before Kafka 2.8)
	Internal   bool     // Kafka's own, such as __consumer_offsets
	Partitions []PartitionDescription
	Err        error // nil, or a *TopicError; then only Name is set
}

// PartitionDescription is one partition of a topic. The numbers of brokers are
// their IDs.
type PartitionDescription struct {
	ID          int32
	Leader      int32 // -1 if there is none at the moment
	LeaderEpoch int32 // -1 if the broker does not say (KIP-320)
	Replicas    []int32
	ISR         []int32 // the replicas that are in sync
	Offline     []int32 // the replicas that are not there
}

// CreateTopics creates topics. It returns one result for each, in their order,
// and a nil error only if all were created: the error joins those of the
// results, or says why there is no result. An error of the network leaves open
// whether the topics were created. A topic that was created may take a moment
// to be known to every broker.
func (a *Admin) CreateTopics(ctx context.Context, topics ...NewTopic) ([]TopicResult, error) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = a.timeoutMillis(ctx)
	var names, sent []string
	var refused []TopicResult
	for _, t := range topics {
		names = append(names, t.Name)
		if t.Partitions < 0 || t.ReplicationFactor < 0 {
			refused = append(refused, TopicResult{Name: t.Name, Err: &TopicError{Topic: t.Name, Err: errNegative}})
			continue
		}
		sent = append(sent, t.Name)
		req.Topics = append(req.Topics, t.request())
	}
	results, err := a.onController(ctx, sent, req, func(resp kmsg.Response) (results []TopicResult, codes []int16) {
		for _, t := range resp.(*kmsg.CreateTopicsResponse).Topics {
			results = append(results, TopicResult{t.Topic, t.TopicID, topicError(t.Topic, t.ErrorCode, t.ErrorMessage)})
			codes = append(codes, t.ErrorCode)
		}
		return results, codes
	})
	if len(refused) > 0 && (err == nil || results != nil) {
		results, err = resultsInOrder(names, append(results, refused...))
	}
	return results, wrap("create topics", err)
}

var errNegative = errors.New("neither the number of partitions nor the replication factor may be negative; zero means the broker's default")

func (t *NewTopic) request() kmsg.CreateTopicsRequestTopic {
	req := kmsg.NewCreateTopicsRequestTopic()
	req.Topic, req.NumPartitions, req.ReplicationFactor = t.Name, t.Partitions, t.ReplicationFactor
	if t.Partitions == 0 {
		req.NumPartitions = -1
	}
	if t.ReplicationFactor == 0 {
		req.ReplicationFactor = -1
	}
	for name, value := range t.Config {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = name, &value
		req.Configs = append(req.Configs, c)
	}
	slices.SortFunc(req.Configs, func(a, b kmsg.CreateTopicsRequestTopicConfig) int { return strings.Compare(a.Name, b.Name) })
	return req
}

// DeleteTopics deletes topics with everything in them. Results and error are
// those of CreateTopics.
func (a *Admin) DeleteTopics(ctx context.Context, names ...string) ([]TopicResult, error) {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = a.timeoutMillis(ctx)
	req.TopicNames = names // up to version 5
	for _, name := range names {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	results, err := a.onController(ctx, names, req, func(resp kmsg.Response) (results []TopicResult, codes []int16) {
		for _, t := range resp.(*kmsg.DeleteTopicsResponse).Topics {
			name := deref(t.Topic)
			results = append(results, TopicResult{name, t.TopicID, topicError(name, t.ErrorCode, t.ErrorMessage)})
			codes = append(codes, t.ErrorCode)
		}
		return results, codes
	})
	return results, wrap("delete topics", err)
}

// DescribeTopics describes topics, none of which it creates. It returns one
// description for each, in their order, and a nil error only if all exist: the
// error joins those of the descriptions, or says why there is none.
func (a *Admin) DescribeTopics(ctx context.Context, names ...string) ([]TopicDescription, error) {
	if len(names) == 0 {
		return nil, nil
	}
	resp, err := a.cl.requestAny(ctx, metadataRequest(names))
	if err != nil {
		return nil, wrap("describe topics", err)
	}
	var answers []TopicDescription
	for _, t := range resp.(*kmsg.MetadataResponse).Topics {
		answers = append(answers, describe(&t))
	}
	descriptions, err := inOrder(names, answers,
		func(d TopicDescription) (string, error) { return d.Name, d.Err },
		func(name string, err error) TopicDescription { return TopicDescription{Name: name, Err: err} })
	return descriptions, wrap("describe topics", err)
}

func describe(t *kmsg.MetadataResponseTopic) TopicDescription {
	name := deref(t.Topic)
	if err := topicError(name, t.ErrorCode, nil); err != nil {
		return TopicDescription{Name: name, Err: err}
	}
	d := TopicDescription{Name: name, ID: t.TopicID, Internal: t.IsInternal}
	for _, p := range t.Partitions {
		d.Partitions = append(d.Partitions, PartitionDescription{
			p.Partition, p.Leader, p.LeaderEpoch, p.Replicas, p.ISR, p.OfflineReplicas,
		})
	}
	slices.SortFunc(d.Partitions, func(a, b PartitionDescription) int { return cmp.Compare(a.ID, b.ID) })
	return d
}

// onController asks the controller about names and reads the answer with read.
func (a *Admin) onController(ctx context.Context, names []string, req kmsg.Request, read func(kmsg.Response) ([]TopicResult, []int16)) ([]TopicResult, error) {
	if len(names) == 0 {
		return nil, nil
	}
	resp, err := a.cl.requestController(ctx, req, func(resp kmsg.Response) bool {
		_, codes := read(resp)
		return slices.Contains(codes, kerr.NotController.Code)
	})
	if err != nil {
		return nil, err
	}
	answers, _ := read(resp)
	return resultsInOrder(names, answers)
}

func resultsInOrder(names []string, answers []TopicResult) ([]TopicResult, error) {
	return inOrder(names, answers,
		func(r TopicResult) (string, error) { return r.Name, r.Err },
		func(name string, err error) TopicResult { return TopicResult{Name: name, Err: err} })
}

// inOrder returns one answer for each of names, in their order, made up with an
// error where the broker gave none, and all the errors joined.
func inOrder[T any](names []string, answers []T, of func(T) (string, error), missing func(string, error) T) ([]T, error) {
	byName := make(map[string]T, len(answers))
	for _, answer := range answers {
		name, _ := of(answer)
		byName[name] = answer
	}
	var errs []error
	ordered := make([]T, len(names))
	for i, name := range names {
		answer, ok := byName[name]
		if !ok {
			answer = missing(name, &TopicError{Topic: name, Err: errNotNamed})
		}
		ordered[i] = answer
		_, err := of(answer)
		errs = append(errs, err)
	}
	return ordered, errors.Join(errs...)
}

var errNotNamed = errors.New("the broker's answer does not name it")

func topicError(name string, code int16, message *string) error {
	if code == 0 {
		return nil
	}
	return &TopicError{Topic: name, Message: deref(message), Err: codeError(code)}
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// timeoutMillis is how long the broker may take: what is left of ctx, and the
// request timeout at most.
func (a *Admin) timeoutMillis(ctx context.Context) int32 {
	timeout := a.cl.cfg.RequestTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(deadline), 0))
	}
	return millis(timeout)
}
