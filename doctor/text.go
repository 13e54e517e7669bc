package doctor

import (
	"bufio"
	"fmt"
	"io"

	"fatview/internal/plain"
	"fatview/report"
)

// signs go with the words, so that colour is not needed.
var signs = map[Status]string{Pass: "✓", Warn: "!", Fail: "✗", Skip: "–"}

// mostDetails is how many details of a step the text shows; JSON has all.
const mostDetails = 12

// Text writes the diagnosis for people: a line for each step, below it what to
// do, and the conclusion at the end.
func Text(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	for _, s := range r.Steps {
		fmt.Fprintf(b, "%s %s  %s: %s\n", signs[s.Status], s.Status, plain.Text(s.Title), plain.Text(s.Seen))
		for i, d := range s.Detail {
			if i == mostDetails {
				fmt.Fprintf(b, "          … %d more\n", len(s.Detail)-i)
				break
			}
			fmt.Fprintf(b, "          %s\n", plain.Text(d))
		}
		for _, d := range s.Do {
			fmt.Fprintf(b, "        → %s\n", plain.Text(d))
		}
	}
	fmt.Fprintf(b, "\n%s\n", plain.Text(r.Conclusion))
	return b.Flush()
}

// JSON writes the diagnosis for programs.
func JSON(w io.Writer, r *Report) error { return report.EncodeJSON(w, r) }
