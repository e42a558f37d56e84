/*
 * Writes a trace by every helper of NVIDIA's C headers, and by the table's functions that have none, and says what is in it.
 *
 *     helpers LIBRARY CONFIG SAID.jsonl [refusals]
 *
 * CONFIG is the session's, with the key `path`. A call that is not answered as it must be is named, and the exit code is 1. With
 * `refusals` it also calls what a backend must refuse, and writes what is elsewhere in memory, which the recorder doesn't follow.
 */
#define NVTX_NO_IMPL
#include <nvtxw3/nvtxw3_helpers.h>

#include <nvtx3/nvToolsExtPayloadHelper.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include "said.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const nvtxwInterface_t* iface;

static void answered(nvtxwResultCode_t code, nvtxwResultCode_t expected, const char* call, int line)
{
    char message[64];
    if (code == expected) return;
    nvtxwGetError(code, message, sizeof(message));
    fprintf(stderr, "helpers.c:%d: %s: %s instead of %d\n", line, call, message, expected);
    exit(1);
}

#define OK(call) answered(call, NVTXW_RESULT_SUCCESS, #call, __LINE__)
#define REFUSED(call) answered(call, NVTXW_RESULT_INVALID_ARGUMENT, #call, __LINE__)
#define HOLDS(condition) answered((condition) ? 0 : NVTXW_RESULT_FAILED, 0, #condition, __LINE__)

/* What the macros of the payload helper register with. In a program that traces itself it is NVTX's own. */
uint64_t NVTX_API nvtxPayloadSchemaRegister(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attr)
{
    uint64_t id = 0;
    OK(iface->SchemaRegister(domain, attr, &id));
    return id;
}

/* Categories: one that gets a name, and one that doesn't. */
enum { CATEGORY_IO = 3, CATEGORY_UNNAMED = 9 };

static const char* category_said(uint32_t category)
{
    if (!category) return NULL;
    return category == CATEGORY_IO ? "\"io\"" : said_format("%" PRIu32, category);
}

/* A memory checker finds any look beyond the text: there is no null behind one with a length. */
static char* exact(const char* text, size_t length)
{
    size_t size = length ? length : strlen(text) + 1;
    char* copy = (char*)malloc(size);
    memcpy(copy, text, size);
    return copy;
}

/* -------- Events: each helper with each combination of attributes -------- */

/* Each range overlaps others: those that are declared to nest do so, in an order that is not that of time. */
static const int64_t STEP = 100;

static void utf8_events(const nvtxwEventWriter_t* writer, const said_place* place, int64_t time)
{
    static const struct { const char* message; uint32_t length; uint32_t color; uint32_t category; } cases[] = {
        {"plain", 0, 0, 0},
        {"bounded by its length", 7, 0, 0},
        {NULL, 0, 0xFF008000, CATEGORY_IO},
        {"", 0, 0, CATEGORY_UNNAMED},
        {"gr\xC3\xB6\xC3\x9F" "e \xED\x95\x9C\xEA\xB0\x95", 0, 0xFF112233, CATEGORY_IO},
        {"\"quoted\"\n", 9, 0x00010203, 0},
        {"no\0more", 7, 1, UINT32_MAX},
    };
    uint64_t id = UINT64_MAX;
    size_t i;
    for (i = 0; i < COUNT(cases); ++i, time += STEP, --id)
    {
        const char* message = cases[i].message;
        char* memory = message ? exact(message, cases[i].length) : NULL;
        char* shown = message && cases[i].length ? strndup(message, cases[i].length) : NULL;
        nvtxwEventAttributesUtf8_t attr;
        said_event event;
        attr.color = cases[i].color;
        attr.category = cases[i].category;
        attr.messageLength = cases[i].length;
        attr.message = memory;
        memset(&event, 0, sizeof(event));
        event.name = said_text(shown ? shown : message ? message : "");
        event.color = cases[i].color;
        event.category = category_said(cases[i].category);

        event.kind = "mark";
        event.time = time;
        OK(nvtxwMarkWriteUtf8(writer, event.time, attr));
        say_event(place, &event);

        event.kind = "range_pushpop";
        event.time = time + 3, event.end = time + 5;
        OK(nvtxwRangePushPopWriteUtf8(writer, event.time, event.end, attr));
        say_event(place, &event);
        event.time = time + 1, event.end = time + 9;
        OK(nvtxwRangePushPopWriteUtf8(writer, event.time, event.end, attr));
        say_event(place, &event);

        event.kind = "range_startend";
        event.time = time + 4, event.end = time + 12;
        OK(nvtxwRangeStartEndWriteUtf8(writer, event.time, event.end, attr));
        say_event(place, &event);

        event.kind = "range_push";
        event.time = time + 20;
        OK(nvtxwRangePushWriteUtf8(writer, event.time, attr));
        say_event(place, &event);

        event.kind = "range_start";
        event.time = time + 21, event.range_id = id;
        OK(nvtxwRangeStartWriteUtf8(writer, event.time, id, attr));
        say_event(place, &event);

        event.color = 0, event.category = NULL, event.name = NULL;
        event.kind = "range_end";
        event.time = time + 31;
        OK(nvtxwRangeEndWrite(writer, event.time, id));
        say_event(place, &event);

        event.kind = "range_pop";
        event.time = time + 30, event.range_id = 0;
        OK(nvtxwRangePopWrite(writer, event.time));
        say_event(place, &event);
        free(memory);
        free(shown);
    }
}

