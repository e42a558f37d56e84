/*
 * A program that loads a backend, writes, and unloads it: `host LIBRARY CONFIG CYCLES HOW`, with HOW one of
 *   unload   ends each session, finalizes and unloads the library
 *   keep     the same without unloading it
 *   return   returns from main with the last session open
 *   exit     calls exit with the last session open
 *   handler  the same, and a handler of atexit that was registered first writes once more and ends the session
 *   close    unloads the library with the last session open
 * Prints the bytes on the heap after cycle 10 and after the last.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { size_t structSize; const char* name; const char* config; } SessionAttributes;
typedef struct { size_t structSize; const char* name; } DomainAttributes;
typedef struct
{
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail, offset;
    const void *semantics, *reserved;
} SchemaEntry;
typedef struct
{
    uint64_t mask;
    const char* name;
    uint64_t type, flags;
    const SchemaEntry* entries;
    size_t count, size, pack;
    uint64_t id;
    void* extension;
} SchemaAttributes;
typedef struct
{
    size_t structSize;
    uint64_t schema;
    const char *name, *description;
    uint64_t scope;
    const void* semantics;
    uint64_t id;
} CounterAttributes;
typedef struct
{
    size_t structSize;
    const char* name;
    void* domain;
    uint64_t scope, timeDomain;
    int16_t interleaving, ordering;
    int32_t skid;
    int64_t skidAmount;
} StreamAttributes;
typedef struct { uint64_t schema; size_t size; const void* payload; } Payload;

typedef struct
{
    int (*SessionBegin)(const SessionAttributes*, void**);
    int (*SessionEnd)(void*);
    int (*DomainRegister)(void*, const DomainAttributes*, void**);
    int (*CategoryRegister)(void*, uint32_t, const char*);
    int (*StringRegister)(void*, const char*, void**);
    void *ResourceRegister, *ScopeRegister;
    int (*SchemaRegister)(void*, const SchemaAttributes*, uint64_t*);
    void* EnumRegister;
    int (*CounterRegister)(void*, const CounterAttributes*, uint64_t*);
    void* TimeDomainRegister;
    int (*StreamOpen)(void*, const StreamAttributes*, void**);
    int (*StreamClose)(void*);
    int (*EventWrite)(void*, const Payload*, size_t);
    void* EventBatchWrite;
    int (*CounterWrite)(void*, int64_t, uint64_t, const void*, size_t);
} Table;

#define STREAMS 40
#define EVENTS 20

static const Table* table;
static void *session, *domain, *streams[STREAMS];
static uint64_t mark, counter;

static void check(int code, const char* what)
{
    if (code == 0) return;
    fprintf(stderr, "%s: %d\n", what, code);
    _Exit(2);
}

static void write_mark(void* stream, int64_t time)
{
    Payload payloads[2] = {{mark, sizeof time, NULL}, {75 /* a C string */, 6, "event"}};
    payloads[0].payload = &time;
    check(table->EventWrite(stream, payloads, 2), "EventWrite");
}

static void begin(const char* config)
{
    SessionAttributes attributes = {sizeof attributes, "host", config};
    DomainAttributes named = {sizeof named, "domain"};
    SchemaEntry time = {2 << 10 /* a timestamp */, 17 /* a 64-bit integer */, "time", NULL, 0, 0, NULL, NULL};
    SchemaAttributes schema = {1 | 2 | 4 | 8 | 16 | 32, "mark", 1, 4 << 3, &time, 1, 8, 0, 0, NULL};
    CounterAttributes samples = {sizeof samples, 17, "samples", NULL, 0, NULL, 0};
    void* string;
    int i, n;

    check(table->SessionBegin(&attributes, &session), "SessionBegin");
    check(table->DomainRegister(session, &named, &domain), "DomainRegister");
    check(table->CategoryRegister(domain, 7, "category"), "CategoryRegister");
    check(table->StringRegister(domain, "string", &string), "StringRegister");
    check(table->SchemaRegister(domain, &schema, &mark), "SchemaRegister");
    check(table->CounterRegister(domain, &samples, &counter), "CounterRegister");
    for (i = 0; i < STREAMS; i++)
    {
        char name[16];
        StreamAttributes stream = {sizeof stream, name, domain, 0, 0, 0, 0, 0, 0};
        snprintf(name, sizeof name, "stream %d", i);
        check(table->StreamOpen(session, &stream, &streams[i]), "StreamOpen");
        for (n = 0; n < EVENTS; n++)
        {
            int64_t value = n;
            write_mark(streams[i], n * 10);
            check(table->CounterWrite(streams[i], n * 10, counter, &value, sizeof value), "CounterWrite");
        }
    }
}

static void end(void)
{
    check(table->StreamClose(streams[0]), "StreamClose");
    check(table->SessionEnd(session), "SessionEnd");
}

static void end_late(void)
{
    write_mark(streams[0], EVENTS * 10);
    end();
}

int main(int argc, char** argv)
{
    const char* how = argc == 5 ? argv[4] : "";
    int cycles = argc == 5 ? atoi(argv[3]) : 0, cycle;
    size_t early = 0;

    if (!strcmp(how, "handler")) atexit(end_late);
    for (cycle = 1; cycle <= cycles; cycle++)
    {
        int stays = cycle == cycles && strcmp(how, "unload") && strcmp(how, "keep");
        void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        int (*get_interface)(int, const void**);
        void (*finalize)(void);
        if (!library)
        {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        *(void**)&get_interface = dlsym(library, "nvtxwGetInterface");
        *(void**)&finalize = dlsym(library, "nvtxwFinalize");
        check(get_interface(2, (const void**)&table), "nvtxwGetInterface");
        begin(argv[2]);
        if (!stays)
        {
            Payload none = {mark, 0, NULL};
            end();
            finalize();
            /* Handles that outlive it. */
            if (!table->EventWrite(streams[1], &none, 1) || !table->SessionEnd(session)) return 3;
        }
        if (!strcmp(how, "unload") || (stays && !strcmp(how, "close"))) dlclose(library);
        if (cycle == 10) early = mallinfo2().uordblks;
    }
    if (cycles > 10) printf("%zu %zu\n", early, mallinfo2().uordblks);
    fflush(stdout);
    if (!strcmp(how, "exit")) exit(0);
    return cycles ? 0 : 2;
}
