package sim

import (
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// producer is that of a process which commits its offsets in transactions, one at a time,
// each under a new epoch (KIP-447).
type producer struct {
	id    int64 // 0 for a process that has none
	epoch int16 // of the last transaction
	open  bool
}

// transactionTimeout is when a transaction is aborted that has not ended.
const transactionTimeout = 6 * time.Second

// beginTransaction returns the producer of the next commit, nil if it is a plain one.
func (a *app) beginTransaction() *groupmember.Producer {
	if a.producer.id == 0 {
		return nil
	}
	a.producer.epoch++
	a.producer.open = true
	epoch := a.producer.epoch
	a.p.world.after(transactionTimeout, func() { a.endTransaction(epoch, false, nil) })
	return &groupmember.Producer{TransactionalID: a.p.name, ID: a.producer.id, Epoch: epoch}
}

// inTransaction reports whether a commit is that of a transaction, and ends that if it is
// still open: soon, if the commit has succeeded.
func (a *app) inTransaction(ev groupmember.Committed, done request) bool {
	if done.producer == nil {
		return false
	}
	failed := ev.Failure.Failed()
	for _, r := range ev.Results {
		failed = failed || r.Code != 0
	}
	w, epoch := a.p.world, done.producer.Epoch
	if failed {
		a.endTransaction(epoch, false, done.parts)
		return true
	}
	d := w.delay()
	if w.faulty {
		d = w.between(0, 3*time.Second)
	}
	w.after(d, func() { a.p.run(func() { a.endTransaction(epoch, true, done.parts) }) })
	return true
}

// endTransaction commits or aborts the transaction of that epoch, if it is open. What
// was not committed is to be asked for again.
func (a *app) endTransaction(epoch int16, commit bool, parts []int) {
	w := a.p.world
	if committed := w.log.EndTransaction(a.producer.id, epoch, commit); !committed {
		for _, i := range parts {
			a.parts[i].asked = 0
		}
	}
	if a.producer.epoch == epoch {
		a.producer.open = false
	}
}
