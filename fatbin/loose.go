package fatbin

import "io"

// LooseCubin returns a container that stands for a cubin file of its own: one
// image, the bytes from off on. It reads the cubin to learn its suffix, which
// no header tells.
func LooseCubin(r io.ReaderAt, off, size int64) (*Container, error) {
	im := &Image{
		Kind: KindCubin, Offset: off, PayloadOffset: off, StoredBytes: size, Bytes: size,
		Major: 1, Minor: 7, Flags: Flag64Bit, r: r,
	}
	b, err := im.Payload()
	if err != nil {
		return nil, err
	}
	cubin, err := ParseCubin(b)
	if err != nil {
		return nil, err
	}
	if cubin.ABI > 7 {
		im.Minor = 8
	}
	im.Arch = cubin.Arch
	switch cubin.Arch.Suffix {
	case 'a':
		im.Flags |= FlagSuffixA
	case 'f':
		im.Flags |= FlagSuffixF
	}
	return &Container{Offset: off, Size: size, Images: []*Image{im}}, nil
}

// LoosePTX returns a container that stands for a PTX file of its own.
func LoosePTX(r io.ReaderAt, off, size int64) (*Container, error) {
	im := &Image{Kind: KindPTX, Offset: off, PayloadOffset: off, StoredBytes: size, Bytes: size, r: r}
	b, err := im.Payload()
	if err != nil {
		return nil, err
	}
	p, err := ParsePTX(b)
	if err != nil {
		return nil, err
	}
	im.setPTX(p)
	return &Container{Offset: off, Size: size, Images: []*Image{im}}, nil
}

// setPTX fills from the text what a fat binary says in its entry header.
func (im *Image) setPTX(p *PTX) {
	im.Arch = p.Target
	im.Major, im.Minor = uint16(p.Version.Major), uint16(p.Version.Minor)
	if p.AddressSize != 32 {
		im.Flags |= Flag64Bit
	}
	switch p.Target.Suffix {
	case 'a':
		im.Flags |= FlagSuffixA
	case 'f':
		im.Flags |= FlagSuffixF
	}
}
