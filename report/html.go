package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"io/fs"
)

// The parts of the page. The templates are html/template's, which escapes by
// where a text stands.
//
//go:embed html
var htmlParts embed.FS

// HTML writes one page that needs nothing else: no network, no other file. Its
// main facts are there without script; the script sorts and searches. A content
// security policy lets only that style and that script act, by their hashes, so
// that markup that slipped through from a file could do nothing.
func HTML(w io.Writer, r *Report) error {
	style, err := fs.ReadFile(htmlParts, "html/style.css")
	if err != nil {
		return err
	}
	script, err := fs.ReadFile(htmlParts, "html/script.js")
	if err != nil {
		return err
	}
	t, err := template.ParseFS(htmlParts, "html/*.tmpl")
	if err != nil {
		return err
	}
	page := newHTMLPage(r)
	page.Style, page.Script = template.CSS(style), template.JS(script) //nolint:gosec // the program's own
	page.Policy = "default-src 'none'; style-src '" + hashSource(style) + "'; script-src '" + hashSource(script) + "'; base-uri 'none'; form-action 'none'"
	return t.ExecuteTemplate(w, "page.tmpl", page)
}

// hashSource is how a policy names an inline text (W3C, "Content Security
// Policy Level 3").
func hashSource(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
