package client

import (
	"github.com/musterkafka/muster/groupmember/driver"
	"github.com/musterkafka/muster/groupmember/history"
)

// history returns what records the member; nil if nothing does.
func (c *Consumer) history() driver.Recorder {
	if c.cfg.History == nil {
		return nil
	}
	return history.NewRecorder(c.cfg.History, func(err error) {
		c.trouble(err)
		c.log.Warn("the history of the group member is not written any further", "error", err)
	})
}
