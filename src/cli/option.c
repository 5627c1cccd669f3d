/* SPDX-License-Identifier: MIT */
#include "cli/option.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MAX_NAMES = 64, DOC_COLUMN = 24 }; /* options of a command */

static void suggest(int n, const ag_option *options, const char *name, ag_text *error) {
  const char *names[MAX_NAMES];
  int n_name = 0;
  for (int i = 0; i < n && n_name < MAX_NAMES; i++)
    if (options[i].kind != AG_OPTION_LATER) names[n_name++] = options[i].name;
  const char *near = ag_nearest(name, n_name, names);
  if (near) ag_text_printf(error, "; did you mean --%s?", near);
}

static const ag_option *by_letter(int n, const ag_option *options, char letter) {
  for (int i = 0; i < n; i++)
    if (options[i].letter && options[i].letter == letter) return &options[i];
  return NULL;
}

/* The parser of a command line. */
typedef struct reader {
  int n, argc, i; /* rows; words, and where it is */
  const ag_option *options;
  const char *const *argv;
  const char *seen[MAX_NAMES]; /* the value that each row was given, or NULL */
  void *args;
  ag_text *error;
} reader;

/* The row for "--name" or "--name=value"; *value is what follows '=', or NULL. */
static const ag_option *find(const reader *r, const char *word, const char **value) {
  char name[64];
  size_t len = strcspn(word + 2, "=");
  snprintf(name, sizeof name, "%.*s", len < 63 ? (int)len : 63, word + 2);
  *value = word[2 + len] ? word + 2 + len + 1 : NULL;
  for (int i = 0; i < r->n; i++)
    if (!strcmp(r->options[i].name, name)) return &r->options[i];
  ag_text_printf(r->error, "unknown option --%s", name);
  suggest(r->n, r->options, name, r->error);
  return NULL;
}

/* Is "-abc" a bundle of short options? All are flags but the last, which may take a value: the rest, or the next word.
 * A long name with one dash is none. */
static bool is_bundle(const reader *r, const char *word) {
  size_t len = strcspn(++word, "=");
  for (int i = 0; i < r->n; i++)
    if (len > 1 && strlen(r->options[i].name) == len && !strncmp(r->options[i].name, word, len)) return false;
  for (; *word; word++) {
    const ag_option *o = by_letter(r->n, r->options, *word);
    if (!o) return false;
    if (o->kind != AG_OPTION_FLAG) return true;
  }
  return true;
}

static ag_status read_number(const ag_option *o, const char *value, double *v, ag_text *error) {
  ag_text why = {0};
  if (!ag_number_read(value, v, &why)) {
    ag_text_printf(error, "--%s needs a finite number such as 0.5, 1e-3 or 2*pi, not '%s'", o->name, value);
    if (why.n) ag_text_printf(error, ": %s", ag_text_cstr(&why));
    ag_text_done(&why);
    return AG_WRONG;
  }
  if (*v >= o->lo && *v <= o->hi) return AG_OK;
  ag_text_printf(error, "--%s must be ", o->name);
  if (o->lo == DBL_MIN) ag_text_str(error, "positive");
  else ag_text_str(error, "at least "), ag_text_number(error, o->lo);
  if (o->hi < DBL_MAX) ag_text_str(error, " and at most "), ag_text_number(error, o->hi);
  ag_text_printf(error, ", not %s", value);
  return AG_WRONG;
}

static ag_status read_choice(const ag_option *o, const char *value, int *index, ag_text *error) {
  int n = 0;
  for (; o->choice(n); n++)
    if (!strcmp(o->choice(n), value)) {
      *index = n;
      return AG_OK;
    }
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(n + 1));
  for (int i = 0; i < n; i++) names[i] = o->choice(i);
  ag_text_printf(error, "--%s does not know '%s'", o->name, value);
  const char *near = ag_nearest(value, n, names);
  if (near) ag_text_printf(error, "; did you mean %s?", near);
  ag_text_str(error, " (there are:");
  for (int i = 0; i < n; i++) ag_text_printf(error, " %s", names[i]);
  ag_text_char(error, ')');
  free(names);
  return AG_WRONG;
}

