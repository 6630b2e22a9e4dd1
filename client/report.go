package client

// dialed implements reporter: the log hears of an unreachable broker once, not
// at each try of each connection. What becomes of the seeds is told by the
// metadata.
func (cl *Client) dialed(key connKey, err error, news bool) {
	if key.node < 0 {
		return
	}
	switch {
	case err != nil && news:
		cl.log.Warn("cannot reach a broker, trying on while it is needed", "broker", key.node, "error", err)
	case news:
		cl.log.Info("a broker can be reached again", "broker", key.node)
	}
	if err != nil {
		cl.refresh("a broker cannot be reached")
	}
}

// ended implements reporter. An idle control connection is closed by the broker
// from time to time, which says nothing; the others are lost with their broker.
func (cl *Client) ended(key connKey, cause error) {
	cl.log.Debug("a connection has ended", "broker", key.node, "class", key.class.String(), "cause", cause)
	if key.class != classControl {
		cl.refresh("a connection has ended")
	}
}
