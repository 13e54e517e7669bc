package pack

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// Layout of an .xz file ("The .xz File Format", 1.2): streams, with padding of
// four zero bytes between them.
//
//	stream: header 12 │ blocks │ index │ footer 12
//	block:  size 1, flags 1, sizes, filters, CRC32 │ LZMA2 │ padding to 4 │ check
//	index:  0, count, count × (size, size), padding to 4, CRC32
//
// The package xz of ulikunitz reads this too, but allocates whatever dictionary
// a block asks for, up to 4 GiB, for as many blocks as there are. So this
// reader does the container and leaves LZMA2 to his.
const (
	xzHeaderSize = 12
	xzLZMA2      = 0x21
	xzFooterEnd  = "YZ"
)

// xzCheckSize is how long the check behind a block is, by its kind.
var xzCheckSize = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

var crc64Table = crc64.MakeTable(crc64.ECMA)

type xzReader struct {
	in      *countingReader
	flags   [2]byte // of the stream
	inside  bool    // of a stream
	started bool    // at least one stream has begun
	blocks  uint64  // of the stream
	block   *xzBlock
	out     int64 // bytes unpacked
	dicts   int64 // bytes of dictionaries asked for
	err     error
}

type xzBlock struct {
	r                io.Reader
	check            hash.Hash // nil if there is none or it is of a kind not known
	start, out       int64
	packed, unpacked int64 // as declared, -1 if they are not
}

func newXz(r io.Reader) *xzReader {
	return &xzReader{in: &countingReader{br: bufio.NewReaderSize(r, 64<<10)}}
}

func (x *xzReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, x.err
	}
	for x.err == nil {
		switch {
		case !x.inside:
			x.err = x.header()
		case x.block == nil:
			x.err = x.next()
		default:
			n, err := x.block.r.Read(p)
			x.out += int64(n)
			x.block.out += int64(n)
			if x.block.check != nil {
				x.block.check.Write(p[:n])
			}
			if err == io.EOF {
				err = x.endBlock()
			}
			x.err = err
			if n > 0 {
				return n, nil
			}
		}
	}
	return 0, x.err
}

// header reads the beginning of a stream, or finds that there is none.
func (x *xzReader) header() error {
	var b [xzHeaderSize]byte
	for {
		n, err := fill(x.in, b[:4])
		if n == 0 && err == io.EOF && x.started {
			return io.EOF
		}
		if err != nil {
			return noEOF(err)
		}
		if !x.started || b[0]|b[1]|b[2]|b[3] != 0 {
			break
		}
	}
	if _, err := fill(x.in, b[4:]); err != nil {
		return noEOF(err)
	}
	if string(b[:6]) != xzMagic || crc32.ChecksumIEEE(b[6:8]) != binary.LittleEndian.Uint32(b[8:]) || b[6] != 0 || b[7] > 15 {
		return errors.New("xz: header of a stream is damaged")
	}
	x.flags = [2]byte(b[6:8])
	x.inside, x.started, x.blocks = true, true, 0
	return nil
}

// next begins a block, or ends the stream.
func (x *xzReader) next() error {
	at := x.in.n
	size, err := x.in.ReadByte()
	if err != nil {
		return noEOF(err)
	}
	if size == 0 {
		return x.endStream(at)
	}
	b := make([]byte, (int(size)+1)*4)
	b[0] = size
	if _, err := fill(x.in, b[1:]); err != nil {
		return noEOF(err)
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return errors.New("xz: header of a block is damaged")
	}
	blk := &xzBlock{packed: -1, unpacked: -1}
	r := bytes.NewReader(body[2:])
	if body[1]&0x40 != 0 {
		blk.packed = readSize(r)
	}
	if body[1]&0x80 != 0 {
		blk.unpacked = readSize(r)
	}
	id, err1 := binary.ReadUvarint(r)
	props, err2 := binary.ReadUvarint(r)
	dict, err3 := r.ReadByte()
	if err := errors.Join(err1, err2, err3); err != nil {
		return errors.New("xz: header of a block is damaged")
	}
	if body[1]&0x3F != 0 || id != xzLZMA2 || props != 1 {
		return errors.New("xz: filters other than LZMA2 are not known")
	}
	capacity, err := x.dictionary(dict, blk.unpacked)
	if err != nil {
		return err
	}
	blk.start = x.in.n
	if blk.r, err = (lzma.Reader2Config{DictCap: capacity}).NewReader2(x.in); err != nil {
		return noEOF(err)
	}
	switch x.flags[1] {
	case 1:
		blk.check = crc32.NewIEEE()
	case 4:
		blk.check = crc64.New(crc64Table)
	case 10:
		blk.check = sha256.New()
	}
	x.block = blk
	x.blocks++
	return nil
}

