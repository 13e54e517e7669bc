package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"fatview/internal/plain"
)

// A Format is a way to write a report.
type Format struct {
	Name    string   // as given to --format
	Endings []string // of file names, with the dot; the first is the usual one
	About   string
	write   func(io.Writer, *Report) error
}

// formats lists every writer; a new one is a row here.
var formats = []Format{
	{"text", []string{".txt"}, "for people", Text},
	{"json", []string{".json"}, "for programs: " + Schema, JSON},
	{"md", []string{".md", ".markdown"}, "for issues and pull requests", Markdown},
	{"ndjson", []string{".ndjson", ".jsonl"}, "a line for each file and GPU: " + LineSchema, NDJSON},
	{"csv", []string{".csv"}, "a row for each file, container and GPU", CSV},
	{"html", []string{".html", ".htm"}, "one page for a browser, to search and sort", HTML},
	{"sarif", []string{".sarif", ".sarif.json"}, "for code scanning: SARIF 2.1.0", SARIF},
	{"junit", []string{".xml"}, "for CI servers: a suite for each GPU", JUnit},
	{"cyclonedx", []string{".cdx.json"}, "a bill of materials, CycloneDX 1.6", CycloneDX},
}

// Formats returns the names of the formats.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// FormatOf returns the format that a file name's ending asks for: the longest
// one that fits, so that ".cdx.json" does not count as ".json".
func FormatOf(path string) (format string, ok bool) {
	name, longest := strings.ToLower(filepath.Base(path)), 0
	for _, f := range formats {
		for _, e := range f.Endings {
			if strings.HasSuffix(name, e) && len(e) > longest {
				format, longest = f.Name, len(e)
			}
		}
	}
	return format, longest > 0
}

// Ending returns the usual ending of a format's files, ".md".
func Ending(format string) string {
	for _, f := range formats {
		if f.Name == format {
			return f.Endings[0]
		}
	}
	return ""
}

// About says in a few words what a format is for, "" for one that does not
// exist.
func About(format string) string {
	for _, f := range formats {
		if f.Name == format {
			return f.About
		}
	}
	return ""
}

// ErrFormat means a format that does not exist.
var ErrFormat = errors.New("unknown format")

// Write writes r in a format.
func Write(w io.Writer, format string, r *Report) error {
	for _, f := range formats {
		if f.Name == format {
			return f.write(w, r)
		}
	}
	return fmt.Errorf("%w %q: choose one of %s", ErrFormat, format, strings.Join(Formats(), ", "))
}

// JSON writes the contract's form.
func JSON(w io.Writer, r *Report) error { return EncodeJSON(w, r) }

// EncodeJSON writes any value as fatview's JSON: indented, markup left alone,
// and every character that a terminal could act on as an escape.
func EncodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(plain.JSON(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}
