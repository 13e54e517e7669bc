package coverage

import (
	"bufio"
	"fmt"
	"io"
)

// WriteRules writes the rules as docs/RULES.md holds them.
func WriteRules(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, `# The rules

Which image runs on which GPU with which driver, as fatview decides it. This
page is written by the program (`+"`go test ./coverage -run RulesDocument -update`"+`);
the rules are in coverage/rules.go, their code and tests beside it. "Confirmed" means by NVIDIA's documents or by trying
NVIDIA's tools; where a verdict leans on a rule that is not, its sentence says so.

| rule | what it says | from | confirmed |
|---|---|---|---|
`)
	for _, i := range ruleInfos {
		confirmed := "yes"
		if !i.Confirmed {
			confirmed = "no"
		}
		if i.Note != "" {
			confirmed += ": " + i.Note
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", i.ID, i.Title, i.Sources, confirmed)
	}
	return b.Flush()
}
