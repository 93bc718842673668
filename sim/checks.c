/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct check check_row(const char *group, const char *name)
{
    return (struct check){.group = group,
                          .name = name,
                          .reference = NAN,
                          .simulated = NAN,
                          .low = NAN,
                          .high = NAN,
                          .tolerance = NAN,
                          .verdict = VERDICT_NONE};
}

const char *verdict_name(enum verdict v)
{
    static const char *const names[] = {
        [VERDICT_HOLDS] = "holds",
        [VERDICT_SHORT] = "falls short",
        [VERDICT_NONE] = "no verdict",
    };

    return names[v];
}

/* ---- Judges -------------------------------------------------------------------------------- */

enum verdict judge_absolute(double reference, double simulated, double tolerance)
{
    if (isnan(reference) || isnan(simulated) || isnan(tolerance))
        return VERDICT_NONE;
    return fabs(simulated - reference) <= tolerance ? VERDICT_HOLDS : VERDICT_SHORT;
}

enum verdict judge_relative(double reference, double simulated, double tolerance)
{
    return judge_absolute(reference, simulated, tolerance * fabs(reference));
}

enum verdict judge_interval_absolute(double reference, double low, double high, double tolerance)
{
    double least = reference - tolerance, most = reference + tolerance;

    if (isnan(reference) || isnan(low) || isnan(high) || isnan(tolerance) || low > high)
        return VERDICT_NONE;
    if (low >= least && high <= most)
        return VERDICT_HOLDS;
    return high < least || low > most ? VERDICT_SHORT : VERDICT_NONE;
}

enum verdict judge_interval_relative(double reference, double low, double high, double tolerance)
{
    return judge_interval_absolute(reference, low, high, tolerance * fabs(reference));
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

void checks_add(struct checks *c, const struct check *row)
{
    struct check *mine;

    BUG_ON(!row->name || row->verdict >= VERDICT_COUNT);
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 16;
        c->row = xrealloc(c->row, c->capacity * sizeof *c->row);
    }
    mine = &c->row[c->count++];
    *mine = *row;
    mine->group = copy(row->group);
    mine->name = copy(row->name);
    mine->unit = copy(row->unit);
    mine->reference_text = copy(row->reference_text);
    mine->simulated_text = copy(row->simulated_text);
    mine->tolerance_text = copy(row->tolerance_text);
    mine->note = copy(row->note);
}

void checks_free(struct checks *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const char *texts[] = {c->row[i].group,
                               c->row[i].name,
                               c->row[i].unit,
                               c->row[i].reference_text,
                               c->row[i].simulated_text,
                               c->row[i].tolerance_text,
                               c->row[i].note};

        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free((void *)texts[k]);
    }
    free(c->row);
    *c = CHECKS_NONE;
}

static enum verdict add_judged(struct checks *c, struct check *row, const char *tolerance,
                               const char *why)
{
    char *text = why ? xasprintf("%s (%s)", tolerance, why) : xstrdup(tolerance);

    row->tolerance_text = text;
    checks_add(c, row);
    free(text);
    return row->verdict;
}

enum verdict checks_relative(struct checks *c, const char *group, const char *name,
                             const char *unit, double reference, double simulated, double tolerance,
                             const char *why)
{
    struct check row = check_row(group, name);
    char text[32];

    row.unit = unit;
    row.reference = reference;
    row.simulated = simulated;
    row.tolerance = tolerance;
    row.verdict = judge_relative(reference, simulated, tolerance);
    snprintf(text, sizeof text, "%.3g %%", 100 * tolerance);
    return add_judged(c, &row, text, why);
}

enum verdict checks_absolute(struct checks *c, const char *group, const char *name,
                             const char *unit, double reference, double simulated, double tolerance,
                             const char *why)
{
    struct check row = check_row(group, name);
    char text[64];

    row.unit = unit;
    row.reference = reference;
    row.simulated = simulated;
    row.tolerance = tolerance;
    row.verdict = judge_absolute(reference, simulated, tolerance);
    snprintf(text, sizeof text, "%.4g%s%.20s", tolerance, unit ? " " : "", unit ? unit : "");
    return add_judged(c, &row, text, why);
}

size_t checks_count(const struct checks *c, enum verdict v)
{
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++)
        n += c->row[i].verdict == v;
    return n;
}

enum exit_code checks_exit_code(const struct checks *c)
{
    return checks_count(c, VERDICT_SHORT) ? EXIT_SHORT : EXIT_OK;
}

/* ---- Tables -------------------------------------------------------------------------------- */

enum column {
    COLUMN_NAME,
    COLUMN_REFERENCE,
    COLUMN_SIMULATED,
    COLUMN_INTERVAL,
    COLUMN_ERROR,
    COLUMN_TOLERANCE,
    COLUMN_VERDICT,
    COLUMN_NOTE,
    COLUMNS
};

