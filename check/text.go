package check

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fatview/internal/plain"
	"fatview/report"
)

// Text writes one line for each file and GPU.
func Text(w io.Writer, r *Result) error {
	b := bufio.NewWriter(w)
	for _, l := range r.Lines {
		gpu := ""
		if l.GPU != nil {
			gpu = " on " + r.GPUs[*l.GPU].Title()
		}
		verdict := ""
		if l.Verdict != "" {
			verdict = " " + l.Verdict + ","
		}
		fmt.Fprintf(b, "%s %s%s:%s %s%s\n", mark(l.OK), plain.Text(l.Path), gpu, verdict, plain.Text(l.Reason), exception(l.Exception))
	}
	for _, x := range r.Expect {
		fmt.Fprintf(b, "%s %s: %s%s\n", mark(x.OK), plain.Text(x.Path), plain.Text(x.Reason), exception(x.Exception))
	}
	return b.Flush()
}

func mark(ok bool) string {
	if ok {
		return "ok  "
	}
	return "FAIL"
}

func exception(reason string) string {
	if reason == "" {
		return ""
	}
	return " (exception: " + plain.Text(strings.TrimSpace(reason)) + ")"
}

// JSON writes the result for programs.
func JSON(w io.Writer, r *Result) error {
	return report.EncodeJSON(w, r)
}
