/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON with places: what is accepted, what is refused and where, pointers, overrides, writing. */
#include "sim/json.h"

#include "sim/json_writer.h"

#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct json *parse(const char *text, struct errors *e)
{
    return json_parse("t.json", text, strlen(text), e);
}

static struct json *must_parse(const char *text)
{
    struct errors e = ERRORS_NONE;
    struct json *doc = parse(text, &e);

    ck_assert_msg(doc != NULL, "%s: %s", text, e.count ? e.item[0].text : "no document, no error");
    ck_assert_uint_eq(e.count, 0);
    return doc;
}

/* The document as text. Caller frees. */
static char *written(struct json *doc, enum json_layout layout)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, layout);

    json_put_value(&w, NULL, json_root(doc));
    fclose(out);
    return text;
}

/* ---- Texts --------------------------------------------------------------------------------- */

START_TEST(good_texts)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "0",
        "-0",
        "\"\"",
        "null",
        " \t\r\n{ \"a\" : [ 1 , 2 ] } \r\n",
        "[1.5e+10,-2E-3,1e5,0.0]",
        "[true,false,null]",
        "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00b5\\ud83d\\ude00\"]",
        "[\"\xc2\xb5 \xe2\x82\xac \xf0\x9f\x98\x80\"]",
        "\xef\xbb\xbf{\"a\": 1}",
        "{\"\": 1, \" \": 2}",
        "[\"\x7f\"]",
        "[123456789012345678901234567890]",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_free(must_parse(texts[i]));
}
END_TEST

/* What is wrong, and the line and column where it is. */
static const struct {
    const char *text, *says;
} bad[] = {
    {"", "t.json:1:1: there is nothing here"},
    {" \n ", "t.json:2:2: there is nothing here"},
    {"{", "t.json:1:2: found the end of the text"},
    {"[1,", "t.json:1:4: found the end of the text"},
    {"{\"a\": 1,}", "t.json:1:9: JSON has no comma after the last element"},
    {"[1,]", "t.json:1:4: JSON has no comma after the last element"},
    {"[1 2]", "t.json:1:4: found '2' where ',' or ']' for the '[' at 1:1 is wanted"},
    {"{\n \"a\": 1\n \"b\": 2\n}", "t.json:3:2: found '\"' where ',' or '}'"},
    {"{a: 1}", "t.json:1:2: found 'a' where a member's name"},
    {"{'a': 1}", "t.json:1:2: strings need straight double quotes"},
    {"{\"a\" 1}", "t.json:1:6: found '1' where ':'"},
    {"{\"a\": }", "t.json:1:7: found '}' where a value"},
    {"{} {}", "t.json:1:4: found '{' where the end of the text"},
    {"[] x", "t.json:1:4: found 'x' where the end of the text"},
    {"{\"a\": NaN}", "t.json:1:7: JSON has no NaN"},
    {"{\"a\": -Infinity}", "t.json:1:7: JSON has no Infinity"},
    {"{\"a\": True}", "t.json:1:7: found True; write true"},
    {"{\"a\": nul}", "t.json:1:7: found nul where a value is wanted"},
    {"{\"a\": 30ms}", "t.json:1:7: a quantity with its unit is a string"},
    {"{\"a\": 30%}", "t.json:1:7: a quantity with its unit is a string"},
    {"[01]", "t.json:1:2: numbers have no leading zeros"},
    {"[+1]", "t.json:1:2: numbers begin with a digit"},
    {"[.5]", "t.json:1:2: numbers begin with a digit"},
    {"[1.]", "t.json:1:4: found ']' where a digit after the decimal point"},
    {"[1e]", "t.json:1:4: found ']' where a digit of the exponent"},
    {"[-]", "t.json:1:3: found ']' where a digit"},
    {"[0x10]", "t.json:1:2: a quantity with its unit is a string"},
    {"// comment\n{}", "t.json:1:1: JSON has no comments"},
    {"{} # comment", "t.json:1:4: found '#'"},
    {"[\"a\nb\"]", "t.json:1:2: this string does not end on its line"},
    {"[\"abc", "t.json:1:2: this string does not end"},
    {"[\"abc\\", "t.json:1:2: this string does not end"},
    {"[\"\t\"]", "t.json:1:3: control character in a string; write \\u0009"},
    {"[\"\\q\"]", "t.json:1:4: no escape \\q"},
    {"[\"\\u12g4\"]", "t.json:1:7: \\u needs four hexadecimal digits"},
    {"[\"\\u0000\"]", "\\u0000 in a string is not accepted"},
    {"[\"\\ud800\"]", "half a surrogate pair"},
    {"[\"\\udc00\"]", "half a surrogate pair"},
    {"[\"\\ud800\\u0041\"]", "half a surrogate pair"},
    {"{\"a\": \"\xff\"}", "t.json:1:8: byte 0xff is not UTF-8"},
    {"[\"\xc0\x80\"]", "t.json:1:3: byte 0xc0 is not UTF-8"},         /* overlong */
    {"[\"\xed\xa0\x80\"]", "t.json:1:3: byte 0xed is not UTF-8"},     /* a surrogate */
    {"[\"\xf4\x90\x80\x80\"]", "t.json:1:3: byte 0xf4 is not UTF-8"}, /* above U+10FFFF */
    {"[\"\xf9\x80\x80\x80\"]", "t.json:1:3: byte 0xf9 is not UTF-8"}, /* no first byte at all */
    {"[\"\xe2\x82", "t.json:1:3: byte 0xe2 is not UTF-8"},            /* cut off */
    {"\xff\xfe{", "t.json:1:1: this is UTF-16"},
    {"[\xe2\x80\x9cx\xe2\x80\x9d]", "t.json:1:2: strings need straight double quotes"},
    {"[\xc2\xa0]", "t.json:1:2: found U+00A0"},
    /* columns count characters, not bytes */
    {"{\"\xc2\xb5\xc2\xb5\": x}", "t.json:1:8: found 'x'"},
    {"{\"a\": 1, \"a\": 2}", "t.json:1:10: /a: this member was given at line 1 already; keep one"},
    {"{\"a\": {\"x\": 1,\n\"\\u0078\": 2}}", "t.json:2:1: /a/x: this member was given at line 1"},
    {"[1234567890123456789012345678901234567890123456789012345678901]",
     "t.json:1:2: number of more than 60 characters"},
};