static const struct {
    const char *title;
    bool right; /* aligned: numbers */
} columns[COLUMNS] = {
    [COLUMN_NAME] = {"check", false},         [COLUMN_REFERENCE] = {"reference", true},
    [COLUMN_SIMULATED] = {"simulated", true}, [COLUMN_INTERVAL] = {"interval", true},
    [COLUMN_ERROR] = {"error", true},         [COLUMN_TOLERANCE] = {"tolerance", false},
    [COLUMN_VERDICT] = {"verdict", false},    [COLUMN_NOTE] = {"note", false},
};

static char *number_cell(double value, const char *unit)
{
    return isnan(value) ? xstrdup("")
                        : xasprintf("%.6g%s%s", value, unit ? " " : "", unit ? unit : "");
}

static char *error_cell(const struct check *r)
{
    if (isnan(r->reference) || isnan(r->simulated))
        return xstrdup("");
    if (r->reference == r->simulated)
        return xstrdup("0 %");
    if (r->reference == 0)
        return xasprintf("%+.3g", r->simulated);
    return xasprintf("%+.3g %%", 100 * (r->simulated - r->reference) / fabs(r->reference));
}

static char *interval_cell(const struct check *r)
{
    return isnan(r->low) || isnan(r->high) ? xstrdup("")
                                           : xasprintf("%.6g to %.6g", r->low, r->high);
}

/* One cell as text. Caller frees. */
static char *cell(const struct check *r, enum column column)
{
    switch (column) {
    case COLUMN_NAME:
        return xstrdup(r->name);
    case COLUMN_REFERENCE:
        return r->reference_text ? xstrdup(r->reference_text) : number_cell(r->reference, r->unit);
    case COLUMN_SIMULATED:
        return r->simulated_text ? xstrdup(r->simulated_text) : number_cell(r->simulated, r->unit);
    case COLUMN_INTERVAL:
        return interval_cell(r);
    case COLUMN_ERROR:
        return error_cell(r);
    case COLUMN_TOLERANCE:
        return xstrdup(r->tolerance_text ? r->tolerance_text : "");
    case COLUMN_VERDICT:
        return xstrdup(verdict_name(r->verdict));
    default:
        return xstrdup(r->note ? r->note : "");
    }
}

static bool same_group(const struct check *a, const struct check *b)
{
    return (!a->group && !b->group) || (a->group && b->group && strcmp(a->group, b->group) == 0);
}

/* Characters, not bytes: names may hold a micro sign. */
static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void put_padded(FILE *out, const char *text, size_t width, bool right, bool last)
{
    size_t pad = width - width_of(text);

    fprintf(out, "%*s%s%*s", right ? (int)pad : 0, "", text, right || last ? 0 : (int)pad, "");
}

/* Widths of the columns over all rows; 0 for a column in which nothing stands. */
static void measure(const struct checks *c, size_t width[COLUMNS])
{
    for (int k = 0; k < COLUMNS; k++) {
        width[k] = 0;
        for (size_t i = 0; i < c->count; i++) {
            char *text = cell(&c->row[i], (enum column)k);
            size_t w = width_of(text);

            width[k] = w > width[k] ? w : width[k];
            free(text);
        }
        if (width[k] && width_of(columns[k].title) > width[k])
            width[k] = width_of(columns[k].title);
    }
}

static int last_column(const size_t width[COLUMNS])
{
    int last = COLUMNS - 1;

    while (last > 0 && !width[last])
        last--;
    return last;
}

/* A row, or the titles when `r` is NULL. The note of most rows is empty: no blanks before it. */
static void print_row(const struct check *r, const size_t width[COLUMNS], FILE *out)
{
    int last = last_column(width);
    char *text[COLUMNS];

    for (int k = 0; k < COLUMNS; k++)
        text[k] = r ? cell(r, (enum column)k) : xstrdup(columns[k].title);
    while (last > 0 && !*text[last])
        last--;
    fputs("  ", out);
    for (int k = 0; k <= last; k++) {
        if (!width[k])
            continue;
        put_padded(out, text[k], width[k], columns[k].right, k == last);
        fputs(k == last ? "\n" : "  ", out);
    }
    for (int k = 0; k < COLUMNS; k++)
        free(text[k]);
}

void checks_print(const struct checks *c, FILE *out, const char *last_line)
{
    size_t width[COLUMNS];

    measure(c, width);
    if (c->count)
        print_row(NULL, width, out);
    for (size_t i = 0; i < c->count; i++) {
        const struct check *r = &c->row[i];

        if (r->group && (i == 0 || !same_group(r, r - 1)))
            fprintf(out, "%s\n", r->group);
        print_row(r, width, out);
    }
    checks_last_line(c, out, last_line);
}

void checks_print_short(const struct checks *c, FILE *out, const char *last_line)
{
    struct checks few = {xcalloc(c->count, sizeof *c->row), 0, c->count};

    for (size_t i = 0; i < c->count; i++)
        if (c->row[i].verdict == VERDICT_SHORT)
            few.row[few.count++] = c->row[i]; /* texts stay c's */
    if (few.count)
        checks_print(&few, out, "");
    free(few.row);
    checks_last_line(c, out, last_line);
}

