/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions between axes.
 *
 *     condition  = and { "or" and }
 *     and        = not { "and" not }
 *     not        = "not" not | comparison
 *     comparison = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
 *     sum        = product { ("+" | "-") product }
 *     product    = factor { ("*" | "/") factor }
 *     factor     = NUMBER [UNIT] | AXIS | TEXT | "(" condition ")"
 *
 * Types are known when it is parsed (an axis is of numbers of one unit, or of texts), so whatever
 * makes no sense is refused before anything runs. A word that is no axis is a text.
 */
#include "experiments/sweep/sweep_design.h"

#include "sim/params.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { OF_TRUTH, OF_NUMBER, OF_TEXT };

enum operation {
    OR,
    AND,
    NOT,
    EQUAL,
    DIFFERENT,
    LESS_OR_EQUAL,
    GREATER_OR_EQUAL,
    LESS_THAN,
    GREATER_THAN,
    PLUS,
    MINUS,
    TIMES,
    OVER,
    LITERAL,
    AXIS
};

struct condition {
    enum operation operation;
    enum kind kind;
    enum quantity quantity; /* of a number */
    struct condition *a, *b;
    size_t axis;
    double number;
    char *text;
};

struct parser {
    const struct design *design;
    const char *whole, *at;
    struct errors *e;
    bool failed;
    int depth;
};

void condition_free(struct condition *c)
{
    if (!c)
        return;
    condition_free(c->a);
    condition_free(c->b);
    free(c->text);
    free(c);
}