START_TEST(bad_texts)
{
    struct errors e = ERRORS_NONE;

    ck_assert_ptr_null(parse(bad[_i].text, &e));
    ck_assert_uint_ge(e.count, 1);
    ck_assert_msg(strstr(e.item[0].text, bad[_i].says) != NULL,
                  "\"%s\": \"%s\" does not say \"%s\"", bad[_i].text, e.item[0].text, bad[_i].says);
    ck_assert_int_eq(errors_exit_code(&e), EXIT_INPUT);
    errors_free(&e);
}
END_TEST

START_TEST(a_nul_byte_does_not_end_the_text)
{
    static const char text[] = "{}\0{\"a\": 1}";
    struct errors e = ERRORS_NONE;

    ck_assert_ptr_null(json_parse("t.json", text, sizeof text - 1, &e));
    ck_assert_msg(strstr(e.item[0].text, "t.json:1:3: found") != NULL, "%s", e.item[0].text);
    errors_free(&e);
}
END_TEST

START_TEST(all_errors_of_strings_and_keys_at_once)
{
    struct errors e = ERRORS_NONE;

    ck_assert_ptr_null(parse("[\"\\q\", \"\t\",\n \"\\u0000\"]", &e));
    ck_assert_uint_eq(e.count, 3);
    errors_free(&e);
    ck_assert_ptr_null(parse("{\"a\":1,\"b\":{\"c\":1,\"c\":2},\"a\":3,\"a\":4}", &e));
    ck_assert_uint_eq(e.count, 3);
    errors_free(&e);
}
END_TEST

/* Depth, length of lists and number of errors are bounded: nothing here may run out of stack, take
 * quadratic time or fill the memory with messages. */
START_TEST(bombs)
{
    size_t n = 200000;
    char *text = malloc(8 * n + 16), *at;
    struct errors e = ERRORS_NONE;
    struct json *doc;

    memset(text, '[', n);
    ck_assert_ptr_null(json_parse("t.json", text, n, &e));
    ck_assert_str_eq(e.item[0].text, "t.json:1:65: nested deeper than 64 levels");
    errors_free(&e);

    at = text + sprintf(text, "[0");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, ",\"\"");
    strcpy(at, "]");
    doc = must_parse(text);
    ck_assert_uint_eq(json_length(json_root(doc)), n + 1);
    json_free(doc);

    at = text + sprintf(text, "{\"a\":1");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, ",\"a\":1");
    strcpy(at, "}");
    ck_assert_ptr_null(parse(text, &e));
    ck_assert_uint_le(e.count, 101);
    errors_free(&e);
    free(text);
}
END_TEST