void checks_last_line(const struct checks *c, FILE *out, const char *last_line)
{
    static const char *const words[] = {"{holds}", "{short}", "{none}", "{rows}"};
    const size_t counts[] = {checks_count(c, VERDICT_HOLDS), checks_count(c, VERDICT_SHORT),
                             checks_count(c, VERDICT_NONE), c->count};

    if (!last_line)
        last_line = "checks: {holds} hold, {short} fall short, {none} without verdict";
    while (*last_line) {
        size_t i = 0;

        while (i < 4 && strncmp(last_line, words[i], strlen(words[i])))
            i++;
        if (i == 4) {
            fputc(*last_line++, out);
            continue;
        }
        fprintf(out, "%zu", counts[i]);
        last_line += strlen(words[i]);
    }
    fputc('\n', out);
}

/* ---- JSON, Markdown, HTML ------------------------------------------------------------------ */

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    if (text)
        json_put_string(w, key, text);
}

static void put_value(struct json_writer *w, const char *key, double value, const char *text)
{
    if (text)
        json_put_string(w, key, text);
    else if (!isnan(value))
        json_put_number(w, key, value);
}

void checks_json(const struct checks *c, struct json_writer *w, const char *key)
{
    json_begin(w, key, '{');
    json_begin(w, "rows", '[');
    for (size_t i = 0; i < c->count; i++) {
        const struct check *r = &c->row[i];

        json_begin_inline(w, NULL, '{');
        put_text(w, "group", r->group);
        put_text(w, "name", r->name);
        put_text(w, "unit", r->unit);
        put_value(w, "reference", r->reference, r->reference_text);
        put_value(w, "simulated", r->simulated, r->simulated_text);
        put_value(w, "low", r->low, NULL);
        put_value(w, "high", r->high, NULL);
        put_value(w, "tolerance", r->tolerance, NULL);
        put_text(w, "tolerance_text", r->tolerance_text);
        put_text(w, "verdict", verdict_name(r->verdict));
        put_text(w, "note", r->note);
        json_end(w);
    }
    json_end(w);
    json_put_integer(w, "holds", (int64_t)checks_count(c, VERDICT_HOLDS));
    json_put_integer(w, "short", (int64_t)checks_count(c, VERDICT_SHORT));
    json_put_integer(w, "none", (int64_t)checks_count(c, VERDICT_NONE));
    json_end(w);
}

/* Text in a page: what would be taken for markup is escaped, line ends become blanks. */
static void put_escaped(FILE *out, const char *text, bool html)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputc(' ', out);
        else if (html && *text == '&')
            fputs("&amp;", out);
        else if (html && *text == '<')
            fputs("&lt;", out);
        else if (html && *text == '>')
            fputs("&gt;", out);
        else if (html && *text == '"')
            fputs("&quot;", out);
        else if (!html && strchr("|\\`*_<[", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

void checks_markdown(const struct checks *c, FILE *out)
{
    for (int k = 0; k < COLUMNS; k++)
        fprintf(out, "| %s ", columns[k].title);
    fputs("|\n", out);
    for (int k = 0; k < COLUMNS; k++)
        fputs(columns[k].right ? "|---:" : "|---", out);
    fputs("|\n", out);
    for (size_t i = 0; i < c->count; i++) {
        const struct check *r = &c->row[i];

        for (int k = 0; k < COLUMNS; k++) {
            char *text = cell(r, (enum column)k);

            fputs("| ", out);
            if (k == COLUMN_NAME && r->group) {
                put_escaped(out, r->group, false);
                fputs(": ", out);
            }
            put_escaped(out, text, false);
            fputc(' ', out);
            free(text);
        }
        fputs("|\n", out);
    }
}

void checks_html(const struct checks *c, FILE *out)
{
    static const char *const classes[] = {
        [VERDICT_HOLDS] = "holds",
        [VERDICT_SHORT] = "short",
        [VERDICT_NONE] = "none",
    };

    fputs("<table class=\"checks\">\n<tr>", out);
    for (int k = 0; k < COLUMNS; k++)
        fprintf(out, "<th>%s</th>", columns[k].title);
    fputs("</tr>\n", out);
    for (size_t i = 0; i < c->count; i++) {
        const struct check *r = &c->row[i];

        if (r->group && (i == 0 || !same_group(r, r - 1))) {
            fprintf(out, "<tr class=\"group\"><th colspan=\"%d\">", COLUMNS);
            put_escaped(out, r->group, true);
            fputs("</th></tr>\n", out);
        }
        fprintf(out, "<tr class=\"%s\">", classes[r->verdict]);
        for (int k = 0; k < COLUMNS; k++) {
            char *text = cell(r, (enum column)k);

            fputs(columns[k].right ? "<td class=\"number\">" : "<td>", out);
            put_escaped(out, text, true);
            fputs("</td>", out);
            free(text);
        }
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}
