/* Loads device code through the CUDA driver and prints what the driver says, so
 * that fatview's predictions can be held against it. Needs no header of CUDA:
 * libcuda.so.1 is opened at run time, and the few types are those of its ABI.
 *
 * Reads lines from standard input: a path, an offset, a size in bytes and the
 * names of kernels with commas between them, with tabs between the four. Writes
 *   gpu     MAJOR  MINOR  DRIVER         once; DRIVER is 1000 * major + 10 * minor
 *   load    CODE   NAME                  of cuModuleLoadData, one for each line
 *   library CODE   NAME                  of cuLibraryLoadData, where there is one
 *   kernel  CODE   NAME   KERNEL         of cuModuleGetFunction, after a load that worked
 * Exits with 77 and a reason where there is no driver or no GPU.
 *
 *   cc -Wall -Werror -o probe scripts/probe.c -ldl
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP = 77, CC_MAJOR = 75, CC_MINOR = 76, MAX_LINE = 1 << 16 };
static const long max_image = 1L << 30;

typedef void *handle;

static struct {
    int (*init)(unsigned);
    int (*driver_version)(int *);
    int (*error_name)(int, const char **);
    int (*count)(int *);
    int (*device)(int *, int);
    int (*attribute)(int *, int, int);
    int (*retain)(handle *, int);
    int (*release)(int);
    int (*set_current)(handle);
    int (*load)(handle *, const void *);
    int (*unload)(handle);
    int (*function)(handle *, handle, const char *);
    /* From CUDA 12.0 on; NULL before. */
    int (*library)(handle *, const void *, void *, void *, unsigned, void *, void *, unsigned);
    int (*library_unload)(handle);
} cu;

static int skip(const char *why) {
    fprintf(stderr, "%s\n", why);
    return SKIP;
}

static const char *name_of(int code) {
    const char *name = NULL;
    if (cu.error_name && cu.error_name(code, &name) == 0 && name) return name;
    return code == 0 ? "CUDA_SUCCESS" : "?";
}

/* POSIX lets a function be taken from dlsym; ISO C has no cast for it. */
static int find(void *so, const char *name, void *slot) {
    void *symbol = dlsym(so, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int open_driver(void) {
    void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!so) return 0;
    find(so, "cuGetErrorName", &cu.error_name);
    find(so, "cuLibraryLoadData", &cu.library);
    find(so, "cuLibraryUnload", &cu.library_unload);
    return find(so, "cuInit", &cu.init) && find(so, "cuDriverGetVersion", &cu.driver_version) &&
           find(so, "cuDeviceGetCount", &cu.count) && find(so, "cuDeviceGet", &cu.device) &&
           find(so, "cuDeviceGetAttribute", &cu.attribute) && find(so, "cuDevicePrimaryCtxRetain", &cu.retain) &&
           (find(so, "cuDevicePrimaryCtxRelease_v2", &cu.release) || find(so, "cuDevicePrimaryCtxRelease", &cu.release)) &&
           find(so, "cuCtxSetCurrent", &cu.set_current) && find(so, "cuModuleLoadData", &cu.load) &&
           find(so, "cuModuleUnload", &cu.unload) && find(so, "cuModuleGetFunction", &cu.function);
}

/* Returns the bytes with a zero behind them, as PTX must have it, or NULL. */
static char *read_part(const char *path, long offset, long size) {
    if (offset < 0 || size < 1 || size > max_image) return NULL;
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *bytes = calloc(1, (size_t)size + 1);
    if (bytes && (fseek(f, offset, SEEK_SET) != 0 || fread(bytes, 1, (size_t)size, f) != (size_t)size)) {
        free(bytes);
        bytes = NULL;
    }
    fclose(f);
    return bytes;
}

static void probe(const char *image, char *kernels) {
    handle module = NULL;
    int code = cu.load(&module, image);
    printf("load\t%d\t%s\n", code, name_of(code));
    if (cu.library && cu.library_unload) {
        handle library = NULL;
        int again = cu.library(&library, image, NULL, NULL, 0, NULL, NULL, 0);
        printf("library\t%d\t%s\n", again, name_of(again));
        if (again == 0) cu.library_unload(library);
    }
    if (code != 0) return;
    for (char *kernel = strtok(kernels, ","); kernel; kernel = strtok(NULL, ",")) {
        handle function = NULL;
        int got = cu.function(&function, module, kernel);
        printf("kernel\t%d\t%s\t%s\n", got, name_of(got), kernel);
    }
    cu.unload(module);
}

int main(void) {
    static char line[MAX_LINE];
    int n = 0, device = 0, major = 0, minor = 0, version = 0, code;
    handle context = NULL;

    if (!open_driver()) return skip("no libcuda.so.1 that can be used");
    if ((code = cu.init(0)) != 0) {
        fprintf(stderr, "cuInit: %d %s\n", code, name_of(code));
        return SKIP;
    }
    if (cu.count(&n) != 0 || n < 1 || cu.device(&device, 0) != 0) return skip("no GPU");
    if (cu.attribute(&major, CC_MAJOR, device) != 0 || cu.attribute(&minor, CC_MINOR, device) != 0) return skip("no compute capability");
    cu.driver_version(&version);
    if (cu.retain(&context, device) != 0 || cu.set_current(context) != 0) return skip("no context on the GPU");
    printf("gpu\t%d\t%d\t%d\n", major, minor, version);

    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *fields[4] = {line, NULL, NULL, NULL};
        for (int i = 1; i < 4; i++) {
            char *tab = fields[i - 1] ? strchr(fields[i - 1], '\t') : NULL;
            if (!tab) break;
            *tab = 0;
            fields[i] = tab + 1;
        }
        char *image = fields[3] ? read_part(fields[0], atol(fields[1]), atol(fields[2])) : NULL;
        if (!image) {
            fprintf(stderr, "cannot read %s\n", fields[0]);
            return 1;
        }
        probe(image, fields[3]);
        fflush(stdout);
        free(image);
    }
    cu.release(device);
    return 0;
}
