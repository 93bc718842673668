/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/report.h"

#include "experiments/results/report_tables.h"
#include "experiments/scenario/datadir.h"
#include "sim/json.h"
#include "sim/json_writer.h"
#include "sim/output.h"
#include "sim/version.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What of a directory goes into the page. Files that are larger are named only: a browser has to
 * hold all of them. */
static const struct content {
    const char *prefix, *suffix;
    size_t most; /* bytes */
    bool binary;
    bool head; /* only its first line */
} contents[] = {
    {.prefix = "results", .suffix = ".json", .most = (size_t)64 << 20},
    {.prefix = "timeline-", .suffix = ".hvt", .most = (size_t)64 << 20, .binary = true},
    {.prefix = "results", .suffix = ".csv", .most = (size_t)32 << 20},
    {.prefix = "points", .suffix = ".csv", .most = (size_t)16 << 20},
    {.prefix = "", .suffix = ".csv", .most = (size_t)4 << 20},
    {.prefix = "lateness-", .suffix = ".dat", .most = (size_t)4 << 20},
    {.prefix = "sweep", .suffix = ".jsonl", .most = SIZE_MAX, .head = true},
    {.prefix = "scenario", .suffix = ".json", .most = (size_t)4 << 20},
    {.prefix = "", .suffix = ".hgrm", .most = (size_t)1 << 20},
};

struct page_file {
    char *name, *path;
    const struct content *content; /* NULL: only its name is in the page */
    size_t size;
};

struct page_set {
    const char *dir;
    const char *kind; /* "run", "compare", "sweep" */
    char *title;
    struct page_file *file;
    size_t files;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* A whole file with a zero behind it; NULL with an error. */
static char *read_file(const char *path, size_t *size, struct errors *e)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL, block[65536];
    size_t n;

    *size = 0;
    if (!in) {
        error_add(e, EXIT_INPUT, "%s: %s", path, strerror(errno));
        return NULL;
    }
    while ((n = fread(block, 1, sizeof block, in)) > 0) {
        text = xrealloc(text, *size + n + 1);
        memcpy(text + *size, block, n);
        *size += n;
    }
    if (ferror(in)) {
        error_add(e, EXIT_INPUT, "%s: reading it failed", path);
        free(text);
        text = NULL;
    } else if (!text) {
        text = xcalloc(1, 1);
    } else {
        text[*size] = 0;
    }
    fclose(in);
    return text;
}

static size_t size_of(const char *path)
{
    FILE *in = fopen(path, "rb");
    long size = -1;

    if (in && !fseek(in, 0, SEEK_END))
        size = ftell(in);
    if (in)
        fclose(in);
    return size < 0 ? 0 : (size_t)size;
}

static const struct content *content_of(const char *name, size_t size)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        const struct content *c = &contents[i];
        size_t tail = strlen(c->suffix);

        if (!strncmp(name, c->prefix, strlen(c->prefix)) && n > tail &&
            !strcmp(name + n - tail, c->suffix))
            return size <= c->most ? c : NULL; /* the first that fits */
    }
    return NULL;
}

static int read_directory(struct page_set *s, struct errors *e)
{
    struct dirent **entry;
    int n = scandir(s->dir, &entry, NULL, alphasort);

    if (n < 0)
        return error_add(e, EXIT_INPUT,
                         "%s: %s; give a directory that run, compare or sweep gather wrote by "
                         "--out",
                         s->dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (*entry[i]->d_name != '.') {
            struct page_file *f;

            s->file = xrealloc(s->file, (s->files + 1) * sizeof *s->file);
            f = &s->file[s->files++];
            f->name = xstrdup(entry[i]->d_name);
            f->path = output_path(s->dir, f->name);
            f->size = size_of(f->path);
            f->content = content_of(f->name, f->size);
        }
        free(entry[i]);
    }
    free(entry);
    return 0;
}

static const struct page_file *file_of(const struct page_set *s, const char *name)
{
    for (size_t i = 0; i < s->files; i++)
        if (!strcmp(s->file[i].name, name))
            return &s->file[i];
    return NULL;
}

/* The head line of a sweep's index: what it is called. */
static int recognise_sweep(struct page_set *s, const struct page_file *index, struct errors *e)
{
    size_t size;
    char *text = read_file(index->path, &size, e);
    struct json *doc;

    if (!text)
        return -1;
    s->kind = "sweep";
    if (!file_of(s, "results.csv"))
        error_add(e, EXIT_INPUT, "%s: no results were gathered: run `hvsim sweep gather %s` first",
                  s->dir, s->dir);
    doc = json_parse(index->path, text, strcspn(text, "\n"), e);
    if (doc && json_string(json_at(doc, "/title")))
        s->title = xstrdup(json_string(json_at(doc, "/title")));
    json_free(doc);
    free(text);
    return e->count ? -1 : 0;
}

