package sizes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"fatview/fatbin"
	"fatview/index"
)

// Twins are kernels whose code is in several containers with the same bytes, for
// the same architecture.
type Twins struct {
	Codes    int    `json:"codes"`        // different ones that are there more than once
	Copies   int    `json:"copies"`       // beyond the first of each
	Code     int64  `json:"code_bytes"`   // of those copies
	Share    int64  `json:"stored_share"` // of those copies
	Costlies []Twin `json:"kernels"`      // the costliest, at most maxTwins
}

// A Twin is code that is there more than once.
type Twin struct {
	Name       string `json:"name"` // of the kernel that has it first
	Short      string `json:"demangled"`
	Arch       string `json:"arch"`
	SHA256     string `json:"sha256"` // of its text section
	Size       int64  `json:"code_bytes"`
	Containers int    `json:"containers"`
	Wasted     int64  `json:"wasted_bytes"` // all but the first
	Share      int64  `json:"stored_share"` // of these in the file
}

// Zstd estimates what storing payloads as zstd would save that are stored with
// LZ4 or not compressed now.
type Zstd struct {
	Stored        int64 `json:"stored_bytes"` // now, of images that are not zstd
	Bytes         int64 `json:"bytes"`
	SampledImages int   `json:"sampled_images"`
	SampledBytes  int64 `json:"sampled_bytes"`
	SampledZstd   int64 `json:"sampled_zstd_bytes"` // the sample, compressed
	Estimate      int64 `json:"estimated_bytes"`    // all of it, at the sample's ratio
	Saving        int64 `json:"estimated_saving"`   // not negative
}

const (
	sampleBytes = 64 << 20 // of payloads that are compressed to estimate
	maxTwins    = 100      // that are named
)

// A code is what is known of one text section.
type code struct {
	kernel int // in the image's list
	size   int64
	share  int64
	sum    [sha256.Size]byte
}

// measured is what reading one container's payloads gave.
type measured struct {
	codes  [][]code // by image
	images int      // compressed for the estimate
	bytes  int64
	zstd   int64
}

// measure reads the payloads once more, for what Decode does not keep.
func measure(ctx context.Context, f *index.File, out *File) error {
	sample := out.sample(f, sampleBytes)
	var enc *zstd.Encoder
	if out.Zstd.Bytes > 0 {
		var err error
		if enc, err = zstd.NewWriter(nil); err != nil { // the default level
			return err
		}
		defer enc.Close()
	}
	m := newTally()
	err := index.InOrder(ctx, len(f.Containers), func(i int, dec *fatbin.Decoder) measured {
		return read(f, f.Containers[i], sample[i], enc, dec)
	}, func(i int, got measured) error {
		z := &out.Zstd
		z.SampledImages += got.images
		z.SampledBytes += got.bytes
		z.SampledZstd += got.zstd
		m.container(f.Containers[i], got)
		return nil
	})
	if err != nil {
		return err
	}
	m.into(out)
	if z := &out.Zstd; z.SampledBytes > 0 {
		z.Estimate = int64(math.Round(float64(z.Bytes) * float64(z.SampledZstd) / float64(z.SampledBytes)))
		z.Saving = max(0, z.Stored-z.Estimate)
	}
	return nil
}

// notZstd reports whether zstd could be in place of how the image is stored.
func notZstd(im *fatbin.Image) bool {
	return (im.Kind == fatbin.KindCubin || im.Kind == fatbin.KindPTX) && im.Flags&fatbin.FlagObfuscated == 0 &&
		(im.Compression == fatbin.CompressionNone || im.Compression == fatbin.CompressionLZ4)
}

// sample chooses, evenly over the file, images of at most so many bytes to
// compress.
func (f *File) sample(file *index.File, most int64) []map[int]bool {
	for _, c := range file.Containers {
		for _, im := range c.Images {
			if notZstd(im) && im.Plausible() {
				f.Zstd.Stored += im.StoredBytes
				f.Zstd.Bytes += im.Bytes
			}
		}
	}
	part := 1.0
	if f.Zstd.Bytes > most {
		part = float64(most) / float64(f.Zstd.Bytes)
	}
	out := make([]map[int]bool, len(file.Containers))
	var seen, taken int64
	for i, c := range file.Containers {
		out[i] = map[int]bool{}
		for j, im := range c.Images {
			if !notZstd(im) || !im.Plausible() {
				continue
			}
			seen += im.Bytes
			if part == 1 || taken+im.Bytes <= int64(float64(seen)*part) {
				taken += im.Bytes
				out[i][j] = true
			}
		}
	}
	return out
}

