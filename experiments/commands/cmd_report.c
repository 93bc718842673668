/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim report: one page of HTML from results. */
#include "experiments/commands/commands.h"
#include "experiments/results/report.h"

struct report_options {
    char *out, *title;
};

static const struct command_option rows[] = {
    {.param = {PARAM("out", STRING, struct report_options, out), .def = "report.html",
               .meaning = "The file to write."},
     .letter = 'o',
     .value = "FILE.html"},
    {.param = {PARAM("title", STRING, struct report_options, title),
               .meaning = "Title of the page (default: the first scenario's)."},
     .value = "TEXT"},
};

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    const struct report_options *o = options;

    if (report_write((const char *const *)operands->text, (size_t)operands->count, o->title, o->out,
                     e))
        return errors_exit_code(e);
    printf("%s is ready for a browser\n", o->out);
    return EXIT_OK;
}

const struct command command_report = {
    .name = "report",
    .summary = "Make a page for a browser from results of run, compare and sweep",
    .arguments = "DIR...",
    .least = 1,
    .most = -1,
    .details = "Each DIR is what run, compare or sweep gather wrote by --out. The page holds all "
               "it shows: it needs no network, no server, and none of the directories.\n\n"
               "If they were given --timeline FROM..TO, the page shows the schedule of that time: "
               "who ran where, who woke whom, and why the scheduler decided so.",
    OPTIONS_OF(rows, struct report_options),
    .run = run,
};
