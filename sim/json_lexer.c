/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why beside cJSON's own parser: cJSON says neither line nor column, keeps integers as doubles, and
 * takes much that is no JSON (control characters in strings, "01", text after the end). What passes
 * here, cJSON reads as well; what cJSON cannot hold is refused here: NUL in strings, since its
 * strings are C strings, and numbers longer than its 63 characters.
 */
#include "sim/json_lexer.h"

#include "sim/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LENGTH 60 /* cJSON copies numbers into 64 bytes, as does json_number_text() */
#define ERRORS_SHOWN 100

struct lexer {
    const char *name;
    const char *at, *end;
    int line, column; /* of `at`; columns count characters, not bytes */
    size_t parent;
    int depth;
    struct json_places *places;
    struct errors *e;
    bool flag; /* the text came from the command line */
    bool failed;
};

bool json_complained_enough(const struct errors *e)
{
    return e->count >= ERRORS_SHOWN;
}

int json_complain(struct errors *e, const char *fmt, ...)
{
    va_list ap;

    if (e->count > ERRORS_SHOWN)
        return -1;
    if (e->count == ERRORS_SHOWN)
        return error_add(e, EXIT_INPUT, "more than %d errors: the rest is not shown", ERRORS_SHOWN);
    va_start(ap, fmt);
    error_vadd(e, EXIT_INPUT, fmt, ap);
    va_end(ap);
    return -1;
}

void json_place_add(struct json_places *places, const struct json_place *place)
{
    if (places->count == places->capacity) {
        places->capacity = places->capacity ? 2 * places->capacity : 64;
        places->place = xrealloc(places->place, places->capacity * sizeof *places->place);
    }
    places->place[places->count++] = *place;
}

/* ---- Characters ---------------------------------------------------------------------------- */

/* Length of the well-formed UTF-8 character at `s`, its code point in *code; 0 when malformed
 * (overlong forms, surrogates and codes above U+10FFFF included). */
static size_t utf8_character(const char *s, const char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*s;
    size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (first > 0xf4 || length == 0 || length > (size_t)(end - s))
        return 0;
    *code = length == 1 ? first : first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)s[i] & 0x3f);
    }
    if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return length;
}

bool json_is_utf8(const char *text)
{
    const char *end = text + strlen(text);
    uint32_t code;
    size_t length;

    for (; text < end; text += length) {
        length = utf8_character(text, end, &code);
        if (!length)
            return false;
    }
    return true;
}

static void advance(struct lexer *l)
{
    unsigned char c = (unsigned char)*l->at++;

    if (c == '\n') {
        l->line++;
        l->column = 1;
    } else if ((c & 0xc0) != 0x80) {
        l->column++;
    }
}

static void skip_blanks(struct lexer *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t' || *l->at == '\n' || *l->at == '\r'))
        advance(l);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool here(const struct lexer *l, char c)
{
    return l->at < l->end && *l->at == c;
}

static bool digit_here(const struct lexer *l)
{
    return l->at < l->end && is_digit(*l->at);
}

/* ---- Messages ------------------------------------------------------------------------------ */

static int wrong_at(struct lexer *l, int line, int column, const char *text)
{
    l->failed = true;
    if (l->flag) /* a flag has no lines */
        return json_complain(l->e, "%s: %s", l->name, text);
    return json_complain(l->e, "%s:%d:%d: %s", l->name, line, column, text);
}

static int wrong(struct lexer *l, const char *text)
{
    return wrong_at(l, l->line, l->column, text);
}

/* What stands at `at`: "the end of the file", "'x'", "NaN", "U+201C". */
static void describe(const struct lexer *l, char out[64])
{
    uint32_t code = 0;
    int length = 0;

    if (l->at >= l->end) {
        strcpy(out, "the end of the text");
        return;
    }
    while (length < 24 && length < l->end - l->at && is_letter(l->at[length]))
        length++;
    if (length > 1)
        snprintf(out, 64, "%.*s", length, l->at);
    else if (*l->at > ' ' && *l->at < 0x7f)
        snprintf(out, 64, "'%c'", *l->at);
    else if (utf8_character(l->at, l->end, &code))
        snprintf(out, 64, "U+%04X", (unsigned)code);
    else
        snprintf(out, 64, "byte 0x%02x", (unsigned char)*l->at);
}

static int expected(struct lexer *l, const char *wanted)
{
    char found[64], text[256];

    describe(l, found);
    snprintf(text, sizeof text, "found %s where %s is wanted", found, wanted);
    return wrong(l, text);
}

static bool word_here(const struct lexer *l, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(l->end - l->at) >= n && memcmp(l->at, word, n) == 0 &&
           (l->at + n == l->end || !(is_letter(l->at[n]) || is_digit(l->at[n])));
}

/* No value begins here: say why people write such a thing and what to write instead. */
static int no_value(struct lexer *l, bool after_comma)
{
    static const struct {
        const char *word, *text;
    } words[] = {
        {"NaN", "JSON has no NaN; write a number or leave the member out"},
        {"Infinity", "JSON has no Infinity; write a number or leave the member out"},
        {"-Infinity", "JSON has no Infinity; write a number or leave the member out"},
        {"True", "found True; write true"},
        {"False", "found False; write false"},
        {"None", "found None; write null"},
        {"undefined", "found undefined; write null"},
    };
    char found[64], text[256];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_here(l, words[i].word))
            return wrong(l, words[i].text);
    if (here(l, '/') || here(l, '#'))
        return wrong(l, "JSON has no comments; use a member \"comment\"");
    if (here(l, '\'') || (l->end - l->at >= 3 && memcmp(l->at, "\xe2\x80\x9c", 3) == 0))
        return wrong(l, "strings need straight double quotes: \"...\"");
    if (after_comma && (here(l, ']') || here(l, '}')))
        return wrong(l, "JSON has no comma after the last element; remove it");
    if (here(l, '+') || here(l, '.'))
        return wrong(l, "numbers begin with a digit or '-': 0.5, not .5 or +0.5");
    if (l->at < l->end && is_letter(*l->at)) {
        describe(l, found);
        snprintf(text, sizeof text, "found %s where a value is wanted; text needs double quotes",
                 found);
        return wrong(l, text);
    }
    return expected(l, "a value (an object, array, string, number, true, false or null)");
}

