package foreign

import (
	"bytes"
	"encoding/binary"
)

// Sniff tells from its first bytes whether a file may be such code as a whole,
// of a kind that is neither an ELF file nor an archive: whether reading all of
// it for ScanLoose is worth the while.
func Sniff(head []byte) bool {
	for _, magic := range []string{bundleMagic, ccobMagic, binaryMagic, metalMagic, dxMagic} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	const spirv = 0x07230203
	return len(head) >= 4 && (binary.LittleEndian.Uint32(head) == spirv || binary.BigEndian.Uint32(head) == spirv)
}
