/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *number_format(double value, char out[NUMBER_TEXT])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return out;
}

struct json_writer json_writer(FILE *out, enum json_layout layout)
{
    return (struct json_writer){.out = out, .layout = layout};
}

/* A UTF-8 string from memory: quotes, backslashes and control characters escaped. */
static void write_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", out);
        else if (c == '\t')
            fputs("\\t", out);
        else if (c < ' ' || c == 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static bool in_line(const struct json_writer *w)
{
    return w->layout == JSON_COMPACT || (w->inline_from && w->depth >= w->inline_from);
}

static void new_line(const struct json_writer *w)
{
    if (!in_line(w))
        fprintf(w->out, "\n%*s", 2 * w->depth, "");
}

/* What stands before a value: comma, new line, name. */
static void before(struct json_writer *w, const char *key)
{
    if (w->depth) {
        BUG_ON((w->open[w->depth - 1] == '{') != (key != NULL));
        if (w->filled[w->depth - 1])
            fputs(in_line(w) && w->layout != JSON_COMPACT ? ", " : ",", w->out);
        w->filled[w->depth - 1] = true;
        new_line(w);
    } else {
        BUG_ON(key);
    }
    if (key) {
        write_string(w->out, key);
        fputs(w->layout == JSON_COMPACT ? ":" : ": ", w->out);
    }
}

/* After a value: a document of lines ends with a newline. */
static void after(struct json_writer *w)
{
    if (!w->depth && w->layout == JSON_LINES)
        fputc('\n', w->out);
}

void json_begin(struct json_writer *w, const char *key, char bracket)
{
    BUG_ON(bracket != '{' && bracket != '[');
    BUG_ON((size_t)w->depth >= sizeof w->open);
    before(w, key);
    fputc(bracket, w->out);
    w->open[w->depth] = bracket;
    w->filled[w->depth++] = false;
}

void json_begin_inline(struct json_writer *w, const char *key, char bracket)
{
    json_begin(w, key, bracket);
    if (!w->inline_from)
        w->inline_from = w->depth;
}

void json_end(struct json_writer *w)
{
    char bracket;
    bool filled;

    BUG_ON(!w->depth);
    bracket = w->open[w->depth - 1];
    filled = w->filled[w->depth - 1];
    if (in_line(w)) {
        w->depth--;
        if (w->inline_from > w->depth)
            w->inline_from = 0;
    } else {
        w->depth--;
        if (filled)
            new_line(w);
    }
    fputc(bracket == '{' ? '}' : ']', w->out);
    after(w);
}

void json_put_number_text(struct json_writer *w, const char *key, const char *number)
{
    before(w, key);
    fputs(number, w->out);
    after(w);
}

void json_put_string(struct json_writer *w, const char *key, const char *text)
{
    if (!text) {
        json_put_null(w, key);
        return;
    }
    before(w, key);
    write_string(w->out, text);
    after(w);
}

void json_put_integer(struct json_writer *w, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    json_put_number_text(w, key, text);
}

void json_put_number(struct json_writer *w, const char *key, double value)
{
    char text[NUMBER_TEXT];

    json_put_number_text(w, key, isfinite(value) ? number_format(value, text) : "null");
}

void json_put_boolean(struct json_writer *w, const char *key, bool value)
{
    json_put_number_text(w, key, value ? "true" : "false");
}

void json_put_null(struct json_writer *w, const char *key)
{
    json_put_number_text(w, key, "null");
}

void json_put_quantity(struct json_writer *w, const char *key, enum quantity q, int64_t value)
{
    char text[QUANTITY_TEXT];

    json_put_string(w, key, quantity_format(q, value, text));
}

void json_put_value(struct json_writer *w, const char *key, struct json_value v)
{
    char number[JSON_NUMBER_TEXT];

    switch (json_kind(v)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        json_begin(w, key, json_kind(v) == JSON_OBJECT ? '{' : '[');
        JSON_FOR_EACH(child, v)
        json_put_value(w, json_key(child), child);
        json_end(w);
        break;
    case JSON_STRING:
        json_put_string(w, key, json_string(v));
        break;
    case JSON_NUMBER:
        json_put_number_text(w, key, json_number_text(v, number));
        break;
    case JSON_BOOLEAN:
        json_put_boolean(w, key, json_boolean(v));
        break;
    default:
        json_put_null(w, key);
    }
}