static void registered_events(const nvtxwEventWriter_t* writer, nvtxDomainHandle_t domain, const said_place* place,
                              int64_t time)
{
    static const struct { const char* message; uint32_t color; uint32_t category; } cases[] = {
        {"gemm", 0, 0},
        {NULL, 0xFF008000, CATEGORY_IO},
        {"", 0, CATEGORY_UNNAMED},
        {"\xED\x95\x9C\xEA\xB0\x95", UINT32_MAX, CATEGORY_IO},
    };
    uint64_t id = 1;
    size_t i;
    for (i = 0; i < COUNT(cases); ++i, time += STEP, ++id)
    {
        nvtxwEventAttributes_t attr;
        said_event event;
        memset(&attr, 0, sizeof(attr));
        attr.color = cases[i].color;
        attr.category = cases[i].category;
        if (cases[i].message) OK(iface->StringRegister(domain, cases[i].message, &attr.message));
        memset(&event, 0, sizeof(event));
        event.name = cases[i].message ? said_text(cases[i].message) : NULL;
        event.is_registered = 1;
        event.color = cases[i].color;
        event.category = category_said(cases[i].category);

        event.kind = "mark";
        event.time = time;
        OK(nvtxwMarkWrite(writer, event.time, attr));
        say_event(place, &event);

        event.kind = "range_pushpop";
        event.time = time + 1, event.end = time + 1;
        OK(nvtxwRangePushPopWrite(writer, event.time, event.end, attr));
        say_event(place, &event);

        event.kind = "range_startend";
        event.time = time + 2, event.end = time + 40;
        OK(nvtxwRangeStartEndWrite(writer, event.time, event.end, attr));
        say_event(place, &event);

        event.kind = "range_start";
        event.time = time + 10, event.range_id = id;
        OK(nvtxwRangeStartWrite(writer, event.time, id, attr));
        say_event(place, &event);

        event.kind = "range_push";
        event.time = time + 11, event.range_id = 0;
        OK(nvtxwRangePushWrite(writer, event.time, attr));
        say_event(place, &event);

        event.color = 0, event.category = NULL, event.name = NULL;
        event.kind = "range_pop";
        event.time = time + 50;
        OK(nvtxwRangePopWrite(writer, event.time));
        say_event(place, &event);

        event.kind = "range_end";
        event.time = time + 60, event.range_id = id;
        OK(nvtxwRangeEndWrite(writer, event.time, id));
        say_event(place, &event);
    }
}

/* Schemas one by one: each flag alone suffices for its helper. */
static void selected_schemas(nvtxDomainHandle_t domain, nvtxwStreamHandle_t stream, const said_place* place, int64_t time)
{
    static const uint32_t flags[] = {
        NVTXW_EVENT_HELPER_SCHEMA_MARK_UTF8,
        NVTXW_EVENT_HELPER_SCHEMA_MARK_REG_STRING,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSHPOP_UTF8,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSHPOP_REG_STRING,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_STARTEND_UTF8,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_STARTEND_REG_STRING,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSH_UTF8,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSH_REG_STRING,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_POP,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_POP,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_START_UTF8,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_START_REG_STRING,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_END,
        NVTXW_EVENT_HELPER_SCHEMA_RANGE_END,
    };
    nvtxwEventAttributesUtf8_t text;
    nvtxwEventAttributes_t none;
    size_t i;
    memset(&text, 0, sizeof(text));
    memset(&none, 0, sizeof(none));
    text.message = "selected";
    for (i = 0; i < COUNT(flags); ++i)
    {
        nvtxwEventHelperSchemaIds_t ids;
        nvtxwEventWriter_t writer;
        said_event event;
        memset(&event, 0, sizeof(event));
        OK(nvtxwEventSchemasRegister(iface, domain, flags[i], &ids));
        OK(nvtxwEventWriterInit(&writer, iface, stream, &ids));
        event.time = time + (int64_t)i;
        event.end = event.time + 1;
        event.name = "\"selected\"";
        switch (flags[i])
        {
        case NVTXW_EVENT_HELPER_SCHEMA_MARK_UTF8:
            event.kind = "mark";
            OK(nvtxwMarkWriteUtf8(&writer, event.time, text));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_MARK_REG_STRING:
            event.kind = "mark", event.name = NULL;
            OK(nvtxwMarkWrite(&writer, event.time, none));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSHPOP_UTF8:
            event.kind = "range_pushpop";
            OK(nvtxwRangePushPopWriteUtf8(&writer, event.time, event.end, text));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSHPOP_REG_STRING:
            event.kind = "range_pushpop", event.name = NULL;
            OK(nvtxwRangePushPopWrite(&writer, event.time, event.end, none));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_STARTEND_UTF8:
            event.kind = "range_startend";
            OK(nvtxwRangeStartEndWriteUtf8(&writer, event.time, event.end, text));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_STARTEND_REG_STRING:
            event.kind = "range_startend", event.name = NULL;
            OK(nvtxwRangeStartEndWrite(&writer, event.time, event.end, none));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSH_UTF8:
            event.kind = "range_push";
            OK(nvtxwRangePushWriteUtf8(&writer, event.time, text));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_PUSH_REG_STRING:
            event.kind = "range_push", event.name = NULL;
            OK(nvtxwRangePushWrite(&writer, event.time, none));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_POP:
            event.kind = "range_pop", event.name = NULL;
            OK(nvtxwRangePopWrite(&writer, event.time));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_START_UTF8:
            event.kind = "range_start", event.range_id = 77;
            OK(nvtxwRangeStartWriteUtf8(&writer, event.time, event.range_id, text));
            break;
        case NVTXW_EVENT_HELPER_SCHEMA_RANGE_START_REG_STRING:
            event.kind = "range_start", event.name = NULL, event.range_id = 78;
            OK(nvtxwRangeStartWrite(&writer, event.time, event.range_id, none));
            break;
        default:
            event.kind = "range_end", event.name = NULL, event.range_id = flags[i - 1] == flags[i] ? 77 : 78;
            OK(nvtxwRangeEndWrite(&writer, event.time, event.range_id));
            break;
        }
        say_event(place, &event);
    }
}