/* "name=value": split at the first '='; both parts must be there. */
static ag_status read_set(const char *value, ag_common *common, ag_text *error) {
  size_t len = strcspn(value, "=");
  if (!len || !value[len] || !value[len + 1]) {
    ag_text_printf(error, "--set needs NAME=VALUE, not '%s'", value);
    return AG_WRONG;
  }
  char *name = ag_heap_alloc(len + 1);
  memcpy(name, value, len);
  common->changes.sets =
      ag_heap_grow(common->changes.sets, sizeof *common->changes.sets * (size_t)(common->changes.n_set + 1));
  common->changes.sets[common->changes.n_set++] = (ag_set){name, value + len + 1};
  return AG_OK;
}

void ag_option_set(ag_common *common, const char *name, const char *value) {
  size_t n = strlen(name) + 1, m = strlen(value) + 1;
  char *both = ag_heap_alloc(n + m); /* freed with the name */
  memcpy(both, name, n);
  memcpy(both + n, value, m);
  common->changes.sets =
      ag_heap_grow(common->changes.sets, sizeof *common->changes.sets * (size_t)(common->changes.n_set + 1));
  common->changes.sets[common->changes.n_set++] = (ag_set){both, both + n};
}

static void append(ag_list *list, const char *value) {
  list->at = ag_heap_grow(list->at, sizeof *list->at * (size_t)(list->n + 1));
  list->at[list->n++] = value;
}

static ag_status store(const ag_option *o, const char *value, void *args, ag_text *error) {
  void *at = (char *)args + o->offset;
  double v;
  switch (o->kind) {
  case AG_OPTION_NUMBER: return read_number(o, value, at, error);
  case AG_OPTION_WHOLE:
    AG_TRY(read_number(o, value, &v, error));
    if (v != floor(v)) {
      ag_text_printf(error, "--%s needs a whole number, not '%s'", o->name, value);
      return AG_WRONG;
    }
    *(long *)at = (long)v;
    return AG_OK;
  case AG_OPTION_TEXT:
  case AG_OPTION_LIST:
    if (!*value) {
      ag_text_printf(error, "--%s needs a nonempty value", o->name);
      return AG_WRONG;
    }
    if (o->kind == AG_OPTION_LIST) append(at, value);
    else *(const char **)at = value;
    return AG_OK;
  case AG_OPTION_CHOICE: return read_choice(o, value, at, error);
  case AG_OPTION_SET: return read_set(value, args, error);
  default: AG_ASSERT(o->kind == AG_OPTION_SET); return AG_WRONG; /* the others carry no value */
  }
}

/* Control characters have no place in numbers, names and expressions. (A path may contain anything.) */
static ag_status check_value(const ag_option *o, const char *value, ag_text *error) {
  for (const char *s = value; *s && o->kind != AG_OPTION_TEXT; s++) {
    if ((unsigned char)*s >= 0x20 && *s != 0x7f) continue;
    ag_text_printf(error, "--%s: the value '%s' contains %s", o->name, value,
                   *s == '\n' ? "a line break" : "a control character");
    return AG_WRONG;
  }
  return AG_OK;
}

/* A value for an option that has one value: not the second. */
static ag_status check_first(reader *r, const ag_option *o, const char *value) {
  const char **seen = &r->seen[o - r->options];
  if (*seen && o->kind != AG_OPTION_SET && o->kind != AG_OPTION_LIST) {
    ag_text_printf(r->error, "--%s is given twice: '%s' and '%s'", o->name, *seen, value);
    return AG_WRONG;
  }
  *seen = value;
  return AG_OK;
}

