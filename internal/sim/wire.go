package sim

import (
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// era is a time that brokers are from: the highest versions that they speak.
type era struct {
	name     string
	versions map[int16]int16 // by API key
	whole    bool            // nothing that a member says or hears is younger
}

var (
	present = era{name: "4.4", whole: true, versions: map[int16]int16{
		int16(kmsg.JoinGroup): 9, int16(kmsg.SyncGroup): 5, int16(kmsg.Heartbeat): 4, int16(kmsg.LeaveGroup): 5,
		int16(kmsg.OffsetCommit): 9, int16(kmsg.OffsetFetch): 9, int16(kmsg.TxnOffsetCommit): 4,
	}}
	eraOf24 = era{name: "2.4", versions: map[int16]int16{ // no reasons, no names of protocols in SyncGroup, no skipped assignments
		int16(kmsg.JoinGroup): 6, int16(kmsg.SyncGroup): 4, int16(kmsg.Heartbeat): 4, int16(kmsg.LeaveGroup): 4,
		int16(kmsg.OffsetCommit): 8, int16(kmsg.OffsetFetch): 6, int16(kmsg.TxnOffsetCommit): 2,
	}}
	eraOf20 = era{name: "2.0", versions: map[int16]int16{ // no static members, and no IDs before the first round either (KIP-394)
		int16(kmsg.JoinGroup): 3, int16(kmsg.SyncGroup): 2, int16(kmsg.Heartbeat): 2, int16(kmsg.LeaveGroup): 2,
		int16(kmsg.OffsetCommit): 4, int16(kmsg.OffsetFetch): 4, int16(kmsg.TxnOffsetCommit): 1,
	}}
)

// request returns req as a broker of the era reads it.
func (e *era) request(req kmsg.Request) kmsg.Request {
	version := e.versions[req.Key()]
	req.SetVersion(version)
	if e.whole {
		return plain(req)
	}
	read := kmsg.RequestForKey(req.Key())
	read.SetVersion(version)
	if err := read.ReadFrom(req.AppendTo(nil)); err != nil {
		panic("BUG: a request cannot be read back: " + err.Error())
	}
	return read
}

// response returns resp as a member reads it from a broker of the era.
func (e *era) response(resp kmsg.Response) kmsg.Response {
	version := e.versions[resp.Key()]
	resp.SetVersion(version)
	if e.whole {
		return resp
	}
	read := kmsg.ResponseForKey(resp.Key())
	read.SetVersion(version)
	if err := read.ReadFrom(resp.AppendTo(nil)); err != nil {
		panic("BUG: a response cannot be read back: " + err.Error())
	}
	return read
}

// plain returns the request without the type that the member may have put around
// it to say which versions it means.
func plain(req kmsg.Request) kmsg.Request {
	if around := reflect.ValueOf(req); around.Kind() == reflect.Struct {
		return around.Field(0).Interface().(kmsg.Request)
	}
	return req
}
