/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/gnuplot.h"

#include "sim/output.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void gnuplot_quote(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

void gnuplot_terminal(int picture, const char *base, FILE *out)
{
    fprintf(out, "set terminal %s\nset output '%s.%s'\n",
            picture ? "pngcairo size 900,600" : "svg size 900,600 background 'white'", base,
            picture ? "png" : "svg");
}

/* gnuplot in that directory. 0, or -1 when it is not there or fails. */
static int run(const char *dir, const char *script)
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        if (chdir(dir) == 0 && freopen("/dev/null", "w", stderr))
            execlp("gnuplot", "gnuplot", script, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void remove_pictures(const char *dir, const char *base)
{
    static const char *const suffixes[] = {".svg", ".png"};

    for (size_t i = 0; i < 2; i++) {
        char *name = xasprintf("%s%s", base, suffixes[i]), *path = output_path(dir, name);

        unlink(path);
        free(path);
        free(name);
    }
}

int gnuplot_picture(const char *dir, const char *base, results_fn *data, results_fn *script,
                    const void *ctx, bool quiet, struct errors *e)
{
    char *dat = xasprintf("%s.dat", base), *gp = xasprintf("%s.gp", base);
    int status = results_file(dir, dat, data, ctx, e);

    if (!status)
        status = results_file(dir, gp, script, ctx, e);
    if (!status && run(dir, gp)) {
        remove_pictures(dir, base);
        if (!quiet)
            fprintf(stderr,
                    "No picture: gnuplot is not there or failed. `gnuplot %s` in %s draws it.\n",
                    gp, dir);
    }
    free(dat);
    free(gp);
    return status;
}

void gnuplot_variants(const struct study *s, const char *base, const char *how, FILE *out)
{
    for (int picture = 0; picture < 2; picture++) {
        gnuplot_terminal(picture, base, out);
        fputs("plot ", out);
        for (size_t i = 0; i < s->variants; i++) {
            fprintf(out, "%s'%s.dat' index %zu %s linewidth 2 title ", i ? ", \\\n     " : "", base,
                    i, how);
            gnuplot_quote(s->variant[i].label, out);
            fputs(" noenhanced", out);
        }
        fputs("\nunset output\n", out);
    }
}