/* What kind of results are in the directory, and the title of their scenario. */
static int recognise(struct page_set *s, struct errors *e)
{
    const struct page_file *f = file_of(s, "results.json"), *index = file_of(s, "sweep.jsonl");
    struct json *doc = f ? json_read(f->path, e) : NULL;
    struct json_value root, scenario;
    int64_t format = 0;

    if (!f && index)
        return recognise_sweep(s, index, e);
    if (!f)
        return error_add(e, EXIT_INPUT,
                         "%s: there is no results.json in it: give directories that hvsim run, "
                         "compare or sweep run wrote by --out",
                         s->dir);
    if (!doc)
        return -1;
    root = json_root(doc);
    json_integer(json_at(doc, "/hvsim/results"), &format);
    s->kind = json_exists(json_member(root, "variants")) ? "compare" : "run";
    scenario = json_at(doc, !strcmp(s->kind, "compare") ? "/variants/0/scenario" : "/scenario");
    if (format != 1)
        error_add(e, EXIT_INPUT,
                  "%s: these are not results of hvsim, or of a version that this one does not know",
                  f->path);
    else if (json_string(json_member(scenario, "title")))
        s->title = xstrdup(json_string(json_member(scenario, "title")));
    json_free(doc);
    return format == 1 ? 0 : -1;
}

static void free_set(struct page_set *s)
{
    for (size_t i = 0; i < s->files; i++) {
        free(s->file[i].name);
        free(s->file[i].path);
    }
    free(s->file);
    free(s->title);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_html(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else
            fputc(*text, out);
    }
}

/* JSON inside of a script element: nothing that could end it. */
static void put_script_json(const char *text, size_t size, FILE *out)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(text[i], out);
    }
}

static void put_base64(const char *text, size_t size, FILE *out)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)text;

    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)b[i] << 16 | (i + 1 < size ? (uint32_t)b[i + 1] << 8 : 0) |
                         (i + 2 < size ? b[i + 2] : 0);

        fputc(digit[three >> 18], out);
        fputc(digit[three >> 12 & 63], out);
        fputc(i + 1 < size ? digit[three >> 6 & 63] : '=', out);
        fputc(i + 2 < size ? digit[three & 63] : '=', out);
    }
}

/* A text as a JSON string. */
static void put_text(const char *text, FILE *out)
{
    char *json = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&json, &size);
    struct json_writer w;

    if (!memory)
        BUG("no memory stream");
    w = json_writer(memory, JSON_COMPACT);
    json_put_string(&w, NULL, text);
    fclose(memory);
    put_script_json(json, size, out);
    free(json);
}

/* Files are script elements that no browser runs; page.js finds them by their ids. */
static int put_file(const struct page_file *f, size_t set, size_t index, FILE *out,
                    struct errors *e)
{
    size_t size;
    char *text = read_file(f->path, &size, e);
    bool json = !strcmp(f->content->suffix, ".json");

    if (!text)
        return -1;
    if (f->content->head)
        text[strcspn(text, "\n")] = 0;
    fprintf(out, "<script type=\"%s\" id=\"f%zu-%zu\">",
            f->content->binary ? "application/octet-stream" : "application/json", set, index);
    if (f->content->binary)
        put_base64(text, size, out);
    else if (json)
        put_script_json(text, size, out);
    else
        put_text(text, out);
    fputs("</script>\n", out);
    free(text);
    return 0;
}

static void put_metrics(struct json_writer *w)
{
    json_begin(w, "metrics", '[');
    for (size_t i = 0; i < metric_count; i++) {
        json_begin_inline(w, NULL, '{');
        json_put_string(w, "name", metrics[i].name);
        json_put_string(w, "unit", metrics[i].unit);
        json_put_string(w, "heading", metrics[i].heading);
        json_put_string(w, "meaning", metrics[i].meaning);
        json_end(w);
    }
    json_end(w);
    json_begin(w, "tables", '[');
    for (size_t i = 0; i < report_table_count; i++) {
        json_begin_inline(w, NULL, '{');
        json_put_string(w, "heading", report_tables[i].heading);
        json_put_string(w, "kind", subject_kind_names[report_tables[i].kind]);
        json_begin_inline(w, "metrics", '[');
        for (size_t k = 0; k < metric_count; k++)
            if (report_table_lists(&report_tables[i], &metrics[k]))
                json_put_string(w, NULL, metrics[k].name);
        json_end(w);
        json_end(w);
    }
    json_end(w);
    parts_put_names(w);
}

