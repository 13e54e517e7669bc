//go:build !unix

package collect

const nonBlocking = 0
