package pack

import "fmt"

// Severity says what a finding means for the answer.
type Severity int

// A warning: something is odd, and nothing is lost. An error: something was not
// read, because it is damaged, encrypted or beyond a bound; an answer for the
// package is then one for a part of it.
const (
	SeverityWarning Severity = iota
	SeverityError
)

func (s Severity) String() string {
	if s == SeverityError {
		return "error"
	}
	return "warning"
}

// A Finding is something that a walk met and could not hand out as a member.
type Finding struct {
	Path     string // of the member or nested package; "" is the package itself
	Message  string // lower case, without the path
	Severity Severity
}

// Skipped counts entries that are not handed out and of which nothing is lost.
type Skipped struct {
	Links   int // symbolic links
	Devices int // devices, pipes and what else has no content
	Hidden  int // files of an image that a later layer replaces or removes
}

// A Summary says what a walk met.
type Summary struct {
	Format   Format // of the outermost package
	Members  int    // handed out, hard links included
	Packages int    // nested packages that were opened
	Bytes    int64  // unpacked, or handed out in place; never more than Limits.Total
	Skipped  Skipped
	Findings []Finding // at most about a thousand; the last one then says how many more there were
}

const (
	maxFindings     = 1000
	maxNameFindings = 20 // names that had to be changed
)

// find adds a finding, or counts it where there are too many.
func (w *walker) find(s Severity, path, format string, args ...any) {
	if len(w.sum.Findings) >= maxFindings {
		w.unsaid++
		w.unsaidWorst = max(w.unsaidWorst, s)
		return
	}
	w.sum.Findings = append(w.sum.Findings, Finding{path, fmt.Sprintf(format, args...), s})
}

// closeFindings says how much is not in the list.
func (w *walker) closeFindings() {
	if w.renamed > maxNameFindings {
		w.sum.Findings = append(w.sum.Findings, Finding{"", fmt.Sprintf("%d more names were changed", w.renamed-maxNameFindings), SeverityWarning})
	}
	if w.unsaid > 0 {
		w.sum.Findings = append(w.sum.Findings, Finding{"", fmt.Sprintf("%d more findings are left out", w.unsaid), w.unsaidWorst})
	}
}
