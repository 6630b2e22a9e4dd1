package client

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
)

// absentAnswers is how many answers in a row must say that a topic does not
// exist: brokers learn of a new topic one after the other.
const absentAnswers = 2

// topicNotices is what has been said about the subscribed topics already, so
// that it is said once.
type topicNotices map[string]int16

// topicNotice is news of a topic: that it cannot be read, or nil that it can
// again.
type topicNotice struct {
	topic string
	err   error
}

// update returns the news in c about topics, which are ascending.
func (n *topicNotices) update(c *cluster, topics []string) []topicNotice {
	maps.DeleteFunc(*n, func(name string, _ int16) bool {
		_, subscribed := slices.BinarySearch(topics, name)
		return !subscribed
	})
	var news []topicNotice
	for _, name := range topics {
		t, ok := c.topic(name)
		if !ok {
			continue
		}
		code := t.err
		switch code {
		case kerr.UnknownTopicOrPartition.Code, kerr.UnknownTopicID.Code:
			code = kerr.UnknownTopicOrPartition.Code
			if t.absent < absentAnswers {
				continue
			}
		case kerr.TopicAuthorizationFailed.Code, kerr.InvalidTopicException.Code:
		default:
			code = 0 // the others pass by themselves
		}
		if code == (*n)[name] {
			continue
		}
		if *n == nil {
			*n = make(topicNotices)
		}
		(*n)[name] = code
		news = append(news, topicNotice{topic: name, err: codeError(code)})
	}
	return news
}
