package pack

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// Made with: printf 'hello kernel\n' | xz --lzma2=dict=4KiB --check=none|crc32|crc64|sha256
var helloXz = map[string]string{
	"none":   "fd377a585a000000ff12d9410200210100000000372797d601000c68656c6c6f206b65726e656c0a0000000000011d0d8aa55ba106729e7a010000000000595a",
	"crc32":  "fd377a585a0000016922de360200210100000000372797d601000c68656c6c6f206b65726e656c0a000000009ce92eee0001210d75dca8d29042990d010000000001595a",
	"crc64":  "fd377a585a000004e6d6b4460200210100000000372797d601000c68656c6c6f206b65726e656c0a00000000f9ad90320a2bc94d0001250d7119c4b61fb6f37d010000000004595a",
	"sha256": "fd377a585a00000ae1fb0ca10200210100000000372797d601000c68656c6c6f206b65726e656c0a00000000a8118829fea8e08f7c4b5c5a5a484175cf051c2e9015684fa930db57521cbd5600013d0d2881df34189b4b9a01000000000a595a",
}

// Made with: head -c 300 /dev/zero | xz --lzma2=dict=4KiB --block-size=100 --check=crc32
const blocksXz = "fd377a585a0000016922de360200210100000000372797d6e0006300065d00006ea0457800000000cac688990200210100000000372797d6e0006300065d00006ea0457800000000cac688990200210100000000372797d6e0006300065d00006ea0457800000000cac6889900031e641e641e645cae22603e300d8b020000000001595a"

// The same with -T2, which declares the sizes of each block.
const sizedXz = "fd377a585a0000016922de3602c00e64210100000e55eea4e0006300065d00006ea0457800000000cac6889902c00e64210100000e55eea4e0006300065d00006ea0457800000000cac6889902c00e64210100000e55eea4e0006300065d00006ea0457800000000cac6889900031e641e641e645cae22603e300d8b020000000001595a"

// Made with: printf 'hello kernel\n' | xz --x86 --lzma2=preset=0, and with
// xz --lzma2=preset=0,dict=1GiB
const (
	filterXz = "fd377a585a000004e6d6b4460201040021010c00d67c18af01000c68656c6c6f206b65726e656c0a00000000f9ad90320a2bc94d0001250d7119c4b61fb6f37d010000000004595a"
	giantXz  = "fd377a585a000004e6d6b44602002101240000005e1fc7f901000c68656c6c6f206b65726e656c0a00000000f9ad90320a2bc94d0001250d7119c4b61fb6f37d010000000004595a"
)

func unxz(b []byte) (string, error) {
	out, err := io.ReadAll(newXz(bytes.NewReader(b)))
	return string(out), err
}

func TestXz(t *testing.T) {
	const hello = "hello kernel\n"
	for check, s := range helloXz {
		data := unhex(t, s)
		if got, err := unxz(data); err != nil || got != hello {
			t.Errorf("%s: %q, %v", check, got, err)
		}
		two := append(append(bytes.Clone(data), 0, 0, 0, 0), data...)
		if got, err := unxz(two); err != nil || got != hello+hello {
			t.Errorf("%s, two streams: %q, %v", check, got, err)
		}
		for n := range data {
			if _, err := unxz(data[:n]); err != io.ErrUnexpectedEOF {
				t.Errorf("%s, cut at %d: %v", check, n, err)
			}
		}
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 0x10
			// Without a check, nothing tells that the text is another one; it
			// is at 27 to 39, behind the LZMA2 chunk's header of 3 bytes.
			if _, err := unxz(bad); err == nil && !(check == "none" && i >= 27 && i < 40) {
				t.Errorf("%s, byte %d: damage is not seen", check, i)
			}
		}
	}
	for _, blocks := range []string{blocksXz, sizedXz} {
		if got, err := unxz(unhex(t, blocks)); err != nil || got != strings.Repeat("\x00", 300) {
			t.Errorf("blocks: %q, %v", got, err)
		}
	}
	// Sizes are at 14 and 15, each one byte, and the header's CRC is at its end.
	for _, at := range []int{14, 15} {
		bad := unhex(t, sizedXz)
		bad[at]++
		size := (int(bad[12]) + 1) * 4
		binary.LittleEndian.PutUint32(bad[12+size-4:], crc32.ChecksumIEEE(bad[12:12+size-4]))
		if _, err := unxz(bad); err == nil || !strings.Contains(err.Error(), "another size") {
			t.Errorf("declared size at %d: %v", at, err)
		}
	}
	if _, err := unxz(unhex(t, filterXz)); err == nil || !strings.Contains(err.Error(), "filters") {
		t.Errorf("filter: %v", err)
	}
	if _, err := unxz(unhex(t, giantXz)); err == nil || !strings.Contains(err.Error(), "1073741824 bytes") {
		t.Errorf("dictionary: %v", err)
	}
	long := noise(100_000) + strings.Repeat("kernel ", 10_000)
	if got, err := unxz(xzip(t, []byte(long))); err != nil || got != long {
		t.Errorf("chunks of both kinds: %d bytes, %v", len(got), err)
	}
}

// Tiny blocks that each ask for a dictionary of 64 MiB.
func TestXzDictionaries(t *testing.T) {
	data := unhex(t, helloXz["none"])
	header := bytes.Clone(data[12:24])
	header[4] = 28 // 64 MiB: 2 << (28/2 + 11)
	binary.LittleEndian.PutUint32(header[8:], crc32.ChecksumIEEE(header[:8]))
	block := append(header, data[24:44]...) // chunk of 17 bytes, padding of 3
	bomb := append(data[:12:12], bytes.Repeat(block, 100)...)
	x := newXz(bytes.NewReader(bomb))
	_, err := io.ReadAll(x)
	if err == nil || !strings.Contains(err.Error(), "out of all proportion") || x.dicts > 6*64<<20 {
		t.Errorf("%v after %d bytes of dictionaries", err, x.dicts)
	}
}

func FuzzXz(f *testing.F) {
	for _, s := range helloXz {
		f.Add(unhex(f, s))
	}
	for _, s := range []string{blocksXz, sizedXz, filterXz, giantXz} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x := newXz(bytes.NewReader(data))
		n, err := io.Copy(io.Discard, io.LimitReader(x, 1<<20))
		if n < 1<<20 && err == nil {
			// The end of a good file: nothing is left.
			if x.in.n != int64(len(data)) {
				t.Errorf("%d of %d bytes are read", x.in.n, len(data))
			}
		}
		if x.dicts > 2*maxWindow+4*x.out+maxWindow {
			t.Errorf("%d bytes of dictionaries for %d", x.dicts, x.out)
		}
	})
}