/* ---- Tokens -------------------------------------------------------------------------------- */

static int four_hex(struct lexer *l, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        char c = l->at < l->end ? *l->at : '"';
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return wrong(l, "\\u needs four hexadecimal digits, such as \\u00b5");
        *code = 16 * *code + (uint32_t)digit;
        advance(l);
    }
    return 0;
}

/* Behind "\u". A high surrogate needs its low one. */
static int unicode_escape(struct lexer *l)
{
    uint32_t code, low;

    if (four_hex(l, &code))
        return -1;
    if (code == 0)
        return wrong(l, "\\u0000 in a string is not accepted");
    if (code < 0xd800 || code > 0xdfff)
        return 0;
    if (code > 0xdbff || !here(l, '\\') || l->end - l->at < 2 || l->at[1] != 'u')
        return wrong(l, "\\u escape of half a surrogate pair; write both halves or the character");
    advance(l);
    advance(l);
    if (four_hex(l, &low))
        return -1;
    if (low < 0xdc00 || low > 0xdfff)
        return wrong(l, "\\u escape of half a surrogate pair; write both halves or the character");
    return 0;
}

static int escape(struct lexer *l)
{
    char text[128];

    advance(l);
    if (l->at >= l->end)
        return 0; /* the string reports that it does not end */
    if (here(l, 'u')) {
        advance(l);
        return unicode_escape(l);
    }
    if (!strchr("\"\\/bfnrt", *l->at) || !*l->at) {
        if (*l->at > ' ' && *l->at < 0x7f)
            snprintf(text, sizeof text,
                     "no escape \\%c; there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX",
                     *l->at);
        else
            snprintf(text, sizeof text,
                     "no such escape; there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX");
        wrong(l, text);
        if (*l->at != '\n')
            advance(l);
        return -1;
    }
    advance(l);
    return 0;
}

/* At a double quote. Bad escapes are noted and lexing goes on; 0 unless the string has no end. */
static int string(struct lexer *l)
{
    int line = l->line, column = l->column;
    char text[128];

    advance(l);
    while (l->at < l->end && *l->at != '"') {
        unsigned char c = (unsigned char)*l->at;

        if (c == '\n' || c == '\r')
            break;
        if (c == '\\') {
            escape(l);
            continue;
        }
        if (c < ' ') {
            snprintf(text, sizeof text, "control character in a string; write \\u%04x", c);
            wrong(l, text);
        }
        advance(l);
    }
    if (!here(l, '"'))
        return wrong_at(l, line, column,
                        "this string does not end on its line; a double quote is missing");
    advance(l);
    return 0;
}

static int number(struct lexer *l)
{
    const char *begin = l->at;
    int line = l->line, column = l->column;

    if (here(l, '-'))
        advance(l);
    if (!digit_here(l))
        return expected(l, "a digit");
    if (here(l, '0') && l->end - l->at > 1 && is_digit(l->at[1]))
        return wrong(l, "numbers have no leading zeros");
    while (digit_here(l))
        advance(l);
    if (here(l, '.')) {
        advance(l);
        if (!digit_here(l))
            return expected(l, "a digit after the decimal point");
        while (digit_here(l))
            advance(l);
    }
    if (here(l, 'e') || here(l, 'E')) {
        advance(l);
        if (here(l, '+') || here(l, '-'))
            advance(l);
        if (!digit_here(l))
            return expected(l, "a digit of the exponent");
        while (digit_here(l))
            advance(l);
    }
    if (l->at - begin > NUMBER_LENGTH)
        return wrong_at(l, line, column, "number of more than 60 characters; round it");
    if (l->at < l->end && (is_letter(*l->at) || *l->at == '%' || *l->at == '/'))
        return wrong_at(l, line, column,
                        "a quantity with its unit is a string: put it in double quotes");
    return 0;
}

