package fatbin

import "io"

// LooseCubin returns a container that stands for a cubin file of its own: one
// image, the bytes from off on. It reads the cubin to learn its suffix, which
// no header tells.
func LooseCubin(r io.ReaderAt, off, size int64) (*Container, error) {
	im := bareImage(r, KindCubin, off, size)
	b, err := im.Payload()
	if err != nil {
		return nil, err
	}
	cubin, err := ParseCubin(b)
	if err != nil {
		return nil, err
	}
	im.setCubin(cubin)
	return &Container{Offset: off, Size: size, Images: []*Image{im}}, nil
}

// bareImage returns an image that lies in the file by itself, stored as it is.
func bareImage(r io.ReaderAt, kind Kind, off, size int64) *Image {
	return &Image{Kind: kind, Offset: off, PayloadOffset: off, StoredBytes: size, Bytes: size, r: r}
}

// Bare reports whether the image lies in the file by itself: no entry header
// stands before it, and its container is its own.
func (im *Image) Bare() bool { return im.Offset == im.PayloadOffset }

// setCubin fills from the cubin what a fat binary says in its entry header.
func (im *Image) setCubin(c *Cubin) {
	im.Major, im.Minor, im.Flags, im.Arch = 1, 7, Flag64Bit, c.Arch
	if c.ABI > 7 {
		im.Minor = 8
	}
	im.setSuffix(c.Arch.Suffix)
}

func (im *Image) setSuffix(suffix byte) {
	switch suffix {
	case 'a':
		im.Flags |= FlagSuffixA
	case 'f':
		im.Flags |= FlagSuffixF
	}
}

// LoosePTX returns a container that stands for a PTX file of its own.
func LoosePTX(r io.ReaderAt, off, size int64) (*Container, error) {
	im := bareImage(r, KindPTX, off, size)
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
	im.setSuffix(p.Target.Suffix)
}
