// Package quiet keeps bubbletea from asking the terminal for its background
// colour. Importing bubbletea does that in a package init, so even --help would
// write stray escape sequences, and wait seconds for a terminal that does not
// answer.
//
// Go initialises packages whose imports are ready in the order of their import
// paths. This one needs only lipgloss, and "fatview/ui/quiet" comes before
// "github.com/charmbracelet/bubbletea": with the colour set here, bubbletea
// finds nothing left to ask. It must be imported by main, and must not import
// more than lipgloss. A test runs --help on a terminal that never answers.
package quiet

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
