/* SPDX-License-Identifier: MIT
 * Numbers of the command line: constant expressions such as 2*pi, -1e-3, (1 + 2)/3, with the precedence of the model
 * language. Nothing else that strtod would read (hex, inf, nan, leading garbage) is a number here. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/study.h"

enum { MAX_DEPTH = 100 };

typedef struct cursor {
  const char *s;
  int depth;
  bool bad;
} cursor;

static double sum(cursor *c);

static bool take(cursor *c, char want) {
  while (*c->s == ' ') c->s++;
  if (*c->s != want) return false;
  c->s++;
  return true;
}

static double fail(cursor *c) {
  c->bad = true;
  return 0;
}

static double atom(cursor *c) {
  if (take(c, '(')) {
    if (++c->depth > MAX_DEPTH) return fail(c);
    double v = sum(c);
    c->depth--;
    return take(c, ')') ? v : fail(c);
  }
  if (!strncmp(c->s, "pi", 2) && !isalnum((unsigned char)c->s[2])) {
    c->s += 2;
    return acos(-1);
  }
  bool digits = isdigit((unsigned char)c->s[0]) || (c->s[0] == '.' && isdigit((unsigned char)c->s[1]));
  if (!digits || c->s[1] == 'x' || c->s[1] == 'X') return fail(c);
  char *end;
  double v = strtod(c->s, &end);
  c->s = end;
  return v;
}

static double unary(cursor *c) {
  if (++c->depth > MAX_DEPTH) return fail(c);
  double v;
  if (take(c, '-')) v = -unary(c);
  else if (take(c, '+')) v = unary(c);
  else {
    v = atom(c);
    if (!c->bad && take(c, '^')) v = pow(v, unary(c));
  }
  c->depth--;
  return v;
}

static double term(cursor *c) {
  double v = unary(c);
  while (!c->bad) {
    if (take(c, '*')) v *= unary(c);
    else if (take(c, '/')) v /= unary(c);
    else break;
  }
  return v;
}

static double sum(cursor *c) {
  double v = term(c);
  while (!c->bad) {
    if (take(c, '+')) v += term(c);
    else if (take(c, '-')) v -= term(c);
    else break;
  }
  return v;
}

bool ag_number_parse(const char *s, double *value) {
  cursor c = {.s = s};
  double v = sum(&c);
  while (*c.s == ' ') c.s++;
  if (c.bad || *c.s || !isfinite(v)) return false;
  *value = v;
  return true;
}
