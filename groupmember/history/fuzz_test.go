package history

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file of a stranger is read to its end or refused with the line's number. What
// has been read is written so that the same is read again, and a member can be told
// it.
func FuzzReader(f *testing.F) {
	text := recorded(f)
	header, _, _ := strings.Cut(text, "\n")
	f.Add(text)
	f.Add(text[:len(text)-9])
	f.Add(strings.Replace(text, `"m-1"`, `"base64:/w=="`, 1))
	f.Add(header + "\n" + `{"at":-1,"event":{"Replied":{"Seq":1,"Resp":{"OffsetFetch":{"Groups":[{"UnknownTags":{"3":"AA=="}}]}}}}}`)
	f.Add(header + "\n" + `{"at":9223372036854775807,"event":{"LookUp":{"Partitions":{"a":[0],"b":null}}},"actions":[{"Moved":{"From":250,"To":"Stable"}}]}`)
	f.Add("{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := NewReader(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, err := range Replay(r) {
			if err != nil {
				require.Regexp(t, `^line \d+: `, err.Error())
			}
		}
		if complete(text) {
			written := rewritten(t, text)
			require.Equal(t, written, rewritten(t, written))
		}
	})
}

// complete reports whether all of a history can be read.
func complete(text string) bool {
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		return false
	}
	for _, err := range r.Entries() {
		if err != nil {
			return false
		}
	}
	return true
}
