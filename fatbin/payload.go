package fatbin

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Bounds of decompression, in bytes and times. Real cubins shrink three to
// eight times and PTX twenty times; a payload that claims more than maxRatio,
// beyond the size that is harmless anyway, is a bomb or damage.
const (
	maxPayload  = 512 << 20
	maxRatio    = 256
	harmless    = 15 << 20
	maxLZ4Ratio = 255 // one length byte of an LZ4 block stands for 255 bytes
)

// A Decoder decompresses payloads one after another into memory that it
// reuses. The zero value is ready. It must not be used by two goroutines at
// once; give each worker its own.
type Decoder struct {
	zstd   *zstd.Decoder
	stored []byte  // as in the file
	out    []byte  // decompressed
	last   *concat // whose blob was decoded last, for the next of its cubins
	blob   []byte  // of last; lies in stored or out
}

// Payload returns the image's bytes, decompressed and without padding: those
// that NVIDIA's tools extract, up to seven fewer than im.Bytes. They stay valid
// until the next call. Errors, mostly wrapped: ErrTooLarge; ErrCompression;
// ErrObfuscated for LTO IR, which is scrambled; a FormatError where the data
// is damaged or cut off; or the reader's own.
func (d *Decoder) Payload(im *Image) ([]byte, error) {
	if im.Flags&FlagObfuscated != 0 {
		return nil, fmt.Errorf("%w at offset %s", ErrObfuscated, hex(uint64(im.PayloadOffset)))
	}
	if im.cut {
		return nil, formatErr(im.PayloadOffset, "payload is cut off")
	}
	blob := im.concat
	if blob == nil {
		d.last = nil
		b, err := d.read(im, im.StoredBytes, im.Bytes)
		return unpadded(im.Kind, b), err
	}
	if d.last != blob {
		d.last = nil
		out, err := d.read(im, blob.stored, blob.bytes)
		if err != nil {
			return nil, err
		}
		d.blob, d.last = out, blob
	}
	b, ok := slice(d.blob, im.within, im.Bytes)
	if !ok {
		return nil, formatErr(im.Offset, "cubin lies outside its concatenated blob")
	}
	return unpadded(im.Kind, b), nil
}

// Stored returns the image's bytes as they are in the file, compressed or
// scrambled as they may be, valid until the next call. Of a cubin in a
// concatenated entry they are the whole blob.
func (d *Decoder) Stored(im *Image) ([]byte, error) {
	stored, cut := im.StoredBytes, im.cut
	if im.concat != nil {
		stored, cut = im.concat.stored, im.concat.cut
	}
	d.last = nil
	switch {
	case cut:
		return nil, formatErr(im.PayloadOffset, "payload is cut off")
	case stored < 0 || stored > maxPayload:
		return nil, fmt.Errorf("%w: %d bytes at offset %s", ErrTooLarge, stored, hex(uint64(im.PayloadOffset)))
	}
	if err := probeEnd(im.r, im.PayloadOffset, stored); err != nil {
		return nil, err
	}
	in := grow(&d.stored, stored)
	if err := readFull(im.r, in, im.PayloadOffset); err != nil {
		return nil, fmt.Errorf("payload at offset %s: %w", hex(uint64(im.PayloadOffset)), err)
	}
	return in, nil
}

// probeEnd asks for the last byte first: a size that the file cannot satisfy
// must not cost an allocation.
func probeEnd(r io.ReaderAt, off, stored int64) error {
	if stored <= 1<<16 {
		return nil
	}
	var b [1]byte
	if err := readFull(r, b[:], off+stored-1); err != nil {
		return fmt.Errorf("payload at offset %s is cut off: %w", hex(uint64(off)), err)
	}
	return nil
}

// Payload returns the image's bytes, decompressed, in memory of their own. The
// errors are those of Decoder.Payload, which is faster for many images.
func (im *Image) Payload() ([]byte, error) {
	var d Decoder
	defer d.Close()
	b, err := d.Payload(im)
	if err != nil || im.concat == nil {
		return b, err
	}
	return bytes.Clone(b), nil // the rest of the blob need not stay
}

// Close releases the decoder's memory.
func (d *Decoder) Close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
	*d = Decoder{}
}

