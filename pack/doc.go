// Package pack opens packages and hands out what is in them, member by member,
// so that a wheel, a conda package, a .deb or a container image can be looked
// into without being unpacked by hand. It knows nothing of what the members
// are.
//
//	caller's reader ─▶ recognise ─▶ zip | tar | deb | image | one packed file
//	                       ▲                      │ member
//	                       └── is a package ◀─────┤
//	                                              ▼
//	                                            visit ─▶ Open ─▶ Blob
//
// A member that lies readable in its package (stored in a zip, in a plain tar)
// is a window of the caller's reader and is never copied. Any other member is
// unpacked when the visitor asks for it, to memory or to a temporary file that
// has no name; one that nobody asks for is unpacked as far as its first bytes
// only, or streamed over.
//
// Everything read is taken for hostile. [Limits] bounds what is unpacked and
// kept, names are cleaned until they stay inside the package, and whatever is
// damaged or left out is a [Finding]. Names and contents are returned as they
// are in the package otherwise: a caller that shows them escapes them.
//
// Not promised: digests and the checksums of members that are read in place
// are not verified, and what a package hides by damage to its own directory is
// not searched for.
//
// The facts come from PKWARE's APPNOTE (zip), POSIX pax and the GNU tar manual,
// deb(5), conda's package specification, RFC 1952 and RFC 8878, the .xz file
// format 1.2, and the OCI image specification with its rules for layers.
// Manifests and indexes of images are parsed by go-containerregistry's v1
// package; its tarball and layout packages are not used, because they open an
// image file again for each layer, and here blobs are windows of one reader.
package pack
