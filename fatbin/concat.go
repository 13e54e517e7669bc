package fatbin

import "io"

// addConcat shows the cubins of a concatenated entry (nvcc -concat, CUDA 13)
// as images of the container. The options block is u32 count and u32 size of
// the block; then, for each cubin, an entry header with its own options block,
// padded to 8, in which the field at 4 is the cubin's offset in the
// decompressed blob and the field at 8 its size there.
func (c *Container) addConcat(r io.ReaderAt, e entry, header []byte) {
	blob := &concat{payloadOffset: e.off + e.headerSize, compression: compressionOf(e)}
	blob.stored, blob.bytes, blob.cut = e.stored()

	b, ok := slice(header, e.options, 8)
	if e.options == 0 || !ok {
		c.problem(e.off+20, "concatenated entry without a table")
		return
	}
	count, size := int64(le.Uint32(b)), int64(le.Uint32(b[4:]))
	table := header[e.options+8 : max(e.options+8, min(e.options+size, int64(len(header))))]
	if count > int64(len(table))/entryHeaderSize {
		c.problem(e.off+e.options, "concatenated entry declares more cubins than its table holds")
	}
	first := len(c.Images)
	for p, i := int64(0), int64(0); i < count; i++ {
		// A table entry may claim options beyond the table.
		at := e.off + e.options + 8 + min(p, int64(len(table)))
		if len(c.Images) >= maxEntries {
			c.problem(at, tooManyEntries)
			break
		}
		b, ok := slice(table, p, entryHeaderSize)
		if !ok || le.Uint16(b[2:]) != entryWord {
			c.problem(at, "concatenated entry's table is damaged")
			break
		}
		in := parseFixed(b, at)
		in.flags |= e.flags & FlagObfuscated
		n := entryHeaderSize + optionsSize(table[p:], in)
		c.addInner(r, in, b, table[p:min(p+n, int64(len(table)))], blob)
		p += n
	}
	shareBlob(c.Images[first:], blob)
}

// addInner adds one cubin of a blob: in is its table header, read from b, and
// header includes its options block.
func (c *Container) addInner(r io.ReaderAt, in entry, b, header []byte, blob *concat) {
	within, size := int64(le.Uint32(b[4:])), clampSize(le.Uint64(b[8:]))
	if within > blob.bytes || size > blob.bytes-within {
		c.problem(in.off, "cubin lies outside its concatenated blob")
		size = max(0, blob.bytes-within)
	}
	im := newImage(r, in) // shareBlob sets StoredBytes
	im.PayloadOffset, im.Bytes, im.Compression = blob.payloadOffset, size, blob.compression
	im.cut, im.concat, im.within = blob.cut, blob, within
	im.setOptions(header, in)
	c.Images = append(c.Images, im)
}

// optionsSize is the padded size of the options block that follows a table
// header at the start of b.
func optionsSize(b []byte, e entry) int64 {
	if e.options == 0 {
		return 0
	}
	o, ok := slice(b, e.options, 8)
	if !ok {
		return int64(len(b))
	}
	end := int64(le.Uint32(o)) + int64(le.Uint32(o[4:])) + 1 // the NUL that does not count
	end = max(end, e.options+8, entryHeaderSize)
	return (end+7)&^7 - entryHeaderSize
}

// shareBlob gives each image its part of the blob's stored bytes, in
// proportion to its size, so that sums over images equal the file.
func shareBlob(images []*Image, blob *concat) {
	var total float64
	for _, im := range images {
		total += float64(im.Bytes)
	}
	left := blob.stored
	for i, im := range images {
		share := int64(0)
		if i == len(images)-1 {
			share = left
		} else if total > 0 {
			share = min(left, int64(float64(blob.stored)*(float64(im.Bytes)/total)))
		}
		im.StoredBytes = share
		left -= share
	}
}
