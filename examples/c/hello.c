/*
 * A trace of a few events and samples, through any NVTXW backend.
 *
 *     gcc -I nvtx-0.2.17/include examples/c/hello.c -o hello
 *     ./hello target/release/libnvtxw3.so hello.pftrace
 *
 * The headers are part of NVIDIA's package `nvtx`: pip download --no-deps --no-binary :all: nvtx==0.2.17
 */
#define NVTX_NO_IMPL /* This program writes a trace; it isn't traced itself. */
#include <nvtxw3/nvtxw3_helpers.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Each call answers with a code. What was wrong, a backend tells on standard error. */
static void check(nvtxwResultCode_t code, const char* call)
{
    if (code == NVTXW_RESULT_SUCCESS) return;
    fprintf(stderr, "%s: code %d\n", call, code);
    exit(1);
}
#define CHECK(call) check(call, #call)

static const nvtxwInterface_t* load(const char* path)
{
    void* library = dlopen(path, RTLD_NOW);
    void* symbol = library ? dlsym(library, NVTXW_GET_INTERFACE_SYMBOL_NAME) : NULL;
    const void* table = NULL;
    nvtxwGetInterface_t get_interface;
    if (!symbol) fprintf(stderr, "%s\n", dlerror()), exit(1);
    memcpy(&get_interface, &symbol, sizeof(symbol));
    CHECK(get_interface(NVTXW_INTERFACE_VERSION, &table));
    return (const nvtxwInterface_t*)table;
}

int main(int argc, char** argv)
{
    if (argc != 3) return fprintf(stderr, "usage: hello LIBRARY OUTPUT\n"), 2;
    const nvtxwInterface_t* nvtxw = load(argv[1]);
    char config[4096];
    snprintf(config, sizeof(config), "path=%s|overwrite=true", argv[2]);

    nvtxwSessionAttributes_t attributes;
    nvtxwSessionHandle_t session;
    nvtxDomainHandle_t domain;
    CHECK(nvtxwSessionAttributesInit(&attributes));
    attributes.name = "hello";
    attributes.configString = config;
    CHECK(nvtxw->SessionBegin(&attributes, &session));
    CHECK(nvtxwDomainRegister(nvtxw, session, NULL, &domain));
    CHECK(nvtxwCategoryRegister(nvtxw, domain, 1, "io"));

    /* A writer opens a stream, here for what happens on a device. */
    nvtxwEventWriter_t gpu;
    CHECK(nvtxwEventWriterOpen(nvtxw, session, "gpu", domain, "GPU[0]", NVTX_TIME_DOMAIN_ID_NONE, &gpu));
    nvtxwEventAttributesUtf8_t start = {0, 0, 0, "start"};
    nvtxwEventAttributesUtf8_t copy = {0xFF008000, 1, 0, "copy"}; /* colour, category, length of the text or 0, text */
    CHECK(nvtxwMarkWriteUtf8(&gpu, 100, start));
    CHECK(nvtxwRangePushPopWriteUtf8(&gpu, 200, 450, copy));

    uint64_t queue;
    CHECK(nvtxwCounterInt64Register(nvtxw, domain, "queue depth", NULL, &queue));
    for (int64_t i = 0; i < 3; ++i) CHECK(nvtxwCounterInt64Write(nvtxw, gpu.stream, 100 * i, queue, i));
    CHECK(nvtxw->SessionEnd(session));
    return 0;
}