static struct condition *fail(struct parser *p, const char *at, const char *why)
{
    if (!p->failed)
        error_add(p->e, EXIT_INPUT, "condition \"%s\", column %d: %s", p->whole,
                  (int)(at - p->whole) + 1, why);
    p->failed = true;
    return NULL;
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

static bool word_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

/* Take a word or sign if it comes next. */
static bool take(struct parser *p, const char *token)
{
    size_t n = strlen(token);

    skip_blanks(p);
    if (strncmp(p->at, token, n) || (isalpha((unsigned char)*token) && word_letter(p->at[n])))
        return false;
    p->at += n;
    return true;
}

static char *take_text(struct parser *p, size_t length)
{
    char *text = xasprintf("%.*s", (int)length, p->at);

    p->at += length;
    return text;
}

/* Digits, fraction, exponent, unit; "/s" belongs to a rate. */
static size_t number_length(const char *s)
{
    size_t n = strspn(s, ".0123456789");

    if ((s[n] == 'e' || s[n] == 'E') &&
        (isdigit((unsigned char)s[n + 1]) ||
         ((s[n + 1] == '-' || s[n + 1] == '+') && isdigit((unsigned char)s[n + 2]))))
        n += 2 + strspn(s + n + 2, "0123456789");
    while (isalpha((unsigned char)s[n]) || s[n] == '%')
        n++;
    if (s[n] == '/' && s[n + 1] == 's' && !word_letter(s[n + 2]))
        n += 2;
    return n;
}

/* The longest axis name, or a word; names may hold "-", words do not. */
static size_t word_length(const struct parser *p)
{
    size_t longest = 0;

    for (size_t i = 0; i < p->design->axes; i++) {
        size_t n = strlen(p->design->axis[i].name);

        if (n > longest && !strncmp(p->at, p->design->axis[i].name, n) && !word_letter(p->at[n]))
            longest = n;
    }
    if (!longest)
        while (word_letter(p->at[longest]))
            longest++;
    return longest;
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

static struct condition *node(enum operation operation, enum kind kind, struct condition *a,
                              struct condition *b)
{
    struct condition *c = xcalloc(1, sizeof *c);

    *c = (struct condition){
        .operation = operation, .kind = kind, .a = a, .b = b, .quantity = QUANTITY_PLAIN};
    return c;
}

static struct condition *number_node(enum operation operation, struct condition *a,
                                     struct condition *b, enum quantity q)
{
    struct condition *c = node(operation, OF_NUMBER, a, b);

    c->quantity = q;
    return c;
}

static bool is_zero(const struct condition *c)
{
    return c->operation == LITERAL && c->kind == OF_NUMBER && c->number == 0;
}

static char *described(const struct condition *c)
{
    if (c->kind == OF_TRUTH)
        return xstrdup("a comparison");
    if (c->kind == OF_TEXT)
        return c->text ? xasprintf("the text \"%s\"", c->text) : xstrdup("an axis of texts");
    return *value_unit(c->quantity) ? xasprintf("a number of %s", value_unit(c->quantity))
                                    : xstrdup("a number without unit");
}

/* A word that was meant to be an axis? */
static const char *meant(const struct parser *p, const struct condition *c)
{
    const char **names, *nearest;

    if (c->operation != LITERAL || c->kind != OF_TEXT)
        return NULL;
    names = xcalloc(p->design->axes, sizeof *names);
    for (size_t i = 0; i < p->design->axes; i++)
        names[i] = p->design->axis[i].name;
    nearest = nearest_name(c->text, names, p->design->axes);
    free(names);
    return nearest;
}

static struct condition *mismatch(struct parser *p, const char *at, struct condition *a,
                                  struct condition *b, const char *what)
{
    char *left = described(a), *right = described(b);
    const char *hint = meant(p, a) ? meant(p, a) : meant(p, b);
    char *why =
        xasprintf("%s and %s cannot be %s%s%s%s", left, right, what,
                  hint ? ": did you mean the axis \"" : "", hint ? hint : "", hint ? "\"?" : "");

    fail(p, at, why);
    free(why);
    free(left);
    free(right);
    condition_free(a);
    condition_free(b);
    return NULL;
}

/* ---- grammar ----------------------------------------------------------------------------------
 */

static struct condition *parse_or(struct parser *p);

static struct condition *literal(struct parser *p, char *text)
{
    struct value v = value_read(text);
    struct condition *c = node(LITERAL, v.numeric ? OF_NUMBER : OF_TEXT, NULL, NULL);

    (void)p;
    c->text = text;
    c->number = v.number;
    c->quantity = v.numeric ? v.quantity : QUANTITY_PLAIN;
    return c;
}

static struct condition *parse_word(struct parser *p)
{
    size_t n = word_length(p);
    struct condition *c;
    char *word;

    if (!n)
        return fail(p, p->at,
                    *p->at ? "an axis, a number, a text or \"(\" is wanted here"
                           : "something is missing at the end");
    word = take_text(p, n);
    for (size_t i = 0; i < p->design->axes; i++) {
        const struct axis *a = &p->design->axis[i];

        if (strcmp(a->name, word))
            continue;
        free(word);
        c = node(AXIS, a->numeric ? OF_NUMBER : OF_TEXT, NULL, NULL);
        c->axis = i;
        c->quantity = a->numeric ? a->quantity : QUANTITY_PLAIN;
        return c;
    }
    return literal(p, word);
}

static struct condition *parse_quoted(struct parser *p)
{
    const char *end = strchr(p->at + 1, *p->at);
    struct condition *c;

    if (!end)
        return fail(p, p->at, "this quote is not closed");
    c = node(LITERAL, OF_TEXT, NULL, NULL);
    c->text = xasprintf("%.*s", (int)(end - p->at - 1), p->at + 1);
    p->at = end + 1;
    return c;
}

static struct condition *parse_factor(struct parser *p)
{
    const char *start;
    struct condition *c;
    char *text;

    skip_blanks(p);
    start = p->at;
    if (take(p, "(")) {
        if (++p->depth > 50)
            return fail(p, start, "too many parentheses");
        c = parse_or(p);
        p->depth--;
        if (c && !take(p, ")")) {
            condition_free(c);
            return fail(p, p->at, "\")\" is missing");
        }
        return c;
    }
    if (*p->at == '"' || *p->at == '\'')
        return parse_quoted(p);
    if (!isdigit((unsigned char)*p->at) && *p->at != '.')
        return parse_word(p);
    text = take_text(p, number_length(p->at));
    c = literal(p, text);
    if (c->kind == OF_NUMBER)
        return c;
    condition_free(c);
    return fail(p, start, "no number, or an unknown unit");
}

/* The unit of a result; false if it makes no sense. */
static bool combine(enum operation o, struct condition *a, struct condition *b, enum quantity *q)
{
    if (a->kind != OF_NUMBER || b->kind != OF_NUMBER)
        return false;
    *q = a->quantity == QUANTITY_PLAIN ? b->quantity : a->quantity;
    if (o == OVER && a->quantity == b->quantity)
        *q = QUANTITY_PLAIN;
    if (o == OVER)
        return a->quantity == b->quantity || b->quantity == QUANTITY_PLAIN;
    if (o == TIMES)
        return a->quantity == QUANTITY_PLAIN || b->quantity == QUANTITY_PLAIN;
    return a->quantity == b->quantity || is_zero(a) || is_zero(b);
}

typedef struct condition *parse_fn(struct parser *p);

/* Left to right: `inner` joined by signs that stand for numbers. */
static struct condition *parse_numbers(struct parser *p, parse_fn *inner, const char *first,
                                       enum operation if_first, const char *second,
                                       enum operation if_second)
{
    struct condition *a = inner(p);

    while (a) {
        enum operation o;
        enum quantity q = QUANTITY_PLAIN;
        struct condition *b;
        const char *at;

        skip_blanks(p);
        at = p->at;
        if (take(p, first))
            o = if_first;
        else if (take(p, second))
            o = if_second;
        else
            break;
        b = inner(p);
        if (!b) {
            condition_free(a);
            return NULL;
        }
        if (!combine(o, a, b, &q))
            return mismatch(p, at, a, b, "computed with each other");
        a = number_node(o, a, b, q);
    }
    return a;
}

static struct condition *parse_product(struct parser *p)
{
    return parse_numbers(p, parse_factor, "*", TIMES, "/", OVER);
}

static struct condition *parse_sum(struct parser *p)
{
    return parse_numbers(p, parse_product, "+", PLUS, "-", MINUS);
}

static struct condition *parse_comparison(struct parser *p)
{
    /* Longer signs first. */
    static const struct {
        const char *sign;
        enum operation operation;
    } signs[] = {
        {"==", EQUAL},    {"!=", DIFFERENT},   {"<=", LESS_OR_EQUAL}, {">=", GREATER_OR_EQUAL},
        {"<", LESS_THAN}, {">", GREATER_THAN}, {"=", EQUAL}};
    struct condition *a = parse_sum(p), *b;

    if (!a)
        return NULL;
    skip_blanks(p);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *at = p->at;
        bool order = signs[i].operation != EQUAL && signs[i].operation != DIFFERENT;

        if (!take(p, signs[i].sign))
            continue;
        b = parse_sum(p);
        if (!b) {
            condition_free(a);
            return NULL;
        }
        if (a->kind != b->kind || a->kind == OF_TRUTH || (order && a->kind == OF_TEXT) ||
            (a->kind == OF_NUMBER && a->quantity != b->quantity && !is_zero(a) && !is_zero(b)))
            return mismatch(p, at, a, b, "compared");
        return node(signs[i].operation, OF_TRUTH, a, b);
    }
    return a;
}

static struct condition *want_truth(struct parser *p, const char *at, struct condition *c)
{
    if (!c || c->kind == OF_TRUTH)
        return c;
    condition_free(c);
    return fail(p, at, "a comparison is wanted here, such as slice <= 5ms");
}

static struct condition *parse_not(struct parser *p)
{
    const char *at;
    struct condition *a;