START_TEST(deepest_accepted)
{
    char text[2 * JSON_DEPTH + 1];
    struct json *doc;

    memset(text, '[', JSON_DEPTH);
    memset(text + JSON_DEPTH, ']', JSON_DEPTH);
    text[2 * JSON_DEPTH] = '\0';
    doc = must_parse(text);
    json_free(doc);
}
END_TEST

/* ---- Files --------------------------------------------------------------------------------- */

START_TEST(files)
{
    char dir[] = "/tmp/hvsim-json-XXXXXX", path[64];
    struct errors e = ERRORS_NONE;
    struct json *doc;
    FILE *f;
    int fd;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a.json", dir);
    ck_assert_ptr_null(json_read(path, &e));
    ck_assert_msg(strstr(e.item[0].text, "No such file") != NULL, "%s", e.item[0].text);
    ck_assert_int_eq(e.item[0].code, EXIT_INPUT);
    errors_free(&e);
    ck_assert_ptr_null(json_read(dir, &e));
    ck_assert_msg(strstr(e.item[0].text, "Is a directory") != NULL, "%s", e.item[0].text);
    errors_free(&e);

    f = fopen(path, "w");
    fputs("{\"a\": [", f);
    for (int i = 0; i < 100000; i++)
        fprintf(f, "%d,", i);
    fputs("0]}", f);
    fclose(f);
    doc = json_read(path, &e);
    ck_assert_ptr_nonnull(doc);
    ck_assert_uint_eq(json_length(json_at(doc, "/a")), 100001);
    ck_assert_str_eq(json_name(doc), path);
    json_free(doc);

    /* larger than is read: a file of holes costs no disk */
    fd = open(path, O_WRONLY);
    ck_assert_int_eq(ftruncate(fd, (off_t)JSON_BYTES + 1), 0);
    close(fd);
    ck_assert_ptr_null(json_read(path, &e));
    ck_assert_msg(strstr(e.item[0].text, "larger than 256 MiB") != NULL, "%s", e.item[0].text);
    errors_free(&e);
    unlink(path);
    rmdir(dir);
}
END_TEST

/* ---- Values -------------------------------------------------------------------------------- */

static const char sample[] = "{\n"
                             "  \"name\": \"w\\u00e9b\",\n"
                             "  \"big\": 9223372036854775807, \"seed\": 18446744073709551615,\n"
                             "  \"list\": [1, 2.5,\n"
                             "    {\"a/b\": true, \"m~n\": null}],\n"
                             "  \"\": {}\n"
                             "}\n";

START_TEST(values_by_kind)
{
    struct json *doc = must_parse(sample);
    struct json_value root = json_root(doc);
    char number[JSON_NUMBER_TEXT];
    int64_t integer;
    double real;

    ck_assert_int_eq(json_kind(root), JSON_OBJECT);
    ck_assert_str_eq(json_string(json_member(root, "name")), "w\xc3\xa9"
                                                             "b");
    ck_assert_int_eq(json_integer(json_member(root, "big"), &integer), 0);
    ck_assert_int_eq(integer, INT64_MAX);
    ck_assert_int_eq(json_integer(json_member(root, "seed"), &integer), -1);
    ck_assert_str_eq(json_number_text(json_member(root, "seed"), number), "18446744073709551615");
    ck_assert_int_eq(json_double(json_at(doc, "/list/1"), &real), 0);
    ck_assert(real == 2.5);
    ck_assert_int_eq(json_integer(json_at(doc, "/list/1"), &integer), -1);
    ck_assert(json_boolean(json_at(doc, "/list/2/a~1b")));
    ck_assert_int_eq(json_kind(json_at(doc, "/list/2/m~0n")), JSON_NULL);
    /* of the wrong kind, and of nothing */
    ck_assert_ptr_null(json_string(root));
    ck_assert_ptr_null(json_string(JSON_NONE));
    ck_assert(!json_boolean(root));
    ck_assert_int_eq(json_double(root, &real), -1);
    ck_assert_int_eq(json_integer(JSON_NONE, &integer), -1);
    ck_assert_uint_eq(json_length(JSON_NONE), 0);
    ck_assert(!json_exists(json_member(JSON_NONE, "x")));
    ck_assert(!json_exists(json_element(root, 0)));
    ck_assert_int_eq(json_kind(JSON_NONE), JSON_ABSENT);
    json_free(doc);
}
END_TEST

