package fleet

import (
	"regexp"
	"strings"
)

// hostPrefix is what pdsh and clush put before each line of a host's output.
var hostPrefix = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]{0,252}): +(\S.*)$`)

// splitHost takes the host off a line, "" if there is none before it.
func splitHost(line string) (host, rest string) {
	if !strings.Contains(line, ": ") {
		return "", line
	}
	if m := hostPrefix.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	return "", line
}

// ansibleLine is what ansible prints above a host's output:
// "n1 | CHANGED | rc=0 >>", or "n1 | UNREACHABLE! => {".
var ansibleLine = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]{0,252}) \| (CHANGED|SUCCESS|FAILED!?|UNREACHABLE!)(?: \| rc=(-?[0-9]+))? (?:>>|=>)`)

// ansibleHost reads such a line; ok says that rows of the host follow.
func ansibleHost(line string) (host string, ok, is bool) {
	if !strings.Contains(line, " | ") {
		return "", false, false
	}
	m := ansibleLine.FindStringSubmatch(line)
	if m == nil {
		return "", false, false
	}
	return m[1], (m[2] == "CHANGED" || m[2] == "SUCCESS") && m[3] == "0", true
}

// splitCells cuts a line at commas, and removes the spaces around the cells and
// the quotes of those that have them.
func splitCells(line string) []string {
	if !strings.Contains(line, `"`) {
		cells := strings.Split(line, ",")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		return cells
	}
	var cells []string
	var cell strings.Builder
	quoted := false
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case quoted && b == '"' && i+1 < len(line) && line[i+1] == '"':
			cell.WriteByte('"')
			i++
		case b == '"' && (quoted || strings.TrimSpace(cell.String()) == ""):
			quoted = !quoted
		case b == ',' && !quoted:
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(b)
		}
	}
	return append(cells, strings.TrimSpace(cell.String()))
}