static int word(struct lexer *l, const char *text)
{
    for (size_t i = 0; i < strlen(text); i++)
        advance(l);
    return 0;
}

/* ---- Values -------------------------------------------------------------------------------- */

static int value(struct lexer *l, int line, int column, bool after_comma);

static int member(struct lexer *l, bool after_comma)
{
    int line = l->line, column = l->column;

    if (after_comma && here(l, '}'))
        return no_value(l, true);
    if (here(l, '/') || here(l, '#') || here(l, '\''))
        return no_value(l, false);
    if (!here(l, '"'))
        return expected(l, "a member's name in double quotes");
    if (string(l))
        return -1;
    skip_blanks(l);
    if (!here(l, ':'))
        return expected(l, "':'");
    advance(l);
    skip_blanks(l);
    return value(l, line, column, false);
}

/* At '{' or '['. */
static int container(struct lexer *l, char close)
{
    bool after_comma = false;
    char opened[128];
    int line = l->line, column = l->column;

    advance(l);
    for (;;) {
        skip_blanks(l);
        if (here(l, close) && !after_comma) {
            advance(l);
            return 0;
        }
        if (close == '}' ? member(l, after_comma) : value(l, l->line, l->column, after_comma))
            return -1;
        skip_blanks(l);
        after_comma = here(l, ',');
        if (after_comma) {
            advance(l);
        } else if (!here(l, close)) {
            snprintf(opened, sizeof opened, "',' or '%c' for the '%c' at %d:%d", close,
                     close == '}' ? '{' : '[', line, column);
            return expected(l, opened);
        }
    }
}

static int value_text(struct lexer *l, bool after_comma)
{
    char c = l->at < l->end ? *l->at : '\0';

    if (c == '"')
        return string(l);
    if (c == '{' || c == '[') {
        char text[64];
        int status;

        if (l->depth >= JSON_DEPTH) {
            snprintf(text, sizeof text, "nested deeper than %d levels", JSON_DEPTH);
            return wrong(l, text);
        }
        l->depth++;
        status = container(l, c == '{' ? '}' : ']');
        l->depth--;
        return status;
    }
    if (is_digit(c) || (c == '-' && !word_here(l, "-Infinity")))
        return number(l);
    for (size_t i = 0; i < 3; i++) {
        static const char *const words[] = {"true", "false", "null"};

        if (word_here(l, words[i]))
            return word(l, words[i]);
    }
    return no_value(l, after_comma);
}

/* line and column: where people look for it, the member's name if it has one. */
static int value(struct lexer *l, int line, int column, bool after_comma)
{
    struct json_place place = {.parent = l->parent, .text = l->at, .line = line, .column = column};
    size_t index = l->places->count, parent = l->parent;
    int status;

    json_place_add(l->places, &place);
    l->parent = index;
    status = value_text(l, after_comma);
    l->parent = parent;
    l->places->place[index].length = (size_t)(l->at - place.text);
    return status;
}

/* ---- Documents ----------------------------------------------------------------------------- */

/* The first malformed character, if any. Without this check the columns would be meaningless. */
static int check_encoding(struct lexer l /* a copy: lexing starts over */)
{
    char text[128];
    uint32_t code;

    if (l.end - l.at >= 2 && (memcmp(l.at, "\xff\xfe", 2) == 0 || memcmp(l.at, "\xfe\xff", 2) == 0))
        return wrong(&l, "this is UTF-16; save the file as UTF-8");
    while (l.at < l.end) {
        size_t length = utf8_character(l.at, l.end, &code);

        if (!length) {
            snprintf(text, sizeof text, "byte 0x%02x is not UTF-8; save the file as UTF-8",
                     (unsigned char)*l.at);
            return wrong(&l, text);
        }
        while (length--)
            advance(&l);
    }
    return 0;
}

int json_lex(const char *name, const char *text, size_t size, size_t parent, int depth,
             struct json_places *places, struct errors *e)
{
    struct lexer l = {.name = name,
                      .at = text,
                      .end = text + size,
                      .line = 1,
                      .column = 1,
                      .parent = parent,
                      .depth = depth,
                      .places = places,
                      .e = e,
                      .flag = parent != JSON_NO_PARENT};

    if (check_encoding(l))
        return -1;
    skip_blanks(&l);
    if (l.at == l.end)
        return wrong(&l, "there is nothing here; a JSON object { ... } is wanted");
    if (value(&l, l.line, l.column, false))
        return -1;
    skip_blanks(&l);
    if (l.at < l.end)
        return expected(&l, "the end of the text");
    return l.failed ? -1 : 0;
}
