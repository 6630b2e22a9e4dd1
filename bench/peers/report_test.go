package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReportComparesWithTheBestOfTheOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures")
	lines := `{"Client":"muster","Protocol":"eager","Name":"join","Run":0,"Millis":10}
{"Client":"muster","Protocol":"eager","Name":"join","Run":1,"Millis":30}
{"Client":"muster","Protocol":"eager","Name":"pair","Run":2,"Millis":0,"Error":"it hangs"}
{"Client":"franz-go","Protocol":"eager","Name":"join","Run":0,"Millis":25}
{"Client":"java","Protocol":"eager","Name":"join","Run":0,"Millis":40}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printReport(&out, file); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"muster 3, 1 failed - 20 (10-30)", "java 1 - 40 (40-40)", "muster to the best other - 0.80"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestEveryBatchSweepsThePhase(t *testing.T) {
	batches := settings{runs: 20, atOnce: 5}.batches()
	if len(batches) != 4 || len(batches[1]) != 5 || batches[1][0] != 1 || batches[1][4] != 17 {
		t.Fatalf("batches are %v", batches)
	}
}
