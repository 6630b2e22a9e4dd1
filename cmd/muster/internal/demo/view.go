package demo

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"
)

// newsLines is how much of the news the live table shows.
const newsLines = 8

// view draws the board: over and over in place on a terminal, as a plain log
// elsewhere. It belongs to one goroutine.
type view struct {
	out   io.Writer
	live  bool
	drawn int // lines of the last drawing, on a terminal
	told  int // news lines printed, elsewhere
}

func newView(out io.Writer) *view {
	f, ok := out.(*os.File)
	return &view{out: out, live: ok && term.IsTerminal(int(f.Fd()))}
}

func (v *view) draw(b *board, t totals) {
	if !v.live {
		_, news := b.look(v.told)
		for _, line := range news {
			fmt.Fprintln(v.out, line)
		}
		v.told += len(news)
		return
	}
	rows, news := b.look(0)
	text := cut(picture(rows, news[max(0, len(news)-newsLines):], t), v.width())
	if v.drawn > 0 {
		fmt.Fprintf(v.out, "\x1b[%dA\x1b[J", v.drawn) // up, and clear to the end
	}
	fmt.Fprint(v.out, text)
	v.drawn = strings.Count(text, "\n")
}

// width is how many characters a line of the terminal has.
func (v *view) width() int {
	if f, ok := v.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// cut shortens lines that the terminal would wrap, since a drawing is replaced
// by its number of lines.
func cut(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if r := []rune(line); len(r) > width {
			lines[i] = string(r[:width])
		}
	}
	return strings.Join(lines, "\n")
}

// picture is the table, with the count of all records and the news below it.
func picture(rows []row, news []string, t totals) string {
	w := table.NewWriter()
	w.AppendHeader(table.Row{"member", "status", "generation", "owns", "records"})
	for _, r := range rows {
		generation := "-"
		if r.Status == member {
			generation = fmt.Sprint(r.Generation)
		}
		w.AppendRow(table.Row{r.Name, r.Status, generation, ranges(r.Owned), r.Records})
	}
	count := fmt.Sprintf("%d produced, %d consumed, %d not read yet, %d duplicated", t.Produced, t.Consumed, t.Lost, t.Duplicated)
	return w.Render() + "\n" + count + "\n" + strings.Join(news, "\n") + "\n"
}

// ranges writes ascending numbers shortly: "0-5 8".
func ranges(numbers []int32) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, " ")
}
