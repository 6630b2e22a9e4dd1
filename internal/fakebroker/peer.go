package fakebroker

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	apiVersionsKey = 18
	requestBuffer  = 1024 // requests read ahead, as the buffers of a socket would
)

// A scripted response is no response of Kafka's but something done to the connection.
type scripted struct {
	kmsg.Response
	raw  []byte
	drop bool
}

// Drop as an answer closes the connection.
func Drop() kmsg.Response { return scripted{drop: true} }

// Raw as an answer writes data as it is, without a size and a header.
func Raw(data []byte) kmsg.Response { return scripted{raw: data} }

// A peer is the broker's side of one connection.
type peer struct {
	b    *Broker
	nc   net.Conn
	gone chan struct{} // closed when nothing more can be read
}

type request struct {
	id  int32
	req kmsg.Request
}

func newPeer(b *Broker, nc net.Conn) *peer {
	return &peer{b: b, nc: nc, gone: make(chan struct{})}
}

// run reads requests; answering happens beside it.
func (p *peer) run() {
	var answerer sync.WaitGroup
	requests := make(chan request, requestBuffer)
	answerer.Go(func() {
		for r := range requests {
			if !p.serve(r) {
				break
			}
		}
		p.nc.Close() // which also ends the reading
	})
	for {
		r, err := p.read()
		if err != nil {
			break
		}
		p.b.mu.Lock()
		p.b.seen[r.req.Key()] = append(p.b.seen[r.req.Key()], r.req)
		p.b.mu.Unlock()
		select {
		case requests <- r:
		default:
			p.b.t.Errorf("fakebroker: more than %d requests wait for their answer", requestBuffer)
		}
	}
	close(p.gone)
	close(requests)
	answerer.Wait()
	p.b.mu.Lock()
	delete(p.b.peers, p)
	p.b.mu.Unlock()
}

// serve answers one request. It returns false if the connection is to end.
func (p *peer) serve(r request) bool {
	p.b.mu.Lock()
	handler := p.b.handlers[r.req.Key()]
	p.b.mu.Unlock()
	if handler == nil {
		p.b.t.Errorf("fakebroker: nothing answers %s", kmsg.NameForKey(r.req.Key()))
		return false
	}
	resp := handler(r.req)

	p.b.mu.Lock()
	gate := p.b.held[r.req.Key()]
	p.b.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-p.gone:
			return false
		}
	}
	data := encode(r, resp)
	if data == nil {
		script, ok := resp.(scripted)
		return !ok || !script.drop
	}
	_, err := p.nc.Write(data)
	return err == nil
}

// encode returns what goes over the wire as the answer to r; nil for nothing.
func encode(r request, resp kmsg.Response) []byte {
	if produce, ok := r.req.(*kmsg.ProduceRequest); resp == nil || ok && produce.Acks == 0 {
		return nil
	}
	if script, ok := resp.(scripted); ok {
		return script.raw
	}
	if resp.Key() != apiVersionsKey {
		resp.SetVersion(r.req.GetVersion()) // apiVersions has a mind of its own
	}
	data := kbin.AppendInt32(make([]byte, 4), r.id)
	if resp.IsFlexible() && resp.Key() != apiVersionsKey {
		data = append(data, 0) // no tagged fields in the header
	}
	data = resp.AppendTo(data)
	binary.BigEndian.PutUint32(data, uint32(len(data)-4))
	return data
}

// read returns the next request. One that cannot be understood is an error of
// the test.
func (p *peer) read() (request, error) {
	var size [4]byte
	if _, err := io.ReadFull(p.nc, size[:]); err != nil {
		return request{}, err
	}
	data := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(p.nc, data); err != nil {
		return request{}, err
	}
	r, err := decode(data)
	if err != nil {
		p.b.t.Errorf("fakebroker: %v", err)
	}
	return r, err
}

func decode(data []byte) (request, error) {
	b := kbin.Reader{Src: data}
	key, version, id := b.Int16(), b.Int16(), b.Int32()
	b.NullableString() // client ID
	req := kmsg.RequestForKey(key)
	if req == nil || !b.Ok() {
		return request{}, fmt.Errorf("request of %d bytes with API key %d has no valid header", len(data), key)
	}
	req.SetVersion(version)
	if version > req.MaxVersion() {
		return request{}, fmt.Errorf("%s has version %d, kmsg knows %d", kmsg.NameForKey(key), version, req.MaxVersion())
	}
	if req.IsFlexible() {
		kmsg.SkipTags(&b)
	}
	if err := req.ReadFrom(b.Src); err != nil {
		return request{}, fmt.Errorf("%s version %d does not parse: %w", kmsg.NameForKey(key), version, err)
	}
	return request{id, req}, nil
}

// apiVersions is the handler of ApiVersions. A version that is not offered is answered in
// the form of version 0 (KIP-511).
func (b *Broker) apiVersions(req kmsg.Request) kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range int16(kmsg.MaxKey + 1) {
		if o, ok := b.offers[key]; ok && o.min <= o.max {
			k := kmsg.NewApiVersionsResponseApiKey()
			k.ApiKey, k.MinVersion, k.MaxVersion = key, o.min, o.max
			resp.ApiKeys = append(resp.ApiKeys, k)
		}
	}
	resp.SetVersion(req.GetVersion())
	if o := b.offers[apiVersionsKey]; req.GetVersion() < o.min || req.GetVersion() > o.max {
		resp.ErrorCode = kerr.UnsupportedVersion.Code
		resp.SetVersion(0)
	}
	return resp
}