// plausible reports whether size bytes can come from stored ones.
func plausible(stored, size int64, how Compression) bool {
	switch {
	case stored < 0 || stored > maxPayload || size < 0 || size > maxPayload:
		return false
	case how == CompressionLZ4 && size/maxLZ4Ratio > stored+64:
		return false
	}
	return size <= harmless || size/maxRatio <= stored
}

// Plausible reports whether the declared size of the image is one that Payload
// tries to read.
func (im *Image) Plausible() bool {
	if c := im.concat; c != nil {
		return plausible(c.stored, c.bytes, im.Compression)
	}
	return plausible(im.StoredBytes, im.Bytes, im.Compression)
}

// read reads the stored bytes at the image's offset and decompresses them to
// size bytes.
func (d *Decoder) read(im *Image, stored, size int64) ([]byte, error) {
	off, how := im.PayloadOffset, im.Compression
	if !plausible(stored, size, how) {
		return nil, fmt.Errorf("%w: %d bytes from %d at offset %s", ErrTooLarge, size, stored, hex(uint64(off)))
	}
	if how == CompressionUnknown {
		return nil, fmt.Errorf("%w, flags %s at offset %s", ErrCompression, hex(uint64(im.Flags&flagCompressed)), hex(uint64(im.Offset)))
	}
	if size == 0 && how != CompressionNone {
		return nil, formatErr(off, "compressed payload declares no size") // and the LZ4 library would read at nil
	}
	if err := probeEnd(im.r, off, stored); err != nil {
		return nil, err
	}
	in := grow(&d.stored, stored)
	if err := readFull(im.r, in, off); err != nil {
		return nil, fmt.Errorf("payload at offset %s: %w", hex(uint64(off)), err)
	}
	switch how {
	case CompressionLZ4:
		out := grow(&d.out, size)
		n, err := lz4.UncompressBlock(in, out)
		if err != nil || int64(n) != size {
			return nil, formatErr(off, "LZ4 block is damaged")
		}
		return out, nil
	case CompressionZstd:
		return d.unzstd(in, size, off)
	case CompressionGzip:
		return d.ungzip(in, size, off)
	}
	return in, nil
}

func (d *Decoder) unzstd(in []byte, size, off int64) ([]byte, error) {
	if d.zstd == nil {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		d.zstd = z
	}
	var h zstd.Header
	if err := h.Decode(in); err == nil && h.HasFCS && h.FrameContentSize != uint64(size) {
		return nil, formatErr(off, "zstd frame holds %d bytes, the header says %d", h.FrameContentSize, size)
	}
	buf := grow(&d.out, size)
	// The capacity is the limit, so that a frame without a size of its own
	// cannot grow past what the entry declares.
	out, err := d.zstd.DecodeAll(in, buf[:0:len(buf)])
	if err != nil {
		return nil, fmt.Errorf("zstd frame is damaged: %w", &FormatError{Off: off, Msg: err.Error()})
	}
	if int64(len(out)) != size {
		return nil, formatErr(off, "zstd frame holds %d bytes, the header says %d", len(out), size)
	}
	return out, nil
}

// unpadded returns a payload without the NUL that ends PTX and without the
// zeros that fill raw and concatenated ones up to a multiple of eight.
func unpadded(k Kind, b []byte) []byte {
	size := len(b)
	switch {
	case k == KindPTX:
		size = len(bytes.TrimRight(b, "\x00"))
	case k == KindCubin && isCubin(b):
		// One of the two tables stands at the end.
		segments := le.Uint64(b[32:]) + uint64(le.Uint16(b[54:]))*uint64(le.Uint16(b[56:]))
		sections := le.Uint64(b[40:]) + uint64(le.Uint16(b[58:]))*uint64(le.Uint16(b[60:]))
		size = int(min(max(segments, sections), uint64(len(b))))
	}
	if len(b)-size < 8 && len(bytes.TrimLeft(b[size:], "\x00")) == 0 {
		return b[:size]
	}
	return b
}

// grow makes *buf hold n bytes, reusing it where it is large enough and
// giving back one that is far too large.
func grow(buf *[]byte, n int64) []byte {
	if int64(cap(*buf)) < n || int64(cap(*buf)) > n*8+harmless {
		*buf = make([]byte, n, n+min(n/8, 1<<16))
	}
	*buf = (*buf)[:n]
	return *buf
}