START_TEST(numbers_out_of_range)
{
    struct json *doc = must_parse("[1e999, 1e-999, -1e999, 1e18, 1e19, 0.5e1]");
    int64_t integer;
    double real;

    ck_assert_int_eq(json_double(json_at(doc, "/0"), &real), -1);
    ck_assert_int_eq(json_double(json_at(doc, "/1"), &real), 0);
    ck_assert_int_eq(json_double(json_at(doc, "/2"), &real), -1);
    ck_assert_int_eq(json_integer(json_at(doc, "/3"), &integer), 0);
    ck_assert_int_eq(integer, INT64_C(1000000000000000000));
    ck_assert_int_eq(json_integer(json_at(doc, "/4"), &integer), -1);
    ck_assert_int_eq(json_integer(json_at(doc, "/5"), &integer), 0);
    ck_assert_int_eq(integer, 5);
    json_free(doc);
}
END_TEST

START_TEST(walking_in_file_order)
{
    struct json *doc = must_parse("{\"z\": 1, \"a\": 2, \"m\": 3}");
    char keys[8] = "";

    JSON_FOR_EACH(v, json_root(doc))
    strcat(keys, json_key(v));
    ck_assert_str_eq(keys, "zam");
    json_free(doc);
}
END_TEST

START_TEST(places)
{
    struct json *doc = must_parse(sample);

    ck_assert_int_eq(json_line(json_root(doc)), 1);
    ck_assert_int_eq(json_line(json_at(doc, "/seed")), 3);
    ck_assert_int_eq(json_column(json_at(doc, "/seed")), 31);
    ck_assert_int_eq(json_line(json_at(doc, "/list/1")), 4);
    ck_assert_int_eq(json_column(json_at(doc, "/list/1")), 15);
    ck_assert_int_eq(json_line(json_at(doc, "/list/2/a~1b")), 5);
    ck_assert_int_eq(json_column(json_at(doc, "/list/2/a~1b")), 6);
    ck_assert_int_eq(json_line(JSON_NONE), 0);
    json_free(doc);
}
END_TEST

START_TEST(pointers)
{
    struct json *doc = must_parse(sample);
    static const char *const found[] = {"", "/name", "/list/0", "/list/2/a~1b", "/list/2/m~0n",
                                        "/"};
    static const char *const lost[] = {
        "name",   "/nam", "/list/3",     "/list/-", "/list/00", "/list/x", "/name/0",
        "/list/", "//x",  "/list/2/m~n", "/~2",     "/list/1e", "~",       "/list/99999999999999"};

    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        struct json_value v = json_at(doc, found[i]);
        char *back;

        ck_assert_msg(json_exists(v), "%s", found[i]);
        back = json_pointer(v);
        ck_assert_str_eq(back, found[i]);
        free(back);
    }
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        ck_assert_msg(!json_exists(json_at(doc, lost[i])), "%s", lost[i]);
    json_free(doc);
}
END_TEST

START_TEST(errors_name_place_and_pointer)
{
    struct json *doc = must_parse(sample);
    struct errors e = ERRORS_NONE;

    json_error(json_at(doc, "/list/2/a~1b"), &e, "found %d", 7);
    json_error_at(doc, "/list/2/missing/x", &e, "no such thing");
    json_error_in(json_at(doc, "/list/2"), "gone", &e, "not there");
    json_error(json_root(doc), &e, "whole");
    ck_assert_str_eq(e.item[0].text, "t.json:5:6: /list/2/a~1b: found 7");
    ck_assert_str_eq(e.item[1].text, "t.json:5:5: /list/2/missing/x: no such thing");
    ck_assert_str_eq(e.item[2].text, "t.json:5:5: /list/2/gone: not there");
    ck_assert_str_eq(e.item[3].text, "t.json:1:1: whole");
    errors_free(&e);
    for (int i = 0; i < 1000; i++)
        json_error(json_root(doc), &e, "again");
    ck_assert_uint_eq(e.count, 101);
    errors_free(&e);
    json_free(doc);
}
END_TEST

