package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"fatview/internal/plain"
)

// The parts of a SARIF 2.1.0 log that are written (OASIS, "Static Analysis
// Results Interchange Format (SARIF) Version 2.1.0").
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string       `json:"id"`
		Name    string       `json:"name"`
		Short   sarifMessage `json:"shortDescription"`
		Help    sarifMessage `json:"help"`
		Default sarifLevel   `json:"defaultConfiguration"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]any    `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	// sarifRegion is the first line always: GitHub asks for one, and a
	// compiled file has no lines.
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// What GitHub's code scanning takes (GitHub Docs, "SARIF support for code
// scanning"): results of a run, and bytes of a file, of which some are kept for
// what stands around the results.
const (
	sarifMaxResults = 25000
	sarifMaxBytes   = 24e6
	sarifMaxText    = 4000 // characters of a message
)

// SARIF writes a log with one run: a result for each file, GPU and kind of
// shortfall, and one for each finding.
func SARIF(w io.Writer, r *Report) error { return sarifWithin(w, r, sarifMaxResults, sarifMaxBytes) }

// sarifWithin is SARIF with bounds. What is beyond them is left out, the least
// severe first, and a notification says how much.
func sarifWithin(w io.Writer, r *Report, results, bytes int) error {
	c := sarifCollector{r: r, uris: map[string]string{}}
	c.collect()
	kept, err := sarifCut(c.results, results, bytes)
	if err != nil {
		return err
	}
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "fatview", Version: r.Version, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{Successful: true, Notifications: r.sarifNotifications()}},
		Results:     kept,
	}
	for _, s := range r.Scans {
		run.Invocations[0].Successful = run.Invocations[0].Successful && s.Error == ""
	}
	if n := len(c.results) - len(kept); n > 0 {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{"warning",
			sarifMessage{fmt.Sprintf("%d of %d results are left out, the least severe first: code scanning takes %d results and 25 MB; the JSON form has all", n, len(c.results), sarifMaxResults)}})
	}
	run.Tool.Driver.Rules = sarifRulesOf(kept)
	return EncodeJSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// sarifCut keeps the most severe results that fit, in their order.
func sarifCut(all []sarifResult, results, bytes int) ([]sarifResult, error) {
	keep := make([]bool, len(all))
	for _, level := range []string{"error", "warning", "note"} {
		for i := range all {
			if all[i].Level != level {
				continue
			}
			b, err := json.MarshalIndent(&all[i], "    ", " ")
			if err != nil {
				return nil, err
			}
			if results == 0 || bytes < len(b)+8 {
				results = 0 // nothing less severe takes the place
				continue
			}
			results, bytes, keep[i] = results-1, bytes-len(b)-8, true
		}
	}
	out := []sarifResult{}
	for i := range all {
		if keep[i] {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// sarifRulesOf returns the rules that results name, in the order of the table,
// and gives the results their places.
func sarifRulesOf(results []sarifResult) []sarifRule {
	at := map[string]int{}
	for i := range results {
		at[results[i].RuleID] = -1
	}
	out := []sarifRule{}
	for _, rule := range sarifRules() {
		if _, ok := at[rule.ID]; ok {
			at[rule.ID] = len(out)
			out = append(out, rule)
		}
	}
	for i := range results {
		results[i].RuleIndex = at[results[i].RuleID]
	}
	return out
}

// sarifNotifications tell what is no matter of one file: arguments that could
// not be read, and GPUs that the driver cannot drive.
func (r *Report) sarifNotifications() []sarifNotification {
	out := []sarifNotification{}
	for _, s := range r.Scans {
		if s.Error != "" {
			out = append(out, sarifNotification{"error", sarifText(s.Error)})
		}
	}
	for _, g := range r.GPUs {
		if g.Problem != "" {
			out = append(out, sarifNotification{"warning", sarifText(g.Title() + ": no verdict: " + g.Problem)})
		}
	}
	return out
}

// sarifText is text as a message: braces stand for arguments where they are
// not doubled, and a bracket before a parenthesis would make a link (sections
// 3.11.5 and 3.11.6).
func sarifText(s string) sarifMessage {
	s = plain.Cut(plain.Text(s), sarifMaxText)
	return sarifMessage{strings.NewReplacer("{", "{{", "}", "}}", "](", `\](`).Replace(s)}
}

// sarifURI is a path as a URI: relative where the path is. A colon is encoded,
// too, so that no part of a path is taken for a scheme.
func sarifURI(path string) string {
	path = filepath.ToSlash(path)
	uri := percent(path, "-._~!$&'()*+,;=@/")
	switch {
	case strings.HasPrefix(path, "//"):
		return "file:" + uri // a share of a Windows network
	case strings.HasPrefix(path, "/"):
		return "file://" + uri
	case filepath.IsAbs(path):
		return "file:///" + uri // C:/x
	}
	return uri
}
