/*
 * The three functions that NVIDIA's headers declare and leave to the program, in the order of search that they tell of.
 */
#define NVTX_NO_IMPL
#include <nvtxw3/nvtxw3_loader.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

NVTXW_DECLSPEC nvtxwResultCode_t nvtxwLoad(const char* library, nvtxwGetInterface_t* getInterfaceFuncOut,
                                           nvtxwModuleHandle_t* moduleHandleOut)
{
    const char* named = getenv(NVTXW_LIBRARY_ENV_VAR);
    void* module;
    void* symbol;

    if (!getInterfaceFuncOut) return NVTXW_RESULT_INVALID_ARGUMENT;
    if (named && *named) library = named;
    module = dlopen(library ? library : NVTXW_LIB_FILENAME_DEFAULT, RTLD_NOW | RTLD_LOCAL);
    if (!module) return library ? NVTXW_RESULT_LIBRARY_LOAD_FAILED : NVTXW_RESULT_LIBRARY_NOT_FOUND;
    symbol = dlsym(module, NVTXW_GET_INTERFACE_SYMBOL_NAME);
    if (!symbol)
    {
        dlclose(module);
        return NVTXW_RESULT_LIBRARY_SYMBOL_MISSING;
    }
    memcpy(getInterfaceFuncOut, &symbol, sizeof(symbol));
    if (moduleHandleOut) *moduleHandleOut = module;
    return NVTXW_RESULT_SUCCESS;
}

/* The library stays mapped, as that of a backend does. */
NVTXW_DECLSPEC void nvtxwUnload(nvtxwModuleHandle_t moduleHandle)
{
    void* symbol = moduleHandle ? dlsym(moduleHandle, NVTXW_FINALIZE_SYMBOL_NAME) : NULL;
    nvtxwFinalize_t finalize;
    memcpy(&finalize, &symbol, sizeof(symbol));
    if (finalize) finalize();
}

NVTXW_DECLSPEC size_t nvtxwGetError(nvtxwResultCode_t code, char* messageOut, size_t messageOutLen)
{
    int length;
    if (!messageOut || !messageOutLen) return 0;
    length = snprintf(messageOut, messageOutLen, "NVTXW result %d", code);
    return (size_t)length < messageOutLen ? (size_t)length : messageOutLen - 1;
}