START_TEST(shown_values_are_short_and_printable)
{
    struct json *doc = must_parse("[\"30KB\", 12, true, null, {\"a\": 1}, [1, 2],"
                                  "\"\\u0001\\n\\u001b[31m\", \"\xe2\x82\xac\xe2\x82\xac."
                                  "45678901234567890123456789012345678901234567890\"]");
    static const char cut_off[] = "\"\xe2\x82\xac\xe2\x82\xac."
                                  "4567890123456789012345678901234567890...\"";
    static const char *const shown[] = {
        "\"30KB\"",
        "12",
        "true",
        "null",
        "an object with 1 member",
        "an array of 2 elements",
        "\"\\u0001\\u000a\\u001b[31m\"",
        cut_off,
    };
    size_t i = 0;

    JSON_FOR_EACH(v, json_root(doc))
    {
        char *text = json_show(v);

        ck_assert_str_eq(text, shown[i++]);
        free(text);
    }
    json_free(doc);
}
END_TEST

/* ---- Overrides ----------------------------------------------------------------------------- */

START_TEST(overrides)
{
    static const char *const set[] = {
        "/a=5ms",          /* bare text is a string */
        "/b/1=7",          /* a number is a number */
        "/b/-={\"q\":[]}", /* JSON is JSON */
        "/x/y/z=true",     /* missing objects are made */
        "/e~1f=\"9\"",     /* quotes force a string */
        "/empty=",         /* the empty string */
        "/eq=a=b",         /* only the first "=" ends the pointer */
        "/a=0.5%",         /* the last one wins */
        "/x/y/z=null",     "/b/2/q/-=deep", "/quote=say \"hi\" \\o/",
    };
    struct json *doc = must_parse("{\"a\": 1, \"b\": [1, 2]}");
    struct errors e = ERRORS_NONE;
    char *text;

    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        ck_assert_msg(json_set(doc, "--set", set[i], &e) == 0, "%s: %s", set[i],
                      e.count ? e.item[0].text : "");
    text = written(doc, JSON_COMPACT);
    ck_assert_str_eq(text,
                     "{\"a\":\"0.5%\",\"b\":[1,7,{\"q\":[\"deep\"]}],\"x\":{\"y\":{\"z\":null}},"
                     "\"e/f\":\"9\",\"empty\":\"\",\"eq\":\"a=b\","
                     "\"quote\":\"say \\\"hi\\\" \\\\o/\"}");
    free(text);
    ck_assert_int_eq(json_line(json_at(doc, "/x/y")), 0);
    json_error(json_at(doc, "/x/y"), &e, "bad");
    ck_assert_str_eq(e.item[0].text, "--set /x/y/z=true: /x/y: bad");
    errors_free(&e);
    json_free(doc);
}
END_TEST

START_TEST(bad_overrides_name_the_flag)
{
    static const struct {
        const char *set, *says;
    } cases[] = {
        {"a.b=5", "--set a.b=5: write --set /json/pointer=value"},
        {"a.b=5", "did you mean --set /a/b=5?"},
        {"=5", "--set =5: write"},
        {"", "--set : write"},
        {"/a", "--set /a: write"},
        {"/a={", "--set /a={: found the end of the text"},
        {"/a=[1,]", "--set /a=[1,]: JSON has no comma"},
        {"/a=\"x", "--set /a=\"x: this string does not end"},
        {"/a={\"x\":1,\"x\":2}", "this member is given twice"},
        {"/a/b=1", "--set /a/b=1: /a is 1, which has no members"},
        {"/b/2=1", "--set /b/2=1: no element \"2\"; there are 0 to 1"},
        {"/b/01=1", "no element \"01\""},
        {"/b/x/y=1", "no element \"x\""},
        {"/~=1", "\"~\" is written \"~0\""},
        {"/l/0=1", "the array is empty"},
        {"/\xff=1", "--set: a value that is not UTF-8"},
        {"/a=\xff", "--set: a value that is not UTF-8"},
    };
    struct json *doc;
    struct errors e = ERRORS_NONE;
    char deep[1024] = "", *at = deep;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doc = must_parse("{\"a\": 1, \"b\": [1, 2], \"l\": []}");
        ck_assert_msg(json_set(doc, "--set", cases[i].set, &e) == -1, "%s", cases[i].set);
        ck_assert_uint_eq(e.count, 1);
        ck_assert_msg(strstr(e.item[0].text, cases[i].says) != NULL, "%s", e.item[0].text);
        errors_free(&e);
        json_free(doc);
    }
    for (int i = 0; i < 200; i++)
        at += sprintf(at, "/d");
    strcpy(at, "=1");
    doc = must_parse("{}");
    ck_assert_int_eq(json_set(doc, "--set", deep, &e), -1);
    ck_assert_msg(strstr(e.item[0].text, "nested deeper") != NULL, "%s", e.item[0].text);
    errors_free(&e);
    json_free(doc);
}
END_TEST

