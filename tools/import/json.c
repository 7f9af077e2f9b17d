/* SPDX-License-Identifier: MIT
 *
 * Reads Chrome's trace events one by one: traces have hundreds of megabytes, and a tree of all of
 * it in memory takes ten times that. A profiler that was killed leaves half a file, and Kineto
 * writes what JSON does not have; what can be read of such a file is read. gzread passes plain
 * files through, so both are one path.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "tools/base/memory.h"
#include "tools/import/import.h"

/* Where a compressed stream is damaged, what is asked for at once is lost. */
#define BUFFER (1u << 14)
/* One value. Events have some hundred bytes; a quote that is missing would swallow the file. */
#define LARGEST ((size_t)64 << 20)
#define END (-1)

enum outcome { WHOLE, CUT, WRONG };

struct reader {
    gzFile file;
    unsigned char *buffer;
    unsigned used;
    unsigned filled;
    uint64_t offset; /* in the text: of the buffer's end */
    uint64_t line;
    uint64_t good; /* the end of the last event */
    char *piece;   /* the text of one value */
    size_t size;
    size_t room;
    bool damaged; /* the compressed stream is */
    bool found;   /* the list of events is there */
    uint64_t events;
    uint64_t unreadable; /* values that are no JSON */
    bp_import_fn *take;
    void *data;
};

static bool refill(struct reader *reader) {
    int problem = Z_OK;
    int got = gzread(reader->file, reader->buffer, BUFFER);
    if (got < (int)BUFFER) {
        gzerror(reader->file, &problem);
        reader->damaged |= problem != Z_OK && problem != Z_STREAM_END && problem != Z_BUF_ERROR;
    }
    reader->used = 0;
    reader->filled = got > 0 ? (unsigned)got : 0;
    reader->offset += reader->filled;
    return got > 0;
}

static int peek(struct reader *reader) {
    if (reader->used == reader->filled && !refill(reader))
        return END;
    return reader->buffer[reader->used];
}

static int next(struct reader *reader) {
    int c = peek(reader);
    if (c != END)
        reader->used++;
    reader->line += c == '\n';
    return c;
}

static uint64_t place(const struct reader *reader) {
    return reader->offset - (reader->filled - reader->used);
}

static int peek_past_blanks(struct reader *reader) {
    while (peek(reader) != END && isspace(peek(reader)))
        next(reader);
    return peek(reader);
}

static bool skip(struct reader *reader, char wanted) {
    if (peek_past_blanks(reader) != wanted)
        return false;
    next(reader);
    return true;
}

static void keep(struct reader *reader, int c) {
    if (reader->size == reader->room) {
        reader->room = reader->room ? 2 * reader->room : BUFFER;
        reader->piece = bp_resize(reader->piece, reader->room, 1);
    }
    reader->piece[reader->size++] = (char)c;
}

/* The text up to the comma or bracket that ends a value, into `piece`. */
static enum outcome take_value(struct reader *reader) {
    unsigned depth = 0;
    bool in_string = false;
    reader->size = 0;
    for (;;) {
        int c = peek(reader);
        if (!in_string && depth == 0 && (c == ',' || c == ']' || c == '}'))
            return WHOLE;
        if (c == END || reader->size >= LARGEST)
            return c == END ? CUT : WRONG;
        keep(reader, next(reader));
        if (c == '"')
            in_string = !in_string;
        else if (in_string && c == '\\')
            keep(reader, next(reader));
        else if (!in_string)
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    }
}

static bool is_escape(const char *text, size_t size) {
    if (size < 2 || !strchr("\"\\/bfnrtu", text[1]))
        return false;
    for (size_t i = 2; text[1] == 'u' && i < 6; i++)
        if (i >= size || !isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

static size_t word_length(const char *text, size_t size) {
    size_t length = 0;
    while (length < size && isalpha((unsigned char)text[length]))
        length++;
    return length;
}

static bool is_word(const char *text, size_t length) {
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (length == strlen(words[i]) && memcmp(text, words[i], length) == 0)
            return true;
    return false;
}

/* Numbers as C++ prints them (a bandwidth of inf, an occupancy of nan) become 0: they are none of
 * ours. Names as they are in memory lose their control characters, what is not ASCII, and the
 * backslashes of Windows. In place. */
static void mend(char *text, size_t size) {
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"') {
            in_string = !in_string;
        } else if (in_string && c == '\\') {
            if (is_escape(text + i, size - i))
                i++;
            else
                text[i] = '/';
        } else if (in_string && (c < ' ' || c > '~')) {
            text[i] = '?';
        } else if (!in_string && isalpha(c) && !(i > 0 && isdigit((unsigned char)text[i - 1]))) {
            size_t length = word_length(text + i, size - i);
            if (!is_word(text + i, length)) {
                memset(text + i, ' ', length);
                text[i] = '0';
            }
            i += length - 1;
        }
    }
}