    skip_blanks(p);
    at = p->at;
    if (!take(p, "not"))
        return parse_comparison(p);
    if (++p->depth > 50)
        return fail(p, at, "too many \"not\"");
    a = want_truth(p, p->at, parse_not(p));
    p->depth--;
    return a ? node(NOT, OF_TRUTH, a, NULL) : NULL;
}

static struct condition *parse_truths(struct parser *p, parse_fn *inner, const char *word,
                                      enum operation o)
{
    const char *at = p->at;
    struct condition *a = inner(p), *b;

    while (a && take(p, word)) {
        a = want_truth(p, at, a);
        at = p->at;
        b = a ? want_truth(p, at, inner(p)) : NULL;
        if (!b) {
            condition_free(a);
            return NULL;
        }
        a = node(o, OF_TRUTH, a, b);
    }
    return a;
}

static struct condition *parse_and(struct parser *p)
{
    return parse_truths(p, parse_not, "and", AND);
}

static struct condition *parse_or(struct parser *p)
{
    return parse_truths(p, parse_and, "or", OR);
}

struct condition *condition_parse(const struct design *d, const char *text, struct errors *e)
{
    struct parser p = {.design = d, .whole = text, .at = text, .e = e};
    struct condition *c = want_truth(&p, text, parse_or(&p));

    skip_blanks(&p);
    if (c && *p.at) {
        fail(&p, p.at, "this does not belong here; conditions are joined by \"and\" and \"or\"");
        condition_free(c);
        return NULL;
    }
    return c;
}

/* ---- evaluation -------------------------------------------------------------------------------
 */

static double number_of(const struct condition *c, const struct level *const *level)
{
    double a, b;

    if (c->operation == LITERAL)
        return c->number;
    if (c->operation == AXIS)
        return level[c->axis]->value.number;
    a = number_of(c->a, level);
    b = number_of(c->b, level);
    switch (c->operation) {
    case PLUS:
        return a + b;
    case MINUS:
        return a - b;
    case TIMES:
        return a * b;
    default:
        return a / b;
    }
}

static const char *text_of(const struct condition *c, const struct level *const *level)
{
    return c->operation == AXIS ? level[c->axis]->text : c->text;
}

/* Below 0, 0 or above. Numbers that differ by rounding only are equal: 0.1 * 3 is 0.3. */
static int order_of(const struct condition *c, const struct level *const *level)
{
    double a, b, larger;

    if (c->a->kind == OF_TEXT)
        return strcmp(text_of(c->a, level), text_of(c->b, level));
    a = number_of(c->a, level);
    b = number_of(c->b, level);
    larger = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    if (fabs(a - b) <= 1e-12 * larger)
        return 0;
    return a < b ? -1 : 1;
}

bool condition_holds(const struct condition *c, const struct level *const *level)
{
    switch (c->operation) {
    case OR:
        return condition_holds(c->a, level) || condition_holds(c->b, level);
    case AND:
        return condition_holds(c->a, level) && condition_holds(c->b, level);
    case NOT:
        return !condition_holds(c->a, level);
    case EQUAL:
        return order_of(c, level) == 0;
    case DIFFERENT:
        return order_of(c, level) != 0;
    case LESS_OR_EQUAL:
        return order_of(c, level) <= 0;
    case GREATER_OR_EQUAL:
        return order_of(c, level) >= 0;
    case LESS_THAN:
        return order_of(c, level) < 0;
    default:
        return order_of(c, level) > 0;
    }
}