/* -------- Structs of the payload helper's macros -------- */

#define LEVEL_ID (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1)
#define POINT_ID (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 2)

static void level_register(nvtxDomainHandle_t domain)
{
    static const nvtxPayloadEnum_t entries[] = {{"low", 1, 0}, {"high", 2, 0}};
    nvtxPayloadEnumAttr_t attr;
    memset(&attr, 0, sizeof(attr));
    attr.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
    attr.name = "level";
    attr.entries = entries;
    attr.numEntries = COUNT(entries);
    attr.sizeOfEnum = 1;
    attr.schemaId = LEVEL_ID;
    OK(iface->EnumRegister(domain, &attr, NULL));
}

NVTX_DEFINE_STRUCT(point, (float, x), (double, y))

NVTX_DEFINE_SCHEMA_FOR_STRUCT(point, "point", static const, NVTX_PAYLOAD_SCHEMA_FLAG_NONE, POINT_ID,
    NVTX_PAYLOAD_ENTRIES(
        (x, TYPE_FLOAT, "x"),
        (y, TYPE_DOUBLE, "y", "up")
    )
)

NVTX_DEFINE_STRUCT_WITH_SCHEMA(kernel, "kernel", static const, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND,
    NVTX_PAYLOAD_ENTRIES(
        (int64_t, (start), TYPE_INT64, "start", NULL, 0, RANGE_BEGIN | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP),
        (int64_t, (end), TYPE_INT64, "end", NULL, 0, RANGE_END | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP),
        (nvtxStringHandle_t, (name), TYPE_NVTX_REGISTERED_STRING_HANDLE, "name", NULL, 0, EVENT_MESSAGE),
        (uint64_t, scope, TYPE_SCOPE_ID, "scope"),
        (uint32_t, color, TYPE_COLOR_ARGB, "color"),
        (uint32_t, category, TYPE_CATEGORY, "category"),
        (uint32_t, (grid, 3), TYPE_UINT32, "grid", "blocks", 3, ARRAY_FIXED_SIZE),
        (int16_t, delta, TYPE_INT16),
        (uint8_t, level, NVTX_PAYLOAD_NESTED(LEVEL_ID), "level"),
        (uint8_t, (secret), TYPE_UINT8, "secret", NULL, 0, HIDE),
        (double, ratio, TYPE_DOUBLE, "ratio", "of what is possible"),
        (char, (label, 8), TYPE_CSTRING_UTF8, "label", NULL, 8),
        (point, (corners, 2), NVTX_PAYLOAD_NESTED(POINT_ID), "corners", NULL, 2, ARRAY_FIXED_SIZE)
    )
)

static const double RATIOS[] = {0.1, -1e300, 0.0};

static kernel kernel_at(int64_t time, int index, nvtxStringHandle_t name, uint64_t scope)
{
    static const double zero = 0;
    kernel row;
    memset(&row, 0, sizeof(row));
    row.start = time, row.end = time + 40;
    row.name = index == 1 ? NULL : name;
    row.scope = scope;
    row.color = index == 2 ? 0xFF00FF00 : 0;
    row.category = index == 0 ? CATEGORY_IO : CATEGORY_UNNAMED;
    row.grid[0] = (uint32_t)index, row.grid[1] = 2, row.grid[2] = UINT32_MAX;
    row.delta = (int16_t)(-32768 + index);
    row.level = (uint8_t)(index + 1);
    row.secret = 42;
    row.ratio = index == 2 ? zero / zero : RATIOS[index];
    memcpy(row.label, index ? "12345678" : "a\0bcdefg", 8);
    row.corners[0].x = 0.1f, row.corners[0].y = 0.1;
    row.corners[1].x = 16777216.0f, row.corners[1].y = -(double)index;
    return row;
}

static void say_kernel(const said_place* place, const kernel* row, const char* name)
{
    said_event event;
    char label[9] = {0};
    memcpy(label, row->label, 8);
    memset(&event, 0, sizeof(event));
    event.kind = "range_startend", event.schema = "\"kernel\"";
    event.time = row->start, event.end = row->end;
    event.name = row->name ? said_text(name) : NULL;
    event.color = row->color;
    event.category = category_said(row->category);
    event.fields = said_format(
        "\"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], \"field 7\": %d, \"level\": %s, \"ratio\": %s, \"label\": %s, "
        "\"corners\": [{\"x\": %s, \"y\": %s}, {\"x\": %s, \"y\": %s}]",
        row->grid[0], row->grid[1], row->grid[2], row->delta,
        row->level == 1 ? "\"low\"" : row->level == 2 ? "\"high\"" : said_format("%d", row->level), said_number(row->ratio),
        said_text(label), said_number(row->corners[0].x), said_number(row->corners[0].y), said_number(row->corners[1].x),
        said_number(row->corners[1].y));
    say_event(place, &event);
}

