/* A stand-in for NVIDIA's libnvidia-ml.so.1 that tests build and load for real.
 * FAKENVML names the scenario; see fakenvml_test.go. With -DOLD it is a library
 * of 2015, before capabilities, CUDA versions and MIG could be asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { const char *name, *uuid; int major, minor; } gpu_t;

static gpu_t gpus[] = {
    {"NVIDIA GeForce RTX 5090", "GPU-00000000-5090-0000-0000-000000000000", 12, 0},
    {"NVIDIA A100-SXM4-80GB", "GPU-00000001-a100-0000-0000-000000000000", 8, 0},
};
static gpu_t mig[] = {
    {"NVIDIA A100-SXM4-80GB MIG 1g.10gb", "MIG-00000000-0000-0000-0000-00000000001g", 8, 0},
    {"", "MIG-00000000-0000-0000-0000-00000000002g", 8, 0},
};
static gpu_t strange = {"evil\x1b[31m\n\xff name", "GPU-\x07x", 300, -1};

static int is(const char *s) {
    const char *v = getenv("FAKENVML");
    return v && strcmp(v, s) == 0;
}
static int put(char *out, unsigned size, const char *s) {
    if (strlen(s) + 1 > size) return 7;
    strcpy(out, s);
    return 0;
}

int nvmlInit_v2(void) {
    const char *v = getenv("FAKENVML");
    if (is("hang")) sleep(30);
    if (v && strncmp(v, "init", 4) == 0) return atoi(v + 4);
    return 0;
}
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *out, unsigned size) { return put(out, size, is("ancient") ? "340.108" : "570.86.10"); }
int nvmlDeviceGetCount_v2(unsigned *n) {
    *n = is("empty") ? 0 : is("many") ? 4000000000u : 2;
    return is("nocount") ? 999 : 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, gpu_t **d) {
    if (is("lost") && i == 0) return 15;
    if (is("denied") && i == 1) return 4;
    *d = is("strange") && i == 0 ? &strange : &gpus[i % 2];
    return 0;
}
int nvmlDeviceGetName(gpu_t *d, char *out, unsigned size) { return put(out, size, d->name); }
int nvmlDeviceGetUUID(gpu_t *d, char *out, unsigned size) { return put(out, size, d->uuid); }

#ifndef OLD
int nvmlSystemGetCudaDriverVersion_v2(int *v) {
    if (is("nocuda")) return 12;
    *v = is("compat") ? 13000 : is("strange") ? -7 : 12080;
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(gpu_t *d, int *major, int *minor) {
    if (is("lostlate") && d == &gpus[1]) return 15;
    *major = d->major;
    *minor = d->minor;
    return 0;
}
int nvmlDeviceGetMigMode(gpu_t *d, unsigned *current, unsigned *pending) {
    if (d != &gpus[1]) return 3;
    *current = *pending = is("mig");
    return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(gpu_t *d, unsigned *n) {
    *n = 7;
    return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(gpu_t *d, unsigned i, gpu_t **out) {
    if (i != 0 && i != 3) return 6;
    *out = &mig[i == 3];
    return 0;
}
#endif
