package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// batchBytes bounds a batch of the test data.
const batchBytes = 64 << 10

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(),
	"lz4":  kgo.Lz4Compression(),
}

// fill makes w's topic with its records, unless it is there.
func fill(ctx context.Context, brokers []string, w workload) error {
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...),
		kgo.DefaultProduceTopic(w.topic()),
		kgo.ProducerBatchMaxBytes(batchBytes),
		kgo.ProducerBatchCompression(codecs[w.codec]),
	)
	if err != nil {
		return err
	}
	defer cl.Close()
	there, err := create(ctx, cl, w)
	if err != nil || there {
		return err
	}
	var once sync.Once
	var failed error
	values := payloads(w.size)
	for i := range w.records {
		cl.Produce(ctx, &kgo.Record{Value: values[i%len(values)]}, func(_ *kgo.Record, err error) {
			if err != nil {
				once.Do(func() { failed = err })
			}
		})
	}
	if err := errors.Join(cl.Flush(ctx), failed); err != nil {
		return fmt.Errorf("fill %s: %w; delete the topic before the next run", w.topic(), err)
	}
	return nil
}

// create makes w's topic and reports whether it was there already.
func create(ctx context.Context, cl *kgo.Client, w workload) (there bool, err error) {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = w.topic(), w.partitions, 1
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, topic)
	req.TimeoutMillis = 15_000
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return false, fmt.Errorf("create %s: %w", w.topic(), err)
	}
	for _, t := range resp.Topics {
		err := kerr.ErrorForCode(t.ErrorCode)
		if errors.Is(err, kerr.TopicAlreadyExists) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("create %s: %w", w.topic(), err)
		}
	}
	return false, nil
}

// payloads are 1,024 values, the first half of each random and the second half
// text, so that compression has something to do, but not everything. They are
// the same in every run.
func payloads(size int) [][]byte {
	const text = `{"kind":"order.created","region":"north","note":"the same words again and again"}`
	random := rand.New(rand.NewPCG(1, 2))
	values := make([][]byte, 1024)
	for i := range values {
		v := make([]byte, size)
		for j := range v {
			if j < size/2 {
				v[j] = "0123456789abcdef"[random.IntN(16)]
			} else {
				v[j] = text[j%len(text)]
			}
		}
		values[i] = v
	}
	return values
}
