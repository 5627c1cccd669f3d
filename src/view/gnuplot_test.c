/* SPDX-License-Identifier: MIT
 * The script: whatever the file says, only quoted texts and numbers of it stand there. */
#include "tests/view_lab.h"

/* The script without its quoted texts ('' inside quotes is a quote). False when a quote stays open at the end of a
 * line. */
static bool without_texts(const char *s, ag_text *out) {
  bool inside = false;
  for (; *s; s++) {
    if (*s == '\'' && inside && s[1] == '\'') s++;
    else if (*s == '\'') inside = !inside;
    else if (!inside) ag_text_char(out, *s);
    if (*s == '\n' && inside) return false;
  }
  return !inside;
}

static void try_script(const char *text, const ag_figure_request *o, ag_figure_format format) {
  ag_source *s = lab_source(text);
  ag_figure f;
  ag_text trouble = {0}, script = {0}, bare = {0}, data = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, o, &trouble) == AG_OK);
  const ag_paper paper = {.format = format, .width = 8.6};
  ag_gnuplot_script(&f, &paper, "it's.png", "it's.dat", &script);
  ag_gnuplot_data(&f, &data);
  AG_CHECK(without_texts(script.s, &bare));
  AG_CHECK(!strstr(bare.s, "evil") && !strchr(bare.s, '`') && !strchr(bare.s, '"') && !strchr(script.s, '\x1b'));
  AG_CHECK(strspn(data.s, "0123456789.+-einfa \n") == data.n);
  ag_text_done(&trouble);
  ag_text_done(&script);
  ag_text_done(&bare);
  ag_text_done(&data);
  ag_figure_done(&f);
  ag_source_free(s);
}

int main(void) {
  static const char hostile[] =
      "t,evil'; system('evil'); x',\"`evil`\",\"evil\x1b[31m\"\n0,1,2,3\n1,2,3,nan\n2,5,4,1\n";
  const ag_figure_request title = {.title = "'; evil `evil` \" \n system 'evil'", .about = true};
  for (ag_figure_format k = AG_FIGURE_PNG; k <= AG_FIGURE_PDF; k++) {
    try_script(lab_motion, &(ag_figure_request){0}, k);
    try_script(hostile, &title, k);
    try_script(lab_motion, &(ag_figure_request){.x = "x[1]", .y = "x[2]", .z = "spin"}, k);
    try_script(hostile, &(ag_figure_request){.units = "t=evil' `evil` \x1b"}, k);
    try_script(lab_motion, &(ag_figure_request){.drift = true, .tolerance = 1e-3}, k);
    try_script("method,dt,rhs,error\nevil'`evil`,1,9,1e-3\nrk4,1,9,1e-3\n", &(ag_figure_request){0}, k);
    try_script("c,d,t,r\n0,5,1,2\n1,6,1,3\n", &(ag_figure_request){0}, k);
  }
  unlink(lab_file("t\n"));
  return ag_check_report();
}
