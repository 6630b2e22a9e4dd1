package groupmember

import "github.com/twmb/franz-go/pkg/kmsg"

// CommitOf returns the OffsetCommit in req, if it is one.
func CommitOf(req kmsg.Request) (*kmsg.OffsetCommitRequest, bool) {
	commit, ok := req.(offsetCommit)
	return commit.OffsetCommitRequest, ok
}