static void hand_over(struct reader *reader, const char *key) {
    json_error_t ignored;
    int flags = JSON_ALLOW_NUL | JSON_DECODE_ANY;
    json_t *json = json_loadb(reader->piece, reader->size, flags, &ignored);
    if (!json) {
        mend(reader->piece, reader->size);
        json = json_loadb(reader->piece, reader->size, flags | JSON_DECODE_INT_AS_REAL, &ignored);
    }
    if (json)
        reader->take(reader->data, key, json);
    reader->unreadable += !json;
    json_decref(json);
}

/* What follows the opening bracket. */
static enum outcome take_events(struct reader *reader) {
    enum outcome outcome;
    reader->found = true;
    if (skip(reader, ']'))
        return WHOLE;
    do {
        peek_past_blanks(reader);
        if ((outcome = take_value(reader)))
            return outcome;
        if (reader->size == 0)
            continue;
        reader->events++;
        reader->good = place(reader);
        hand_over(reader, NULL);
    } while (skip(reader, ','));
    return skip(reader, ']') ? WHOLE : WRONG;
}

static enum outcome take_member(struct reader *reader) {
    char key[64];
    size_t length = 0;
    int c;
    if (!skip(reader, '"'))
        return WRONG;
    while ((c = next(reader)) != '"' && c != END)
        if (length < sizeof(key) - 1)
            key[length++] = (char)c;
    key[length] = 0;
    if (!skip(reader, ':'))
        return WRONG;
    if (strcmp(key, "traceEvents") == 0 && skip(reader, '['))
        return take_events(reader);
    enum outcome outcome = take_value(reader);
    if (outcome == WHOLE)
        hand_over(reader, key);
    return outcome;
}

static enum outcome take_members(struct reader *reader) {
    enum outcome outcome;
    if (skip(reader, '}'))
        return WHOLE;
    do {
        if ((outcome = take_member(reader)))
            return outcome;
    } while (skip(reader, ','));
    return skip(reader, '}') ? WHOLE : WRONG;
}

/* Up to the end, so that the checksum of a compressed file is looked at. */
static enum outcome take_file(struct reader *reader) {
    enum outcome outcome = skip(reader, '{')   ? take_members(reader)
                           : skip(reader, '[') ? take_events(reader)
                                               : WRONG;
    if (outcome == WHOLE && !reader->found)
        return WHOLE;
    if (peek_past_blanks(reader) == END)
        return outcome == WRONG ? CUT : outcome;
    return WRONG;
}

static int judge(const struct reader *reader, enum outcome outcome, struct bp_trace *trace,
                 const char *path, struct bp_error *error) {
    unsigned long long line = reader->line, good = reader->good;
    if (reader->offset == 0)
        return bp_error_set(error, BP_FAILED, "%s: %s", path,
                            reader->damaged ? "damaged: it cannot be decompressed"
                                            : "an empty file");
    if (outcome != WHOLE && reader->events == 0)
        return bp_error_set(error, BP_FAILED, "%s:%llu: no valid JSON%s", path, line,
                            outcome == CUT ? ": it ends too soon" : "");
    if (!reader->found)
        return bp_error_set(error, BP_FAILED,
                            "%s: JSON, but no trace of the PyTorch profiler (no traceEvents)",
                            path);
    if (reader->damaged && outcome == WHOLE)
        bp_trace_miss(trace, "the compressed file is damaged: what it holds may be wrong");
    else if (reader->damaged)
        bp_trace_miss(trace,
                      "the compressed file is damaged after byte %llu of its text: the rest"
                      " is lost",
                      good);
    else if (outcome == CUT)
        bp_trace_miss(trace, "the file is cut: what came after byte %llu of its text is lost",
                      good);
    else if (outcome == WRONG)
        bp_trace_miss(trace,
                      "no valid JSON after byte %llu of its text, line %llu: the rest is"
                      " left out",
                      good, line);
    bp_trace_miss_count(trace, reader->unreadable, "events that are no valid JSON left out");
    return 0;
}

int bp_import_json(struct bp_trace *trace, const char *path, bp_import_fn *take, void *data,
                   struct bp_error *error) {
    struct reader reader = {.line = 1, .take = take, .data = data};
    reader.file = gzopen(path, "rbe");
    if (!reader.file)
        return bp_error_set(error, BP_FAILED, "%s: %s", path, strerror(errno));
    reader.buffer = bp_alloc(BUFFER, 1);
    int result = judge(&reader, take_file(&reader), trace, path, error);
    gzclose(reader.file);
    free(reader.buffer);
    free(reader.piece);
    return result;
}