/* One option; its value is the next word if it has none yet. */
static ag_status read_option(reader *r, const ag_option *o, const char *value) {
  ((ag_common *)r->args)->given |= (uint64_t)1 << (o - r->options);
  if (o->kind == AG_OPTION_LATER) {
    ag_text_printf(r->error, "--%s is not available yet: %s", o->name, o->doc);
    return AG_WRONG;
  }
  if (o->kind == AG_OPTION_FLAG) {
    if (value) {
      ag_text_printf(r->error, "--%s takes no value", o->name);
      return AG_WRONG;
    }
    *(bool *)((char *)r->args + o->offset) = true;
    return AG_OK;
  }
  if (!value) {
    /* a value may start with one dash (a negative number), never with two (the next option) */
    if (r->i + 1 >= r->argc || !strncmp(r->argv[r->i + 1], "--", 2)) {
      ag_text_printf(r->error, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
      return AG_WRONG;
    }
    value = r->argv[++r->i];
  }
  AG_TRY(check_first(r, o, value));
  AG_TRY(check_value(o, value, r->error));
  return store(o, value, r->args, r->error);
}

/* "-q", "-qo FILE", "-qoFILE", "-o=FILE" */
static ag_status read_short(reader *r, const char *word) {
  if (!is_bundle(r, word)) {
    ag_text_printf(r->error, "unknown option %s", word);
    suggest(r->n, r->options, word + 1, r->error);
    return AG_WRONG;
  }
  while (*++word) {
    const ag_option *o = by_letter(r->n, r->options, *word);
    const char *rest = word[1] == '=' ? word + 2 : word[1] && o->kind != AG_OPTION_FLAG ? word + 1 : NULL;
    AG_TRY(read_option(r, o, rest));
    if (rest || o->kind != AG_OPTION_FLAG) return AG_OK;
  }
  return AG_OK;
}

static ag_status read_long(reader *r, const char *word) {
  const char *value;
  const ag_option *o = find(r, word, &value);
  return o ? read_option(r, o, value) : AG_WRONG;
}

ag_status ag_option_parse(int n, const ag_option *options, int argc, const char *const *argv, void *args,
                          ag_text *error) {
  ag_common *common = args;
  AG_ASSERT(n <= MAX_NAMES);
  reader r = {.n = n, .argc = argc, .options = options, .argv = argv, .args = args, .error = error};
  bool only_words = false;
  for (; r.i < argc; r.i++) {
    const char *word = argv[r.i];
    if (!only_words && !strcmp(word, "--")) only_words = true;
    else if (!only_words && !strncmp(word, "--", 2)) AG_TRY(read_long(&r, word));
    else if (!only_words && word[0] == '-' && word[1]) AG_TRY(read_short(&r, word));
    else {
      common->words = ag_heap_grow(common->words, sizeof *common->words * (size_t)(common->n_word + 1));
      common->words[common->n_word++] = word;
    }
  }
  return AG_OK;
}

void ag_option_done(ag_common *common) {
  for (int i = 0; i < common->changes.n_set; i++) free((char *)common->changes.sets[i].name);
  free(common->changes.sets);
  free(common->words);
  free(common->sweeps.at);
  free(common->levels.at);
  common->sweeps = common->levels = (ag_list){0};
  common->changes.sets = NULL;
  common->words = NULL;
  common->changes.n_set = common->n_word = 0;
}

bool ag_option_given(int n, const ag_option *options, const ag_common *common, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(options[i].name, name)) return common->given >> i & 1;
  AG_ASSERT(n < 0); /* the name is not in the table */
  return false;
}

/* " (default ...)" from the struct, or what the table says instead. */
static void write_preset(const ag_option *o, const void *args, ag_text *out) {
  const char *at = (const char *)args + o->offset;
  if (o->preset) {
    if (*o->preset) ag_text_printf(out, " (default %s)", o->preset);
    return;
  }
  switch (o->kind) {
  case AG_OPTION_NUMBER:
    ag_text_str(out, " (default ");
    ag_text_number(out, *(const double *)(const void *)at);
    ag_text_char(out, ')');
    break;
  case AG_OPTION_WHOLE: ag_text_printf(out, " (default %ld)", *(const long *)(const void *)at); break;
  case AG_OPTION_CHOICE: ag_text_printf(out, " (default %s)", o->choice(*(const int *)(const void *)at)); break;
  default: break;
  }
}

void ag_option_write(int n, const ag_option *options, const void *args, ag_text *out) {
  for (int i = 0; i < n; i++) {
    const ag_option *o = &options[i];
    if (o->kind == AG_OPTION_LATER) continue;
    size_t start = out->n;
    ag_text_str(out, "  ");
    if (o->letter) ag_text_printf(out, "-%c, ", o->letter);
    ag_text_printf(out, "--%s", o->name);
    if (o->arg) ag_text_printf(out, " %s", o->arg);
    if (out->n - start >= DOC_COLUMN - 1) ag_text_char(out, '\n'), start = out->n;
    while (out->n - start < DOC_COLUMN) ag_text_char(out, ' ');
    ag_text_str(out, o->doc);
    write_preset(o, args, out);
    ag_text_char(out, '\n');
  }
}

const char *ag_option_noise(int i) {
  static const char *const names[] = {"refused", "off"};
  return i < 2 ? names[i] : NULL;
}