static void put_sets(const struct page_set *set, size_t sets, struct json_writer *w)
{
    json_begin(w, "sets", '[');
    for (size_t i = 0; i < sets; i++) {
        json_begin(w, NULL, '{');
        json_put_string(w, "dir", set[i].dir);
        json_put_string(w, "kind", set[i].kind);
        json_begin(w, "files", '[');
        for (size_t k = 0; k < set[i].files; k++) {
            const struct page_file *f = &set[i].file[k];

            json_begin_inline(w, NULL, '{');
            json_put_string(w, "name", f->name);
            json_put_integer(w, "size", (int64_t)f->size);
            json_put_boolean(w, "here", f->content != NULL);
            json_put_boolean(w, "binary", f->content && f->content->binary);
            json_end(w);
        }
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void put_index(const struct page_set *set, size_t sets, FILE *out)
{
    char *json = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&json, &size);
    struct json_writer w;

    if (!memory)
        BUG("no memory stream");
    w = json_writer(memory, JSON_LINES);
    json_begin(&w, NULL, '{');
    json_put_string(&w, "hvsim", hvsim_version);
    put_metrics(&w);
    put_sets(set, sets, &w);
    json_end(&w);
    fclose(memory);
    fputs("<script type=\"application/json\" id=\"index\">", out);
    put_script_json(json, size, out);
    fputs("</script>\n", out);
    free(json);
}

/* Scripts, styles and licences that come with hvsim, in the order in which the page has them. */
enum { STYLE_UPLOT, STYLE_PAGE, LICENCE, SCRIPT_UPLOT, SCRIPT_FIRST, ASSETS = 11 };
static const char *const asset_names[ASSETS] = {
    [STYLE_UPLOT] = "uPlot-1.6.32.min.css",
    [STYLE_PAGE] = "page.css",
    [LICENCE] = "uPlot-LICENSE.txt",
    [SCRIPT_UPLOT] = "uPlot-1.6.32.min.js",
    [SCRIPT_FIRST] = "base.js",
    "charts.js",
    "sweep.js",
    "timeline.js",
    "timeline_view.js",
    "timeline_panel.js",
    "page.js",
};

static int read_assets(char *asset[ASSETS], struct errors *e)
{
    size_t before = e->count, size;

    for (int i = 0; i < ASSETS; i++) {
        char *name = xasprintf("report/%s", asset_names[i]), *path = data_file("library", name);

        asset[i] = path ? read_file(path, &size, e) : NULL;
        if (!path)
            error_add(e, EXIT_INTERNAL, "%s of hvsim's library is not there", name);
        free(path);
        free(name);
    }
    return e->count > before ? -1 : 0;
}

static void put_head(char *const asset[ASSETS], const char *title, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          out);
    put_html(title, out);
    fprintf(out, "</title>\n<style>\n%s\n%s</style>\n</head>\n<body>\n", asset[STYLE_UPLOT],
            asset[STYLE_PAGE]);
    fputs("<noscript><p>This page makes its tables and pictures by JavaScript, from data that is "
          "inside of it.</p></noscript>\n",
          out);
}

static int put_page(const struct page_set *set, size_t sets, const char *title, FILE *out,
                    struct errors *e)
{
    char *asset[ASSETS] = {NULL};
    int status = read_assets(asset, e);

    if (!status) {
        put_head(asset, title, out);
        put_index(set, sets, out);
        for (size_t i = 0; i < sets; i++)
            for (size_t k = 0; k < set[i].files; k++)
                if (set[i].file[k].content)
                    status |= put_file(&set[i].file[k], i, k, out, e);
        fprintf(out, "<script>\n/*\n%s*/\n%s</script>\n", asset[LICENCE], asset[SCRIPT_UPLOT]);
        for (int i = SCRIPT_FIRST; i < ASSETS; i++)
            fprintf(out, "<script>\n%s</script>\n", asset[i]);
        fputs("</body>\n</html>\n", out);
    }
    for (int i = 0; i < ASSETS; i++)
        free(asset[i]);
    return status;
}

static int write_page(const struct page_set *set, size_t sets, const char *title, const char *path,
                      struct errors *e)
{
    struct output *o = output_open(path, e);

    if (!o)
        return -1;
    if (!title)
        title = set[0].title && *set[0].title ? set[0].title : "hvsim";
    if (!put_page(set, sets, title, output_stream(o), e))
        return output_commit(o, e);
    output_abort(o);
    return -1;
}

int report_write(const char *const *dir, size_t dirs, const char *title, const char *path,
                 struct errors *e)
{
    struct page_set *set = xcalloc(dirs, sizeof *set);
    size_t before = e->count;

    for (size_t i = 0; i < dirs; i++) {
        set[i].dir = dir[i];
        if (!read_directory(&set[i], e))
            recognise(&set[i], e);
    }
    if (e->count == before)
        write_page(set, dirs, title, path, e);
    for (size_t i = 0; i < dirs; i++)
        free_set(&set[i]);
    free(set);
    return e->count > before ? -1 : 0;
}
