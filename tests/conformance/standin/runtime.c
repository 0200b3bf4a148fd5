/* A CUDA runtime without a device: memory is the host's, copies copy, kernels do nothing.
 *
 * PyTorch compares devices in host code, before any kernel starts.  With this in place of libcudart, a CUDA build of
 * PyTorch runs those checks for real on a machine that has no GPU.  Numbers are wrong (memory is zero or stale), so
 * nothing that depends on them may be concluded.
 *
 * Layouts: driver_types.h of CUDA 12 and 13 (the struct cudaDeviceProp lost a few fields in 13; those that PyTorch
 * reads are set by both layouts through CUDART_MAJOR).
 */
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t total_memory, shared_per_block;
    int registers_per_block, warp_size;
    size_t pitch;
    int threads_per_block, threads_dim[3], grid[3];
#if CUDART_MAJOR < 13
    int clock_rate;
#endif
    size_t constant_memory;
    int major, minor;
    size_t texture_alignment, texture_pitch;
#if CUDART_MAJOR < 13
    int device_overlap;
#endif
    int multiprocessors;
#if CUDART_MAJOR < 13
    int kernel_timeout;
#endif
    int integrated, can_map;
#if CUDART_MAJOR < 13
    int compute_mode;
#endif
    int textures[40]; /* sizes of textures and surfaces, then fields that PyTorch only prints */
    int rest[1000];
} Properties;

int cudaGetDeviceCount(int *count) { *count = 1; return 0; }
int cudaGetDevice(int *device) { *device = 0; return 0; }
int cudaSetDevice(int device) { return device == 0 ? 0 : 101; }
int cudaDriverGetVersion(int *version) { *version = CUDART_MAJOR * 1000 + 90; return 0; }
int cudaRuntimeGetVersion(int *version) { *version = CUDART_MAJOR * 1000; return 0; }

static int properties(Properties *found) {
    /* The caller's struct is shorter than ours: write only what lies before the texture sizes, and a few fields after. */
    memset(found, 0, offsetof(Properties, textures));
    strcpy(found->name, "Stand-in");
    found->total_memory = (size_t)8 << 30;
    found->shared_per_block = 49152;
    found->registers_per_block = 65536;
    found->warp_size = 32;
    found->threads_per_block = 1024;
    found->threads_dim[0] = found->threads_dim[1] = 1024;
    found->threads_dim[2] = 64;
    found->grid[0] = 2147483647;
    found->grid[1] = found->grid[2] = 65535;
    found->major = 9;
    found->multiprocessors = 8;
    return 0;
}
int cudaGetDeviceProperties(Properties *found, int device) {
    (void)device;
    /* maxThreadsPerMultiProcessor and sharedMemPerBlockOptin lie among the fields of unknown size: fill with a value
     * that is harmless as either. */
    int *words = (int *)((char *)found + offsetof(Properties, textures));
    for (int i = 0; i < 64; i++) words[i] = 2048;
    return properties(found);
}
int cudaGetDeviceProperties_v2(Properties *found, int device) { return cudaGetDeviceProperties(found, device); }

int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 1: *value = 1024; break;    /* threads per block */
    case 8: *value = 49152; break;   /* shared memory per block */
    case 10: *value = 32; break;     /* warp */
    case 16: *value = 8; break;      /* multiprocessors */
    case 39: *value = 2048; break;   /* threads per multiprocessor */
    case 75: *value = 9; break;      /* compute capability */
    case 76: *value = 0; break;
    case 97: *value = 232448; break; /* shared memory per block, opt-in */
    case 5: case 6: case 7: *value = 65535; break;
    default: *value = 1;
    }
    return 0;
}
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -1; return 0; }
int cudaDeviceCanAccessPeer(int *can) { *can = 0; return 0; }
int cudaDeviceGetPCIBusId(char *id, int length) { strncpy(id, "0000:00:00.0", length); return 0; }
int cudaDeviceGetDefaultMemPool(void **pool) { *pool = (void *)1; return 0; }

/* Room at the end, and small blocks are never given back: code that believes a kernel has written sizes or indices must
 * not bring the process down. */
int cudaMalloc(void **memory, size_t size) { *memory = calloc(1, size + 4096); return *memory ? 0 : 2; }
static int give_back(void *memory) { if (malloc_usable_size(memory) > (1 << 20)) free(memory); return 0; }
int cudaMallocAsync(void **memory, size_t size) { return cudaMalloc(memory, size); }
int cudaHostAlloc(void **memory, size_t size) { return cudaMalloc(memory, size); }
int cudaMallocHost(void **memory, size_t size) { return cudaMalloc(memory, size); }
int cudaFree(void *memory) { return give_back(memory); }
int cudaFreeAsync(void *memory) { return give_back(memory); }
int cudaFreeHost(void *memory) { return give_back(memory); }
int cudaMemGetInfo(size_t *unused, size_t *total) { *unused = *total = (size_t)8 << 30; return 0; }
int cudaMemcpy(void *to, const void *from, size_t size) { memmove(to, from, size); return 0; }
int cudaMemcpyAsync(void *to, const void *from, size_t size) { memmove(to, from, size); return 0; }
int cudaMemcpyPeerAsync(void *to, int there, const void *from, int here, size_t size) {
    (void)there; (void)here;
    memmove(to, from, size);
    return 0;
}
int cudaMemcpy2DAsync(char *to, size_t tp, const char *from, size_t fp, size_t width, size_t height) {
    for (size_t row = 0; row < height; row++) memmove(to + row * tp, from + row * fp, width);
    return 0;
}
int cudaMemset(void *to, int value, size_t size) { memset(to, value, size); return 0; }
int cudaMemsetAsync(void *to, int value, size_t size) { memset(to, value, size); return 0; }
int cudaPointerGetAttributes(void *attributes) { memset(attributes, 0, 24); return 0; }
int cudaGetSymbolAddress(void **found) { *found = calloc(1, 1 << 16); return 0; }

