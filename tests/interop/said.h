/* What a program says that it wrote: one JSON object a line, in the form of the lines of examples/jsonl_backend. */
#ifndef SAID_H
#define SAID_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where an event goes. */
typedef struct
{
    const char* stream;
    const char* domain; /* NULL: the default one */
    const char* scope;  /* as examples/jsonl_backend shows it */
    const char* clock;  /* how its clock runs beside that of the file, as JSON; NULL: in nanoseconds from the same zero */
} said_place;

/* What an event says. Texts are JSON; NULL stands for null. */
typedef struct
{
    const char* kind;
    const char* schema;
    const char* name;
    const char* category;
    const char* fields;
    int64_t time;
    int64_t end; /* of a whole range */
    uint64_t range_id;
    uint32_t color;
    int is_registered; /* the name is a registered string */
} said_event;

static FILE* said_file;

/* JSON that stays valid for 127 further calls. */
static char* said_buffer(void)
{
    static char buffers[128][1024];
    static int next;
    return buffers[next++ % 128];
}

static const char* said_format(const char* format, ...)
{
    char* out = said_buffer();
    va_list list;
    va_start(list, format);
    if (vsnprintf(out, 1024, format, list) >= 1024)
    {
        fprintf(stderr, "what is said is too long: %s\n", out);
        exit(1);
    }
    va_end(list);
    return out;
}

/* The text as JSON. */
static const char* said_text(const char* text)
{
    char* out = said_buffer();
    char* at = out;
    if (!text) return "null";
    *at++ = '"';
    for (; *text; ++text)
    {
        if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20)
            at += sprintf(at, "\\u%04x", *text);
        else
            *at++ = *text;
    }
    *at++ = '"';
    *at = 0;
    return out;
}

/* A floating-point number, which JSON shows with a point or an exponent; what JSON has no number for is text. */
static const char* said_number(double number)
{
    const char* text = said_format("%.17g", number);
    if (number != number) return "\"NaN\"";
    if (number - number != 0) return number > 0 ? "\"inf\"" : "\"-inf\"";
    return strpbrk(text, ".e") ? text : said_format("%s.0", text);
}

static void said_line(const said_place* place, const char* more)
{
    fprintf(said_file, "{%s, \"stream\": %s, \"domain\": %s, \"scope\": %s%s}\n", more, said_text(place->stream),
            said_text(place->domain), said_text(place->scope), place->clock ? said_format(", \"clock\": %s", place->clock) : "");
}

static int said_is_whole(const said_event* event)
{
    return !strcmp(event->kind, "range_pushpop") || !strcmp(event->kind, "range_startend");
}

static void say_event(const said_place* place, const said_event* event)
{
    const char* end = said_is_whole(event) ? said_format("%" PRId64, event->end) : "null";
    const char* range_id = event->range_id ? said_format("%" PRIu64, event->range_id) : "null";
    const char* color = event->color ? said_format("\"#%08" PRIx32 "\"", event->color) : "null";
    said_line(place, said_format("\"kind\": \"%s\", \"schema\": %s, \"name\": %s, \"time\": %" PRId64
                                 ", \"end\": %s, \"category\": %s, \"color\": %s, \"range_id\": %s, \"fields\": {%s}%s",
                                 event->kind, event->schema ? event->schema : "null", event->name ? event->name : "null",
                                 event->time, end, event->category ? event->category : "null", color, range_id,
                                 event->fields ? event->fields : "",
                                 event->is_registered ? ", \"is_registered\": true" : ""));
}

/* A counter: what its values mean, as JSON, by the names of its fields; one that is no group has one, of its own name. */
static void say_counter(const char* domain, const char* counter, int is_group, const char* fields)
{
    fprintf(said_file, "{\"kind\": \"declared\", \"domain\": %s, \"name\": %s, \"is_group\": %s, \"description\": null, "
            "\"fields\": {%s}}\n", said_text(domain), said_text(counter), is_group ? "true" : "false", fields);
}

static void say_sample(const said_place* place, const char* counter, int64_t time, const char* fields)
{
    said_line(place, said_format("\"kind\": \"counter\", \"name\": %s, \"time\": %" PRId64 ", \"fields\": {%s}",
                                 said_text(counter), time, fields));
}

static void say_no_value(const said_place* place, const char* counter, int64_t time, const char* reason)
{
    said_line(place, said_format("\"kind\": \"counter\", \"name\": %s, \"time\": %" PRId64 ", \"no_value\": \"%s\"",
                                 said_text(counter), time, reason));
}

#endif
