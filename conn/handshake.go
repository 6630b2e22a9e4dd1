package conn

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	apiVersionsKey = 18
	handshakeBytes = 1 << 20 // a list of all APIs has some kilobytes

	// Version 3 is the first to name the client's software (KIP-511). All
	// brokers since 2.4 answer it at once, and it lacks nothing that we read.
	apiVersionsMax = 3

	softwareName    = "muster"
	softwareVersion = "0.1.0"
)

// handshake asks the broker which versions it offers, all within the time that
// is left of the dial timeout and of ctx.
func (c *Conn) handshake(ctx context.Context) error {
	if n := len(c.cfg.ClientID); n > mostClientID {
		return fmt.Errorf("the ClientID has %d bytes, a request can carry %d", n, mostClientID)
	}
	ctx, cancel := c.cfg.dialContext(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		c.nc.SetDeadline(time.Unix(1, 0)) // fails I/O under way
	})
	err := c.askVersions()
	if !stop() {
		return fmt.Errorf("connected, but got no answer: %w: is this the port of a Kafka listener, and of one without TLS?", context.Cause(ctx))
	}
	return err
}

// askVersions asks in lower versions until the broker understands. One that does not
// answers in the form of version 0, with the versions that it can do (KIP-511).
func (c *Conn) askVersions() error {
	for version := int16(apiVersionsMax); ; {
		resp, err := c.exchangeVersions(version)
		if err != nil {
			return err
		}
		if resp.ErrorCode == 0 {
			c.versions = newVersionTable(resp.ApiKeys)
			return nil
		}
		code := kerr.ErrorForCode(resp.ErrorCode)
		if resp.ErrorCode != kerr.UnsupportedVersion.Code || version == 0 {
			return fmt.Errorf("the broker refused version %d: %w", version, code)
		}
		offered := newVersionTable(resp.ApiKeys)
		if version, err = lowerVersion(&offered, version); err != nil {
			return err
		}
	}
}

// lowerVersion returns the version to ask in after one was refused. It is always
// lower, whatever the broker says.
func lowerVersion(offered *versionTable, refused int16) (int16, error) {
	if !offered[apiVersionsKey].known {
		return 0, nil
	}
	return offered.choose(apiVersionsKey, refused-1)
}

func (c *Conn) exchangeVersions(version int16) (*kmsg.ApiVersionsResponse, error) {
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version = version
	req.ClientSoftwareName, req.ClientSoftwareVersion = softwareName, softwareVersion
	if _, err := c.nc.Write(appendFrame(nil, c.format, req)); err != nil {
		return nil, explainClosed(err)
	}
	head, err := c.frames.r.Peek(sizeBytes)
	if err != nil {
		return nil, explainClosed(err)
	}
	size := int(int32(binary.BigEndian.Uint32(head)))
	if size < correlationBytes || size > handshakeBytes {
		head, _ = c.frames.r.Peek(min(c.frames.r.Buffered(), quotedBytes))
		return nil, explainStranger(head)
	}
	frame, err := c.frames.next()
	if err != nil {
		return nil, err
	}
	defer frame.release()
	return decodeVersions(frame.data, version)
}

// decodeVersions reads the answer to an ApiVersions request of the version. Its
// header never has tagged fields, because the client cannot know yet which
// version the broker will answer in.
func decodeVersions(response []byte, version int16) (*kmsg.ApiVersionsResponse, error) {
	id, body, err := splitHeader(response, false)
	if err != nil {
		return nil, err
	}
	if id != 0 {
		return nil, fmt.Errorf("first answer has correlation ID %d, expected 0: is this a Kafka listener?", id)
	}
	if len(body) >= 2 && int16(binary.BigEndian.Uint16(body)) == kerr.UnsupportedVersion.Code {
		version = 0
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.SetVersion(version)
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("cannot decode response version %d of %d bytes: %w: is this a Kafka listener?", version, len(body), err)
	}
	return resp, nil
}
