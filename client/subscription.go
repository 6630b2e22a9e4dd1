package client

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// subscription is what a member wants to read: topics by name, and all topics
// whose names match a pattern. It is immutable.
type subscription struct {
	topics   []string // ascending, each once
	patterns []*regexp.Regexp
	texts    []string // of patterns, as they were given
	internal bool     // patterns match Kafka's own topics too
}

// newSubscription returns an error that names every problem of topics and
// patterns.
func newSubscription(topics, patterns []string, internal bool) (*subscription, error) {
	var problems []error
	if len(topics)+len(patterns) == 0 {
		problems = append(problems, errors.New("neither Topics nor Patterns has an entry: name at least one topic, or a pattern"))
	}
	for i, name := range topics {
		switch {
		case name == "":
			problems = append(problems, fmt.Errorf("Topics[%d] is empty", i))
		case !validTopic(name):
			problems = append(problems, fmt.Errorf("Topics[%d] is %q, which cannot be a topic: a name has 1 to %d of the characters a-z, A-Z, 0-9, '.', '_' and '-', and neither . nor .. is one",
				i, name, longestTopic))
		case slices.Contains(topics[:i], name):
			problems = append(problems, fmt.Errorf("Topics names %q twice", name))
		}
	}
	s := &subscription{topics: slices.Sorted(slices.Values(topics)), texts: slices.Clone(patterns), internal: internal}
	for i, text := range patterns {
		pattern, err := compilePattern(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("Patterns[%d]: %w", i, err))
		}
		s.patterns = append(s.patterns, pattern)
	}
	return s, errors.Join(problems...)
}

// compilePattern returns what matches the whole names that text describes.
func compilePattern(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, errors.New("is empty: .* matches every topic")
	}
	if _, err := regexp.Compile(text); err != nil { // alone, or "a)(b" would pass
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return regexp.Compile("^(?:" + text + ")$")
}

const longestTopic = 249 // characters in a name

// validTopic reports whether Kafka takes name for a topic.
func validTopic(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > longestTopic {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// equal reports whether both mean the same topics; other may be nil.
func (s *subscription) equal(other *subscription) bool {
	return other != nil && slices.Equal(s.topics, other.topics) && slices.Equal(s.texts, other.texts) && s.internal == other.internal
}

// matches reports whether a pattern matches the topic.
func (s *subscription) matches(topic string, internal bool) bool {
	if internal && !s.internal {
		return false
	}
	return slices.ContainsFunc(s.patterns, func(p *regexp.Regexp) bool { return p.MatchString(topic) })
}

// resolve returns the topics that s means in c, ascending and each once, and
// how many of them match a pattern. Those with a name of their own need not exist.
func (s *subscription) resolve(c *cluster) (topics []string, matching int) {
	topics = slices.Clone(s.topics)
	if len(s.patterns) == 0 {
		return topics, 0
	}
	for name, t := range c.topics {
		if t.count() > 0 && s.matches(name, t.internal) {
			matching++
			topics = append(topics, name)
		}
	}
	slices.Sort(topics)
	return slices.Compact(topics), matching
}

// scope is what a Metadata request is about: topics by name, and what matches
// subscriptions with patterns.
type scope struct {
	topics   []string
	patterns []*subscription
}

// covers reports whether a topic that was not asked for by its name is to be kept.
func (s *scope) covers(topic string, internal bool) bool {
	return slices.ContainsFunc(s.patterns, func(p *subscription) bool { return p.matches(topic, internal) })
}

// everything reports whether all topics must be asked for: brokers know of no
// patterns in Metadata.
func (s *scope) everything() bool { return len(s.patterns) > 0 }