/* ---- Writing ------------------------------------------------------------------------------- */

START_TEST(written_lines)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_LINES);

    json_begin(&w, NULL, '{');
    json_put_string(&w, "s", "a\"\\\n\t\x01\x7f\xc2\xb5");
    json_put_integer(&w, "i", INT64_MIN);
    json_put_number(&w, "n", 0.1);
    json_put_number(&w, "nan", NAN);
    json_put_number(&w, "inf", -INFINITY);
    json_put_boolean(&w, "b", true);
    json_put_string(&w, "none", NULL);
    json_put_quantity(&w, "q", QUANTITY_DURATION, 1500);
    json_begin(&w, "empty", '[');
    json_end(&w);
    json_begin_inline(&w, "row", '[');
    json_put_integer(&w, NULL, 1);
    json_begin(&w, NULL, '{');
    json_put_integer(&w, "x", 2);
    json_end(&w);
    json_end(&w);
    json_begin(&w, "after", '[');
    json_put_integer(&w, NULL, 3);
    json_end(&w);
    json_end(&w);
    fclose(out);
    ck_assert_str_eq(text, "{\n"
                           "  \"s\": \"a\\\"\\\\\\n\\t\\u0001\\u007f\xc2\xb5\",\n"
                           "  \"i\": -9223372036854775808,\n"
                           "  \"n\": 0.1,\n"
                           "  \"nan\": null,\n"
                           "  \"inf\": null,\n"
                           "  \"b\": true,\n"
                           "  \"none\": null,\n"
                           "  \"q\": \"1.5us\",\n"
                           "  \"empty\": [],\n"
                           "  \"row\": [1, {\"x\": 2}],\n"
                           "  \"after\": [\n"
                           "    3\n"
                           "  ]\n"
                           "}\n");
    free(text);
}
END_TEST

/* What is written reads back to the same text, in both layouts. */
START_TEST(written_and_read_again)
{
    struct json *doc = must_parse(sample), *again;
    char *text = written(doc, JSON_LINES), *second;
    struct errors e = ERRORS_NONE;

    again = parse(text, &e);
    ck_assert_ptr_nonnull(again);
    second = written(again, JSON_LINES);
    ck_assert_str_eq(text, second);
    ck_assert_msg(strstr(text, "18446744073709551615") != NULL, "%s", text);
    free(second);
    json_free(again);
    free(text);
    text = written(doc, JSON_COMPACT);
    again = parse(text, &e);
    second = written(again, JSON_COMPACT);
    ck_assert_str_eq(text, second);
    ck_assert_ptr_null(strchr(text, '\n'));
    free(second);
    free(text);
    json_free(again);
    json_free(doc);
}
END_TEST

START_TEST(numbers_are_short_and_read_back)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e300, "1e+300"},
        {123456789, "123456789"},
        {-2.5, "-2.5"},
    };
    uint64_t state = 88172645463325252u;
    char text[NUMBER_TEXT];
    double value;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(number_format(cases[i].value, text), cases[i].text);
    for (int i = 0; i < 10000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(&value, &state, sizeof value);
        if (isfinite(value))
            ck_assert(strtod(number_format(value, text), NULL) == value);
    }
}
END_TEST

Suite *suite_json(void);

Suite *suite_json(void)
{
    Suite *s = suite_create("json");
    TCase *tc = tcase_create("json");

    tcase_add_test(tc, good_texts);
    tcase_add_loop_test(tc, bad_texts, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tc, a_nul_byte_does_not_end_the_text);
    tcase_add_test(tc, all_errors_of_strings_and_keys_at_once);
    tcase_add_test(tc, bombs);
    tcase_add_test(tc, deepest_accepted);
    tcase_add_test(tc, files);
    tcase_add_test(tc, values_by_kind);
    tcase_add_test(tc, numbers_out_of_range);
    tcase_add_test(tc, walking_in_file_order);
    tcase_add_test(tc, places);
    tcase_add_test(tc, pointers);
    tcase_add_test(tc, errors_name_place_and_pointer);
    tcase_add_test(tc, shown_values_are_short_and_printable);
    tcase_add_test(tc, overrides);
    tcase_add_test(tc, bad_overrides_name_the_flag);
    tcase_add_test(tc, written_lines);
    tcase_add_test(tc, written_and_read_again);
    tcase_add_test(tc, numbers_are_short_and_read_back);
    suite_add_tcase(s, tc);
    return s;
}