// read hashes the code of a container's cubins and compresses the sample.
func read(f *index.File, c *index.Container, sample map[int]bool, enc *zstd.Encoder, dec *fatbin.Decoder) (m measured) {
	m.codes = make([][]code, len(c.Images))
	d := c.Decoded()
	var buf []byte
	for i, im := range c.Images {
		if im.Kind != fatbin.KindCubin && !sample[i] {
			continue
		}
		b, err := f.Payload(im, dec)
		if err != nil {
			continue // Decode has told
		}
		if sample[i] {
			buf = enc.EncodeAll(b, buf[:0])
			m.images++
			m.bytes += im.Bytes
			m.zstd += int64(len(buf))
		}
		if im.Kind == fatbin.KindCubin && d != nil {
			m.codes[i] = codes(b, im, len(d.Images[i].Kernels))
		}
	}
	return m
}

// codes hashes the code of a cubin's kernels. A section that several kernels
// share, as only hostile cubins have it, counts for the first.
func codes(b []byte, im *fatbin.Image, kernels int) []code {
	_, list, err := fatbin.ParseCode(b)
	if err != nil || len(list) != kernels {
		return nil
	}
	out := make([]code, 0, len(list))
	seen := map[int]bool{}
	left := int64(2*len(b) + 1) // sections of a sound cubin do not overlap
	for i, k := range list {
		size := int64(len(k.Bytes))
		if size == 0 || seen[k.Section] || size > left {
			continue
		}
		seen[k.Section] = true
		left -= size
		share := int64(0)
		if im.Bytes > 0 {
			share = int64(float64(im.StoredBytes) * (float64(size) / float64(im.Bytes)))
		}
		out = append(out, code{i, size, share, sha256.Sum256(k.Bytes)})
	}
	return out
}

// A tally adds up kernels, families and twins.
type tally struct {
	kernels map[string]*Kernel
	twins   map[twinKey]*twin
	order   []twinKey
}

type twinKey struct {
	arch string
	sum  [sha256.Size]byte
}

type twin struct {
	Twin
	last int // container that has it last
}

func newTally() *tally {
	return &tally{kernels: map[string]*Kernel{}, twins: map[twinKey]*twin{}}
}

func (t *tally) container(c *index.Container, m measured) {
	d := c.Decoded()
	for i, list := range m.codes {
		for _, k := range list {
			t.code(c.ID, c.Images[i].ArchName(), d.Images[i].Kernels[k.kernel].Name, k)
		}
	}
}

func (t *tally) code(container int, arch, name string, k code) {
	kn := t.kernels[name]
	if kn == nil {
		kn = &Kernel{Name: name, Short: fatbin.ShortName(name), Family: fatbin.FamilyName(name)}
		t.kernels[name] = kn
	}
	kn.Copies++
	kn.Code += k.size
	kn.Share += k.share
	key := twinKey{arch, k.sum}
	tw := t.twins[key]
	if tw == nil {
		t.twins[key] = &twin{Twin{Name: name, Short: kn.Short, Arch: arch, Size: k.size, Containers: 1}, container}
		t.order = append(t.order, key)
		return
	}
	if tw.last == container {
		return // twice in one container is no copy across containers
	}
	tw.last = container
	tw.Containers++
	tw.Wasted += k.size
	tw.Share += k.share
}

// into writes the sums, the largest first.
func (t *tally) into(out *File) {
	families := map[string]*Family{}
	for _, k := range t.kernels {
		out.Kernels = append(out.Kernels, *k)
		fam := families[k.Family]
		if fam == nil {
			fam = &Family{Name: k.Family}
			families[k.Family] = fam
		}
		fam.Names++
		fam.Copies += k.Copies
		fam.Code += k.Code
		fam.Share += k.Share
	}
	for _, fam := range families {
		out.Families = append(out.Families, *fam)
	}
	slices.SortFunc(out.Kernels, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(b.Code, a.Code), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(out.Families, func(a, b Family) int {
		return cmp.Or(cmp.Compare(b.Code, a.Code), cmp.Compare(a.Name, b.Name))
	})
	out.Twins.Costlies = []Twin{}
	for _, key := range t.order {
		tw := t.twins[key]
		if tw.Containers < 2 {
			continue
		}
		out.Twins.Codes++
		out.Twins.Copies += tw.Containers - 1
		out.Twins.Code += tw.Wasted
		out.Twins.Share += tw.Share
		tw.SHA256 = hexOf(key.sum)
		out.Twins.Costlies = append(out.Twins.Costlies, tw.Twin)
	}
	slices.SortStableFunc(out.Twins.Costlies, func(a, b Twin) int { return cmp.Compare(b.Wasted, a.Wasted) })
	out.Twins.Costlies = out.Twins.Costlies[:min(maxTwins, len(out.Twins.Costlies))]
}

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }
