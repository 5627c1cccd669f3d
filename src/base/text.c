/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/number.h"

static void room(ag_text *x, size_t more) {
  size_t need = x->n + more + 1;
  if (need <= x->cap) return;
  size_t cap = x->cap ? x->cap : 64;
  while (cap < need) cap *= 2;
  x->s = ag_heap_grow(x->s, cap);
  x->cap = cap;
}

void ag_text_done(ag_text *x) {
  free(x->s);
  *x = (ag_text){0};
}

void ag_text_clear(ag_text *x) {
  x->n = 0;
  if (x->s) x->s[0] = 0;
}

void ag_text_strn(ag_text *x, const char *s, size_t n) {
  room(x, n);
  memcpy(x->s + x->n, s, n);
  x->n += n;
  x->s[x->n] = 0;
}

void ag_text_str(ag_text *x, const char *s) { ag_text_strn(x, s, strlen(s)); }

void ag_text_char(ag_text *x, char c) { ag_text_strn(x, &c, 1); }

/* Written a second time only where it did not fit. */
void ag_text_printf(ag_text *x, const char *format, ...) {
  enum { SHORT = 32 };
  va_list args, again;
  room(x, SHORT);
  size_t left = x->cap - x->n;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(x->s + x->n, left, format, args);
  va_end(args);
  if ((size_t)n >= left) {
    room(x, (size_t)n);
    vsnprintf(x->s + x->n, (size_t)n + 1, format, again);
  }
  va_end(again);
  x->n += (size_t)n;
}

void ag_text_number(ag_text *x, double v) { ag_text_numbers(x, 1, &v, 0); }

void ag_text_numbers(ag_text *x, int n, const double *v, char between) {
  room(x, (size_t)n * (AG_NUMBER_SIZE + 1));
  char *p = x->s + x->n;
  for (int i = 0; i < n; i++) {
    if (i) *p++ = between;
    p += ag_number_write(v[i], p);
  }
  *p = 0;
  x->n = (size_t)(p - x->s);
}

void ag_text_json_str(ag_text *x, const char *s) {
  ag_text_char(x, '"');
  ag_escape_json(x, s);
  ag_text_char(x, '"');
}

void ag_text_json_number(ag_text *x, double v) {
  if (isfinite(v)) ag_text_number(x, v);
  else ag_text_str(x, "null");
}

const char *ag_text_cstr(const ag_text *x) { return x->s ? x->s : ""; }

const char *ag_plural(long n, const char *one, const char *many) { return n == 1 ? one : many; }