int cudaStreamCreate(void **stream) { *stream = (void *)8; return 0; }
int cudaStreamCreateWithFlags(void **stream) { *stream = (void *)8; return 0; }
int cudaStreamCreateWithPriority(void **stream) { *stream = (void *)8; return 0; }
int cudaStreamGetPriority(void *stream, int *priority) { (void)stream; *priority = 0; return 0; }
int cudaStreamIsCapturing(void *stream, int *status) { (void)stream; *status = 0; return 0; }
int cudaStreamGetCaptureInfo(void *stream, int *status) { (void)stream; *status = 0; return 0; }
int cudaStreamGetCaptureInfo_v2(void *stream, int *status) { (void)stream; *status = 0; return 0; }
int cudaStreamGetCaptureInfo_v3(void *stream, int *status) { (void)stream; *status = 0; return 0; }
int cudaEventCreate(void **event) { *event = (void *)8; return 0; }
int cudaEventCreateWithFlags(void **event) { *event = (void *)8; return 0; }
int cudaEventElapsedTime(float *milliseconds) { *milliseconds = 0; return 0; }

int cudaFuncGetAttributes(void *attributes) {
    struct { size_t shared, constant, local; int threads, registers, ptx, binary, ca, dynamic; } known =
        {0, 0, 0, 1024, 32, 90, 90, 0, 49152};
    memcpy(attributes, &known, sizeof known);
    return 0;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks) { *blocks = 2; return 0; }
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks) { *blocks = 2; return 0; }
const char *cudaGetErrorString(int error) { (void)error; return "stand-in error"; }
const char *cudaGetErrorName(int error) { (void)error; return "standInError"; }

static int nothing(void) { return 0; }
int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned long long flags, int *status) {
    (void)name; (void)version; (void)flags;
    *function = (void *)nothing;
    if (status) *status = 0;
    return 0;
}
int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status) {
    return cudaGetDriverEntryPointByVersion(name, function, 0, flags, status);
}
void **__cudaRegisterFatBinary(void *binary) { static void *handle; (void)binary; return &handle; }
int __cudaGetKernel(void **kernel) { *kernel = (void *)8; return 0; }
/* A launch configuration is taken back by the launcher, which starts nothing if this fails. */
int __cudaPopCallConfiguration(void) { return 1; }

/* Libraries beside the runtime */
int cublasCreate_v2(void **handle) { *handle = (void *)8; return 0; }
int cublasLtCreate(void **handle) { *handle = (void *)8; return 0; }
int cusparseCreate(void **handle) { *handle = (void *)8; return 0; }
int cusolverDnCreate(void **handle) { *handle = (void *)8; return 0; }
int cusolverDnCreateParams(void **handle) { *handle = (void *)8; return 0; }
int nvrtcVersion(int *major, int *minor) { *major = CUDART_MAJOR; *minor = 0; return 0; }
int nvrtcGetPTXSize(void *program, size_t *size) { (void)program; *size = 1; return 0; }
int nvrtcGetCUBINSize(void *program, size_t *size) { (void)program; *size = 1; return 0; }
int nvrtcGetProgramLogSize(void *program, size_t *size) { (void)program; *size = 1; return 0; }
int nvrtcGetLoweredName(void *program, const char *name, const char **lowered) { (void)program; *lowered = name; return 0; }
int cufftCreate(int *plan) { *plan = 1; return 0; }
int cudnnCreate(void **handle) { *handle = (void *)8; return 0; }
size_t cudnnGetVersion(void) { return CUDNN_VERSION; }
int cudnnGetProperty(int which, int *value) {
    *value = which == 0 ? CUDNN_VERSION / 10000 : which == 1 ? CUDNN_VERSION / 100 % 100 : CUDNN_VERSION % 100;
    return 0;
}
size_t cudnnGetCudartVersion(void) { return CUDART_MAJOR * 1000; }
const char *cudnnGetErrorString(int error) { (void)error; return "stand-in error"; }
void cudnnGetLastErrorString(char *message, size_t size) { if (size) strncpy(message, "stand-in error", size); }
const char *cublasGetStatusString(int error) { (void)error; return "stand-in error"; }
const char *cusparseGetErrorString(int error) { (void)error; return "stand-in error"; }
const char *cusparseGetErrorName(int error) { (void)error; return "stand-in error"; }
const char *ncclGetErrorString(int error) { (void)error; return "stand-in error"; }
int cudnnBackendCreateDescriptor(void) { return 3000; } /* CUDNN_STATUS_NOT_SUPPORTED */

int cufftXtMakePlanMany(int plan, int rank, void *n, void *ie, long is, long id, int it, void *oe, long os, long od,
                        int ot, long batch, size_t *work) {
    *work = 0;
    return 0;
}
int cudnnGetRNNWeightSpaceSize(void *handle, void *rnn, size_t *size) { *size = 1 << 20; return 0; }
int cudnnGetRNNTempSpaceSizes(void *handle, void *rnn, int mode, void *x, size_t *work, size_t *reserve) {
    *work = *reserve = 1 << 16;
    return 0;
}

/* Whatever reports the size of a work space in a place that differs from function to function. */
int standin_failure(void) { return 7; }
/* Everything else succeeds and does nothing. */
int standin_success(void) { return 0; }