typedef struct
{
    uint64_t time;
    uint64_t bytes;
} launch;

static void typed_events(nvtxDomainHandle_t domain, nvtxwStreamHandle_t stream, const said_place* place, uint64_t scope,
                         const said_place* scoped, int64_t time)
{
    nvtxStringHandle_t gemm;
    uint64_t kernel_id;
    kernel row, rows[3];
    nvtxEventBatch_t batch;
    nvtxPayloadData_t payload;
    said_event event;
    int i;

    /* Inside a function the macros define locals; a static ID is what the schema gets. */
    NVTX_DEFINE_SCHEMA_FOR_STRUCT_AND_REGISTER(domain, launch, "launch", static const, NVTX_PAYLOAD_SCHEMA_FLAG_MARK,
        NVTX_PAYLOAD_ENTRIES(
            (time, TYPE_UINT64, "time", NULL, 0, MARK | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP),
            (bytes, TYPE_UINT64)
        )
    )
    NVTX_DEFINE_STRUCT_WITH_SCHEMA_AND_REGISTER(domain, leave,
        NVTX_PAYLOAD_ENTRIES(
            (uint32_t, status, TYPE_UINT32, "status"),
            (uint32_t, (codes, 2), TYPE_UINT32, "codes", NULL, 2, ARRAY_FIXED_SIZE)
        )
    )
    leave beside = {7, {8, UINT32_MAX}};
    launch mark;
    nvtxPayloadData_t payloads[2];

    level_register(domain);
    HOLDS(NVTX_PAYLOAD_SCHEMA_REGISTER(domain, point) == POINT_ID);
    kernel_id = NVTX_PAYLOAD_SCHEMA_REGISTER(domain, kernel);
    HOLDS(kernel_id >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
    OK(iface->StringRegister(domain, "gemm", &gemm));

    row = kernel_at(time, 0, gemm, NVTX_SCOPE_NONE);
    payload.schemaId = kernel_id, payload.size = sizeof(row), payload.payload = &row;
    OK(iface->EventWrite(stream, &payload, 1));
    say_kernel(place, &row, "gemm");

    /* The rows stand in no order, and name another scope than the stream. */
    for (i = 0; i < 3; ++i)
    {
        rows[i] = kernel_at(time + 100 * (3 - i), i, gemm, scope);
        say_kernel(scoped, &rows[i], "gemm");
    }
    memset(&batch, 0, sizeof(batch));
    batch.eventSchemaId = kernel_id;
    batch.size = sizeof(rows), batch.events = rows;
    batch.flags = NVTX_BATCH_FLAG_UNSORTED;
    OK(iface->EventBatchWrite(stream, &batch));

    /* An event of two payloads. */
    mark.time = (uint64_t)time + 500, mark.bytes = UINT64_MAX;
    payloads[0].schemaId = launch_schemaId, payloads[0].size = sizeof(mark), payloads[0].payload = &mark;
    payloads[1].schemaId = leave_schemaId, payloads[1].size = sizeof(beside), payloads[1].payload = &beside;
    OK(iface->EventWrite(stream, payloads, 2));
    memset(&event, 0, sizeof(event));
    event.kind = "mark", event.schema = "\"launch\"", event.time = (int64_t)mark.time;
    event.fields = "\"field 1\": 18446744073709551615, \"status\": 7, \"codes\": [8, 4294967295]";
    say_event(place, &event);
}

/* -------- Memory outside of events -------- */

typedef struct
{
    int64_t time;
    const char* name;
    const char* note;
    uint32_t count;
    const int16_t* counted;
    const double* ratios;
    const point* corner;
} pointed;

NVTX_DEFINE_SCHEMA_FOR_STRUCT(pointed, "pointed", static const,
    NVTX_PAYLOAD_SCHEMA_FLAG_MARK | NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY, 0,
    NVTX_PAYLOAD_ENTRIES(
        (time, TYPE_INT64, "time", NULL, 0, MARK | NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP),
        (name, TYPE_CSTRING_UTF8, "name", NULL, 0, EVENT_MESSAGE),
        (note, TYPE_CSTRING, "note"),
        (count, TYPE_UINT32, "count"),
        (counted, TYPE_INT16, "counted", NULL, 3,
         POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX),
        (ratios, TYPE_DOUBLE, "ratios", NULL, 2,
         POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE),
        (corner, NVTX_PAYLOAD_NESTED(POINT_ID), "corner", NULL, 0, POINTER | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY)
    )
)

/* All that the rows point to is where valgrind tells of a byte too much. */
static void pointed_events(nvtxDomainHandle_t domain, nvtxwStreamHandle_t stream, const said_place* place, int64_t time)
{
    static const char* const notes[] = {"one", NULL, ""};
    uint64_t id = NVTX_PAYLOAD_SCHEMA_REGISTER(domain, pointed);
    nvtxPayloadData_t payload;
    int i;

    HOLDS(id >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
    for (i = 0; i < 3; ++i)
    {
        char* name = (char*)malloc(7);
        int16_t* counted = (int16_t*)malloc(2 * sizeof(int16_t));
        double* ratios = (double*)malloc(2 * sizeof(double));
        point* corner = (point*)malloc(sizeof(point));
        pointed row;
        said_event event;

        memcpy(name, "name 0", 7);
        name[5] = (char)('0' + i);
        counted[0] = -7, counted[1] = (int16_t)i;
        ratios[0] = 0.5, ratios[1] = i;
        memset(corner, 0, sizeof(point));
        corner->x = 1.5f, corner->y = -2.5;
        memset(&row, 0, sizeof(row));
        row.time = time + i, row.name = name, row.note = notes[i];
        row.count = (uint32_t)i, row.counted = counted, row.ratios = ratios, row.corner = corner;
        payload.schemaId = id, payload.size = sizeof(row), payload.payload = &row;
        OK(iface->EventWrite(stream, &payload, 1));

        memset(&event, 0, sizeof(event));
        event.kind = "mark", event.schema = "\"pointed\"", event.time = row.time, event.name = said_text(name);
        event.fields = said_format(
            "%s\"count\": %d, \"counted\": [%s], \"ratios\": [0.5, %s], \"corner\": {\"x\": 1.5, \"y\": -2.5}",
            notes[i] ? said_format("\"note\": %s, ", said_text(notes[i])) : "", i, i == 0 ? "" : i == 1 ? "-7" : "-7, 2",
            said_number(ratios[1]));
        say_event(place, &event);
        free(name), free(counted), free(ratios), free(corner);
    }
}

/* -------- Counters -------- */

static const nvtxSemanticsCounter_t BYTES = {
    {sizeof(nvtxSemanticsCounter_t), NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION, NULL},
    NVTX_COUNTER_FLAG_VALUETYPE_ABSOLUTE | NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR | NVTX_COUNTER_FLAG_LIMITS,
    "bytes", 1024, 1, NVTX_COUNTER_LIMIT_I64, {-1}, {1000},
};
#define BYTES_SAID "{\"unit\": \"bytes\", \"scale\": [1024, 1], \"min\": -1, \"max\": 1000, \"interpolation\": \"linear\"}"

typedef struct
{
    uint64_t read;
    float load;
} channel;

NVTX_DEFINE_SCHEMA_FOR_STRUCT(channel, "channel", static const, NVTX_PAYLOAD_SCHEMA_FLAG_COUNTER_GROUP,
    NVTX_PAYLOAD_ENTRIES(
        (read, TYPE_UINT64, "read", NULL, 0, COUNTER, &BYTES.header),
        (load, TYPE_FLOAT, "load", NULL, 0, COUNTER)
    )
)

static void counters(nvtxDomainHandle_t domain, nvtxwStreamHandle_t stream, const said_place* place, int64_t time)
{
    static const int64_t depths[] = {INT64_MIN, INT64_MAX, 0};
    static const double loads[] = {0.1, -0.0, 1e308};
    static const channel samples[] = {{1, 0.5f}, {UINT64_MAX, -1.5f}, {3, 0.1f}};
    static const int64_t times[] = {2, 0, 1};
    uint64_t depth, load, group;
    nvtxCounterBatch_t batch;
    int64_t at[3];
    size_t i;

    OK(nvtxwCounterInt64Register(iface, domain, "depth", &BYTES.header, &depth));
    OK(nvtxwCounterFloat64Register(iface, domain, "load", NULL, &load));
    OK(nvtxwCounterRegister(iface, domain, "channel", NVTX_PAYLOAD_SCHEMA_REGISTER(domain, channel), NULL, &group));
    HOLDS(depth != NVTX_COUNTER_ID_NONE && load != depth && group != load);
    say_counter(place->domain, "depth", 0, "\"depth\": " BYTES_SAID);
    say_counter(place->domain, "load", 0, "\"load\": {}");
    say_counter(place->domain, "channel", 1, "\"read\": " BYTES_SAID ", \"load\": {}");

    for (i = 0; i < 3; ++i, ++time)
    {
        OK(nvtxwCounterInt64Write(iface, stream, time, depth, depths[i]));
        say_sample(place, "depth", time, said_format("\"depth\": %" PRId64, depths[i]));
        OK(nvtxwCounterFloat64Write(iface, stream, time, load, loads[i]));
        say_sample(place, "load", time, said_format("\"load\": %s", said_number(loads[i])));
    }
    OK(iface->CounterWrite(stream, time, group, &samples[0], sizeof(samples[0])));
    say_sample(place, "channel", time, "\"read\": 1, \"load\": 0.5");
    OK(iface->CounterNoValueWrite(stream, ++time, group, NVTX_COUNTER_SAMPLE_UNAVAILABLE));
    say_no_value(place, "channel", time, "Unavailable");
    OK(iface->CounterNoValueWrite(stream, ++time, depth, NVTX_COUNTER_SAMPLE_ZERO));
    say_no_value(place, "depth", time, "Zero");
    OK(iface->CounterNoValueWrite(stream, ++time, load, NVTX_COUNTER_SAMPLE_UNCHANGED));
    say_no_value(place, "load", time, "Unchanged");

    memset(&batch, 0, sizeof(batch));
    batch.counterId = group;
    batch.counters = samples, batch.countersSize = sizeof(samples);
    batch.flags = NVTX_BATCH_FLAG_UNSORTED;
    batch.timestamps = at, batch.timestampsSize = sizeof(at);
    for (i = 0; i < 3; ++i)
    {
        at[i] = time + 10 + times[i];
        say_sample(place, "channel", at[i],
                   said_format("\"read\": %" PRIu64 ", \"load\": %s", samples[i].read, said_number(samples[i].load)));
    }
    OK(iface->CounterBatchWrite(stream, &batch));
}

/* -------- What must be refused, and leaves no trace -------- */

static void refusals(nvtxwSessionHandle_t session, nvtxDomainHandle_t domain, nvtxwStreamHandle_t stream)
{
    nvtxwEventAttributesUtf8_t text;
    nvtxwEventAttributes_t none;
    nvtxwEventHelperSchemaIds_t ids;
    nvtxwEventWriter_t writer;
    nvtxwStreamHandle_t other;
    nvtxDomainHandle_t out_domain;
    uint64_t id;
    memset(&text, 0, sizeof(text));
    memset(&none, 0, sizeof(none));

    /* By the helpers themselves. */
    REFUSED(nvtxwSessionAttributesInit(NULL));
    REFUSED(nvtxwDomainAttributesInit(NULL));
    REFUSED(nvtxwStreamAttributesInit(NULL));
    REFUSED(nvtxwEventWriterInit(NULL, iface, stream, NULL));
    REFUSED(nvtxwEventSchemasRegister(iface, domain, NVTXW_EVENT_HELPER_SCHEMA_ALL + 1u, &ids));
    OK(nvtxwEventWriterInit(&writer, iface, stream, NULL));
    REFUSED(nvtxwMarkWriteUtf8(&writer, 0, text));

    /* By the backend. */
    OK(nvtxwEventSchemasRegister(iface, domain, NVTXW_EVENT_HELPER_SCHEMA_ALL, &ids));
    OK(nvtxwEventWriterInit(&writer, iface, stream, &ids));
    REFUSED(nvtxwRangePushPopWrite(&writer, 2, 1, none));
    REFUSED(nvtxwRangeStartEndWriteUtf8(&writer, INT64_MAX, INT64_MIN, text));
    REFUSED(nvtxwScopeRegister(iface, domain, "GPU[0", &id));
    REFUSED(nvtxwStreamOpen(iface, session, "gpu", domain, NULL, NVTX_TIME_DOMAIN_ID_NONE, &other));
    REFUSED(nvtxwStreamOpen(iface, session, "other", domain, "a]", NVTX_TIME_DOMAIN_ID_NONE, &other));
    REFUSED(nvtxwStreamOpen(iface, session, "other", domain, NULL, UINT64_MAX, &other));
    REFUSED(nvtxwTimeDomainRegister(iface, domain, UINT64_MAX, &id));
    REFUSED(nvtxwCounterRegister(iface, domain, "counter", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, NULL, &id));
    REFUSED(nvtxwCounterRegister(iface, domain, NULL, NVTX_PAYLOAD_ENTRY_TYPE_INT64, NULL, &id));
    REFUSED(nvtxwCounterInt64Write(iface, stream, 0, UINT64_MAX, 0));
    none.message = (nvtxStringHandle_t)stream;
    REFUSED(nvtxwMarkWrite(&writer, 0, none));
    none.message = NULL;
    writer.stream = (nvtxwStreamHandle_t)session;
    REFUSED(nvtxwMarkWrite(&writer, 0, none));
    writer.stream = (nvtxwStreamHandle_t)&writer;
    REFUSED(nvtxwMarkWrite(&writer, 0, none));
    REFUSED(nvtxwDomainRegister(iface, (nvtxwSessionHandle_t)stream, "other", &out_domain));
    REFUSED(iface->StreamClose((nvtxwStreamHandle_t)domain));
    REFUSED(iface->SessionEnd((nvtxwSessionHandle_t)stream));
}

/* -------- The session -------- */

/* What the parser of the headers finds in a config. */
typedef struct
{
    char path[512];
    int pairs;
} config_found;

static int config_pair(void* state, const char* key, const char* key_end, const char* value, const char* value_end)
{
    config_found* found = (config_found*)state;
    int is_path = key_end - key == 4 && !strncmp(key, "path", 4);
    if (is_path && !found->path[0]) snprintf(found->path, sizeof(found->path), "%.*s", (int)(value_end - value), value);
    ++found->pairs;
    return 0;
}

static void has_all_members(void)
{
    HOLDS(NVTXW_INTERFACE_HAS(iface, SessionBegin) && NVTXW_INTERFACE_HAS(iface, SessionEnd));
    HOLDS(NVTXW_INTERFACE_HAS(iface, DomainRegister) && NVTXW_INTERFACE_HAS(iface, CategoryRegister));
    HOLDS(NVTXW_INTERFACE_HAS(iface, StringRegister) && NVTXW_INTERFACE_HAS(iface, ResourceRegister));
    HOLDS(NVTXW_INTERFACE_HAS(iface, ScopeRegister) && NVTXW_INTERFACE_HAS(iface, SchemaRegister));
    HOLDS(NVTXW_INTERFACE_HAS(iface, EnumRegister) && NVTXW_INTERFACE_HAS(iface, CounterRegister));
    HOLDS(NVTXW_INTERFACE_HAS(iface, TimeDomainRegister) && NVTXW_INTERFACE_HAS(iface, StreamOpen));
    HOLDS(NVTXW_INTERFACE_HAS(iface, StreamClose) && NVTXW_INTERFACE_HAS(iface, EventWrite));
    HOLDS(NVTXW_INTERFACE_HAS(iface, EventBatchWrite) && NVTXW_INTERFACE_HAS(iface, CounterWrite));
    HOLDS(NVTXW_INTERFACE_HAS(iface, CounterNoValueWrite) && NVTXW_INTERFACE_HAS(iface, CounterBatchWrite));
    HOLDS(NVTXW_INTERFACE_HAS(iface, TimeSyncPointWrite) && NVTXW_INTERFACE_HAS(iface, TimeSyncPointTableWrite));
    HOLDS(NVTXW_INTERFACE_HAS(iface, TimestampConversionFactorWrite));
}

static void resource(nvtxDomainHandle_t domain)
{
    nvtxResourceAttributes_t attr;
    memset(&attr, 0, sizeof(attr));
    attr.version = NVTX_VERSION;
    attr.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    attr.identifierType = NVTX_RESOURCE_TYPE_GENERIC_HANDLE;
    attr.identifier.ullValue = 7;
    attr.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attr.message.ascii = "a resource";
    OK(iface->ResourceRegister(domain, &attr));
}

/* Streams with each claim of an order; the one that is returned makes none that could be broken. */
static nvtxwStreamHandle_t log_open(nvtxwSessionHandle_t session, nvtxDomainHandle_t domain)
{
    static const struct { const char* name; int16_t ordering; int32_t skid; int64_t amount; } claims[] = {
        {"strict", NVTXW_STREAM_ORDERING_TYPE_STRICT, NVTXW_STREAM_ORDERING_SKID_NONE, 0},
        {"by end", NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_END, NVTXW_STREAM_ORDERING_SKID_TIME_NS, 10},
        {"log", NVTXW_STREAM_ORDERING_TYPE_PACKED_RANGE_START, NVTXW_STREAM_ORDERING_SKID_EVENT_COUNT, 1000},
    };
    nvtxwStreamHandle_t stream = NULL;
    nvtxwStreamAttributes_t attr;
    size_t i;
    OK(nvtxwStreamAttributesInit(&attr));
    HOLDS(attr.orderInterleaving == NVTXW_STREAM_ORDER_INTERLEAVING_NONE);
    HOLDS(attr.orderingType == NVTXW_STREAM_ORDERING_TYPE_UNKNOWN && attr.orderingSkid == NVTXW_STREAM_ORDERING_SKID_NONE);
    attr.domain = domain;
    attr.scopeId = NVTX_SCOPE_ROOT;
    for (i = 0; i < COUNT(claims); ++i)
    {
        attr.name = claims[i].name;
        attr.orderInterleaving = NVTXW_STREAM_ORDER_INTERLEAVING_SCOPE;
        attr.orderingType = claims[i].ordering;
        attr.orderingSkid = claims[i].skid;
        attr.orderingSkidAmount = claims[i].amount;
        OK(iface->StreamOpen(session, &attr, &stream));
    }
    return stream;
}

/* A device's clock, of which relations tell how it runs beside the host's: a backend may do without them; then it says so. */
static void device_events(nvtxwSessionHandle_t session, nvtxDomainHandle_t domain, nvtxwStreamHandle_t stream, uint64_t host)
{
    static const said_place device = {"device", "sim", "/Device", "{\"ns_per_tick\": 10, \"zero\": 30000}"};
    static const nvtxSyncPoint_t points[] = {{30000, 0}, {30400, 40}};
    uint64_t clock;
    nvtxwResultCode_t codes[3];
    nvtxwEventWriter_t writer;
    size_t i;
    OK(nvtxwTimeDomainRegister(iface, domain, NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED, &clock));
    codes[0] = iface->TimeSyncPointWrite(stream, host, clock, 31000, 100);
    codes[1] = iface->TimeSyncPointTableWrite(stream, host, clock, points, COUNT(points));
    codes[2] = iface->TimestampConversionFactorWrite(stream, clock, host, 10.0, 100, 31000);
    for (i = 0; i < COUNT(codes); ++i) HOLDS(codes[i] == NVTXW_RESULT_SUCCESS || codes[i] == NVTXW_RESULT_NOT_SUPPORTED);
    OK(nvtxwEventWriterOpen(iface, session, "device", domain, "Device", clock, &writer));
    utf8_events(&writer, &device, 1000);
    registered_events(&writer, domain, &device, 5000);
    counters(domain, writer.stream, &device, 20000);
}

int main(int argc, char** argv)
{
    static const said_place host = {"host", NULL, "", NULL};
    static const said_place gpu = {"gpu", "sim", "/GPU[0]/Engine[1]", NULL};
    static const said_place of_gpu_in_queue = {"gpu", "sim", "/queue \\[high\\]", NULL};
    static const said_place bare = {"bare", NULL, "/CPU", NULL};
    static const said_place log = {"log", "sim", "/", NULL};
    const nvtxwInterface_t* again;
    nvtxwModuleHandle_t module, module_again;
    nvtxwGetInterface_t get_interface;
    const void* table;
    nvtxwSessionAttributes_t attr;
    nvtxwDomainAttributes_t domain_attr;
    nvtxwSessionHandle_t session;
    nvtxDomainHandle_t domain, sim, sim_again;
    nvtxwEventWriter_t host_writer, gpu_writer, bare_writer;
    nvtxwStreamHandle_t bare_stream, log_stream;
    nvtxwEventHelperSchemaIds_t ids;
    uint64_t queue, cycles;
    config_found found;
    char config[2048];

    if (argc < 4) return fprintf(stderr, "helpers LIBRARY CONFIG SAID.jsonl [refusals]\n"), 2;
    said_file = fopen(argv[3], "w");
    if (!said_file) return perror(argv[3]), 2;

    setenv(NVTXW_LIBRARY_ENV_VAR, argv[1], 1);
    OK(nvtxwLoadInterfaceDefault(&iface, &module));
    unsetenv(NVTXW_LIBRARY_ENV_VAR);
    OK(nvtxwLoadInterface(argv[1], &again, &module_again));
    HOLDS(iface == again && module == module_again);
    answered(nvtxwLoadInterface("/no/such/" NVTXW_LIB_PREFIX "library" NVTXW_LIB_SUFFIX, &again, NULL),
             NVTXW_RESULT_LIBRARY_LOAD_FAILED, "nvtxwLoadInterface", __LINE__);
    OK(nvtxwLoad(argv[1], &get_interface, NULL));
    answered(get_interface(NVTXW_INTERFACE_VERSION + 1, &table), NVTXW_RESULT_INTERFACE_VERSION_NOT_SUPPORTED,
             "nvtxwGetInterface", __LINE__);
    has_all_members();

    /* The session's config as the headers' parser reads it, and as the backend must: of a key given twice the first counts. */
    snprintf(config, sizeof(config), "# path = comment.out|%s\r\n  unknown key =  some value \t|path=second|flag|=none|empty=", argv[2]);
    memset(&found, 0, sizeof(found));
    nvtxwConsumeConfigString(config, config_pair, &found);
    HOLDS(found.pairs >= 3 && strstr(argv[2], found.path));

    OK(nvtxwSessionAttributesInit(&attr));
    attr.name = "helpers";
    attr.configString = config;
    OK(iface->SessionBegin(&attr, &session));

    OK(nvtxwDomainRegister(iface, session, NULL, &domain));
    OK(nvtxwDomainRegister(iface, session, "sim", &sim));
    OK(nvtxwDomainAttributesInit(&domain_attr));
    domain_attr.name = "sim";
    OK(iface->DomainRegister(session, &domain_attr, &sim_again));
    HOLDS(sim == sim_again && sim != domain);
    OK(nvtxwCategoryRegister(iface, domain, CATEGORY_IO, "io"));
    OK(nvtxwCategoryRegister(iface, sim, CATEGORY_IO, "io"));
    OK(nvtxwScopeRegister(iface, sim, "queue \\[high\\]", &queue));
    OK(nvtxwTimeDomainRegister(iface, sim, NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC, &cycles));
    resource(sim);

    OK(nvtxwEventWriterOpen(iface, session, "host", domain, NULL, NVTX_TIME_DOMAIN_ID_NONE, &host_writer));
    OK(nvtxwEventWriterOpen(iface, session, "gpu", sim, "GPU[0]/Engine[1]", cycles, &gpu_writer));
    OK(nvtxwStreamOpen(iface, session, "bare", NULL, "CPU", NVTX_TIME_DOMAIN_ID_NONE, &bare_stream));
    log_stream = log_open(session, sim);

    utf8_events(&host_writer, &host, 1000);
    registered_events(&host_writer, domain, &host, 5000);
    utf8_events(&gpu_writer, &gpu, 1000);
    registered_events(&gpu_writer, sim, &gpu, 5000);
    typed_events(sim, gpu_writer.stream, &gpu, queue, &of_gpu_in_queue, 10000);
    counters(sim, gpu_writer.stream, &gpu, 20000);
    device_events(session, sim, gpu_writer.stream, cycles);

    /* A copy of a writer serves another stream of the domain. */
    bare_writer = host_writer;
    bare_writer.stream = bare_stream;
    utf8_events(&bare_writer, &bare, 1000);
    OK(iface->StreamClose(bare_stream));
    selected_schemas(sim, log_stream, &log, 1000);
    counters(domain, host_writer.stream, &host, 20000);

    if (argc > 4)
    {
        pointed_events(sim, gpu_writer.stream, &gpu, 90000);
        refusals(session, sim, gpu_writer.stream);
        REFUSED(iface->StreamClose(bare_stream));
        REFUSED(nvtxwMarkWriteUtf8(&bare_writer, 0, (nvtxwEventAttributesUtf8_t){0, 0, 0, NULL}));
    }
    OK(nvtxwEventSchemasRegister(iface, sim, NVTXW_EVENT_HELPER_SCHEMA_ALL, &ids));
    OK(iface->SessionEnd(session));
    if (argc > 4) REFUSED(iface->SessionEnd(session));
    nvtxwUnload(module);
    nvtxwUnload(module_again);
    return fclose(said_file) != 0;
}