// dictionary bounds what a block asks for. Each block gets a new dictionary, so
// the sum is bounded too, by what the blocks before have unpacked to: writers
// make blocks larger than their dictionary.
func (x *xzReader) dictionary(code byte, unpacked int64) (int, error) {
	n, err := lzma.DecodeDictCap(code)
	if err != nil {
		return 0, errors.New("xz: size of the dictionary is damaged")
	}
	if unpacked >= 0 {
		n = min(n, unpacked)
	}
	n = max(n, lzma.MinDictCap)
	if n > maxWindow {
		return 0, fmt.Errorf("xz: a dictionary of %d bytes is asked for, more than the bound of %d", n, maxWindow)
	}
	x.dicts += n
	if x.dicts > 2*maxWindow+4*x.out {
		return 0, errors.New("xz: blocks ask for dictionaries out of all proportion")
	}
	return int(n), nil
}

func (x *xzReader) endBlock() error {
	blk := x.block
	packed := x.in.n - blk.start
	if blk.packed >= 0 && blk.packed != packed || blk.unpacked >= 0 && blk.unpacked != blk.out {
		return errors.New("xz: a block is of another size than its header says")
	}
	if err := x.padding(packed); err != nil {
		return err
	}
	stored := make([]byte, xzCheckSize[x.flags[1]])
	if _, err := fill(x.in, stored); err != nil {
		return noEOF(err)
	}
	if blk.check != nil {
		sum := blk.check.Sum(nil)
		if len(sum) <= 8 { // CRCs are little-endian, Sum is not
			for i, j := 0, len(sum)-1; i < j; i, j = i+1, j-1 {
				sum[i], sum[j] = sum[j], sum[i]
			}
		}
		if !bytes.Equal(sum, stored) {
			return errors.New("xz: checksum of a block does not match")
		}
	}
	x.block = nil
	return nil
}

// endStream reads the index, of which the first byte has been read, and the
// footer. The sizes in the index are not compared.
func (x *xzReader) endStream(at int64) error {
	x.in.sum = crc32.NewIEEE()
	x.in.sum.Write([]byte{0})
	count, err := binary.ReadUvarint(x.in)
	if err != nil {
		return noEOF(err)
	}
	if count != x.blocks {
		return fmt.Errorf("xz: index has %d records for %d blocks", count, x.blocks)
	}
	for range 2 * count {
		if _, err := binary.ReadUvarint(x.in); err != nil {
			return noEOF(err)
		}
	}
	if err := x.padding(x.in.n - at); err != nil {
		return err
	}
	sum := x.in.sum.Sum32()
	x.in.sum = nil
	var b [4 + xzHeaderSize]byte
	if _, err := fill(x.in, b[:]); err != nil {
		return noEOF(err)
	}
	footer := b[4:]
	if binary.LittleEndian.Uint32(b[:]) != sum {
		return errors.New("xz: index is damaged")
	}
	if binary.LittleEndian.Uint32(footer) != crc32.ChecksumIEEE(footer[4:10]) || [2]byte(footer[8:10]) != x.flags || string(footer[10:]) != xzFooterEnd {
		return errors.New("xz: footer of a stream is damaged")
	}
	x.inside = false
	return nil
}

// padding reads zero bytes up to a multiple of four.
func (x *xzReader) padding(n int64) error {
	for ; n%4 != 0; n++ {
		c, err := x.in.ReadByte()
		if err != nil {
			return noEOF(err)
		}
		if c != 0 {
			return errors.New("xz: padding is not zero")
		}
	}
	return nil
}

// readSize is a declared size; one that is damaged matches nothing.
func readSize(r io.ByteReader) int64 {
	n, err := binary.ReadUvarint(r)
	if err != nil || n > 1<<62 {
		return 1 << 62
	}
	return int64(n)
}
