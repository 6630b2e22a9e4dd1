package conn

import (
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AtMost returns req to be started in no higher version than this one, for
// requests whose newest versions need what the caller does not have, such as
// topic IDs. The answer carries req itself.
func AtMost(req kmsg.Request, version int16) kmsg.Request {
	if inner, ok := req.(capped); ok {
		return capped{inner.Request, min(version, inner.version)}
	}
	return capped{req, version}
}

type capped struct {
	kmsg.Request
	version int16
}

// MaxVersion returns the lower of the cap and what the request can do.
func (c capped) MaxVersion() int16 { return min(c.version, c.Request.MaxVersion()) }

// A versionTable holds the versions that one broker offers, by API key.
type versionTable [kmsg.MaxKey + 1]versionRange

type versionRange struct {
	known    bool
	min, max int16
}

// newVersionTable drops the APIs that this client does not know.
func newVersionTable(keys []kmsg.ApiVersionsResponseApiKey) versionTable {
	var table versionTable
	for _, k := range keys {
		if k.ApiKey >= 0 && int(k.ApiKey) < len(table) {
			table[k.ApiKey] = versionRange{true, k.MinVersion, k.MaxVersion}
		}
	}
	return table
}

// ErrUnsupported is wrapped by the [Error] of a request that the broker at the
// other end cannot be sent in any version.
var ErrUnsupported = errors.New("not supported by this broker")

// choose returns the highest version up to ours that the broker offers.
func (t *versionTable) choose(key, ours int16) (int16, error) {
	if key < 0 || int(key) >= len(t) || maxVersion(key) < 0 {
		return 0, fmt.Errorf("this client does not know API key %d", key)
	}
	theirs := t[key]
	if !theirs.known {
		return 0, fmt.Errorf("%w: it does not offer this API (key %d): is it too old, or is this the port of a controller?", ErrUnsupported, key)
	}
	version := min(ours, theirs.max)
	if version < max(theirs.min, 0) {
		return 0, fmt.Errorf("%w: no common version: this client can send 0 to %d, the broker offers %d to %d", ErrUnsupported, ours, theirs.min, theirs.max)
	}
	return version, nil
}

// choose takes the cap off req and returns the version to send it in. A request
// that has a MinVersion is not sent in a lower one.
func (c *Conn) choose(req kmsg.Request) (kmsg.Request, int16, error) {
	ours := req.MaxVersion()
	if wrapped, ok := req.(capped); ok {
		req = wrapped.Request
	}
	version, err := c.versions.choose(req.Key(), ours)
	if needs, ok := req.(interface{ MinVersion() int16 }); ok && err == nil && version < needs.MinVersion() {
		err = fmt.Errorf("%w: version %d is needed, the broker offers up to %d", ErrUnsupported, needs.MinVersion(), version)
	}
	return req, version, err
}

// maxVersion returns the highest version that this client can send of an API,
// or -1 if it does not know it.
func maxVersion(key int16) int16 {
	if key < 0 || key > kmsg.MaxKey {
		return -1
	}
	return maxVersions()[key]
}

var maxVersions = sync.OnceValue(func() *[kmsg.MaxKey + 1]int16 {
	var table [kmsg.MaxKey + 1]int16
	for key := range table {
		table[key] = -1
		if req := kmsg.RequestForKey(int16(key)); req != nil {
			table[key] = req.MaxVersion()
		}
	}
	return &table
})
