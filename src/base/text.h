/* SPDX-License-Identifier: MIT
 * Growing strings. The library prints into texts; only cli/ writes them out. */
#ifndef AG_BASE_TEXT_H
#define AG_BASE_TEXT_H
#include <stddef.h>

typedef struct ag_text {
  char *s; /* null-terminated; NULL while empty */
  size_t n, cap;
} ag_text;

void ag_text_done(ag_text *x);
void ag_text_clear(ag_text *x);
void ag_text_char(ag_text *x, char c);
void ag_text_str(ag_text *x, const char *s);
void ag_text_strn(ag_text *x, const char *s, size_t n);
void ag_text_printf(ag_text *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The shortest decimal that reads back as exactly v ("0.1", "1e-30", "inf", "nan"). */
void ag_text_number(ag_text *x, double v);
void ag_text_numbers(ag_text *x, int n, const double *v, char between); /* n of them */
/* A JSON string with quotes and escapes; a JSON number, as ag_text_number (null if not finite). */
void ag_text_json_str(ag_text *x, const char *s);
void ag_text_json_number(ag_text *x, double v);
/* The word for n things: ag_plural(n, "velocity", "velocities"). */
const char *ag_plural(long n, const char *one, const char *many);
/* The content ("" if empty). */
const char *ag_text_cstr(const ag_text *x);
#endif
