/* A stand-in for libcuda.so.1 that tests build: a GPU of capability 9.0 under
 * CUDA 12.8. An image is refused with the number that its first three characters
 * are; a kernel whose name holds "absent" is not found. */
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags) { (void)flags; const char *v = getenv("FAKECUDA_INIT"); return v ? atoi(v) : 0; }
int cuDriverGetVersion(int *v) { *v = 12080; return 0; }
int cuGetErrorName(int code, const char **name) { *name = code == 0 ? "CUDA_SUCCESS" : "CUDA_ERROR_FAKE"; return 0; }
int cuDeviceGetCount(int *n) { *n = getenv("FAKECUDA_NONE") ? 0 : 1; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetAttribute(int *v, int what, int d) { (void)d; *v = what == 75 ? 9 : 0; return 0; }
int cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; *c = c; return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { (void)d; return 0; }
int cuCtxSetCurrent(void *c) { (void)c; return 0; }
int cuModuleLoadData(void **m, const void *image) { *m = m; return atoi(image); }
int cuModuleUnload(void *m) { (void)m; return 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { (void)m; *f = f; return strstr(name, "absent") ? 500 : 0; }
int cuLibraryLoadData(void **l, const void *image, void *a, void *b, unsigned n, void *c, void *d, unsigned k) {
    (void)a; (void)b; (void)n; (void)c; (void)d; (void)k;
    *l = l;
    return atoi(image) == 209 ? 0 : atoi(image); /* lazily: the error comes later */
}
int cuLibraryUnload(void *l) { (void)l; return 0; }
