/* SPDX-License-Identifier: MIT
 * Fields: replace, drop, encode and decode; malformed bytes are refused. */
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static void fill(ag_fields *fields) {
  ag_fields_number(fields, "/options@t1", 0.1);
  ag_fields_integer(fields, "@format", 1);
  ag_fields_text(fields, "/model", "model x\n");
  ag_fields_texts(fields, "/options/set", 2, (const char *const[]){"m=2", ""});
  ag_fields_vector(fields, "/checkpoint/z", 3, (const double[]){1, 2, 3});
  ag_fields_vector(fields, "/checkpoint/c", 0, NULL);
  ag_fields_add(fields, "/state/R", AG_FIELD_COLUMN, 2, (const long[]){3, 3}, 0, NULL);
  ag_fields_add(fields, "/events/hit", AG_FIELD_TIMES, 0, NULL, 0, NULL);
}

static void check_filled(const ag_fields *fields) {
  AG_CHECK(fields->n == 8);
  AG_CHECK(ag_fields_get_number(fields, "/options@t1", 7) == 0.1);
  AG_CHECK(ag_fields_get_integer(fields, "@format", 7) == 1);
  AG_CHECK_STR(ag_fields_get_text(fields, "/model", ""), "model x\n");
  AG_CHECK(ag_fields_get_number(fields, "@format", 7) == 7); /* another kind */
  AG_CHECK(ag_fields_get_text(fields, "/options/set", NULL) == NULL);
  const ag_field *set = ag_fields_find(fields, "/options/set"), *z = ag_fields_find(fields, "/checkpoint/z");
  AG_CHECK(set && set->size == 5 && !memcmp(set->data, "m=2\0", 5));
  AG_CHECK(z && ag_field_length(z) == 3 && ((const double *)z->data)[2] == 3);
  int n_column, width, n_event;
  ag_fields_layout(fields, &n_column, &width, &n_event);
  AG_CHECK(n_column == 1 && width == 9 && n_event == 1);
}

/* Shapes that nobody writes, with a size that fits them. */
static void check_shapes(void) {
  static const struct {
    ag_field_kind kind;
    int rank;
    long dim[3];
    bool good;
  } cases[] = {{AG_FIELD_NUMBER, 3, {4000, 4000, 0}, false},
               {AG_FIELD_NUMBER, 2, {7, 0}, false},
               {AG_FIELD_NUMBER, 2, {0, 7}, true},
               {AG_FIELD_NUMBER, 1, {0}, true},
               {AG_FIELD_INTEGER, 2, {1L << 40, 1L << 40}, false},
               {AG_FIELD_TEXT, 3, {0, 1L << 40, 1L << 40}, true},
               {AG_FIELD_COLUMN, 2, {1 << 12, 1 << 12}, true},
               {AG_FIELD_COLUMN, 2, {1 << 13, 1 << 12}, false},
               {AG_FIELD_COLUMN, 1, {0}, false},
               {AG_FIELD_NUMBER, 1, {-1}, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ag_fields a = {0}, b = {0};
    ag_text bytes = {0};
    ag_fields_add(&a, "/k", cases[i].kind, cases[i].rank, cases[i].dim, 0, NULL);
    ag_fields_encode(&a, &bytes);
    AG_CHECK(ag_fields_decode(&b, bytes.s, bytes.n) == cases[i].good);
    ag_fields_done(&a), ag_fields_done(&b);
    ag_text_done(&bytes);
  }
}

/* Columns that are narrow enough each, but not together: their sum must not wrap around. */
static void check_width(void) {
  int n_column, width, n_event;
  ag_fields a = {0};
  for (int i = 0; i < 257; i++) {
    AG_CHECK(ag_fields_layout(&a, &n_column, &width, &n_event) == (i < 2) && (i >= 2 || width == i << 24));
    ag_fields_add(&a, "/x", AG_FIELD_COLUMN, 1, (const long[]){1 << 24}, 0, NULL);
  }
  ag_fields_done(&a);
}

/* More values than a row may have: what is long is written whole, and read. */
static void check_long(void) {
  const long n = (1L << 24) + 1;
  ag_fields a = {0}, b = {0};
  ag_text bytes = {0};
  char *texts = calloc((size_t)n, 1);
  ag_fields_add(&a, "/members/end", AG_FIELD_TEXT, 1, &n, (size_t)n, texts);
  ag_fields_encode(&a, &bytes);
  AG_CHECK(ag_fields_decode(&b, bytes.s, bytes.n) && b.n == 1 && ag_field_length(&b.at[0]) == n);
  ag_fields_done(&a), ag_fields_done(&b);
  ag_text_done(&bytes);
  free(texts);
}

int main(void) {
  ag_fields a = {0}, b = {0}, change = {0};
  ag_text bytes = {0};
  fill(&a);
  fill(&a); /* replaces all but the two that are always appended */
  AG_CHECK(a.n == 10);
  ag_fields_done(&a);
  fill(&a);
  check_filled(&a);
  ag_fields_encode(&a, &bytes);
  AG_CHECK(ag_fields_decode(&b, bytes.s, bytes.n));
  check_filled(&b);
  ag_fields_drop(&change, "/checkpoint");
  ag_fields_number(&change, "/options@t1", 5);
  ag_fields_merge(&b, &change);
  AG_CHECK(b.n == 6 && !ag_fields_find(&b, "/checkpoint/z") && ag_fields_get_number(&b, "/options@t1", 0) == 5);
  int refused = 0;
  for (size_t n = 0; n < bytes.n; n++) { /* every prefix: complete fields or refused, never read past the end */
    char *copy = malloc(n + 1);
    memcpy(copy, bytes.s, n);
    ag_fields c = {0};
    refused += !ag_fields_decode(&c, copy, n);
    AG_CHECK(c.n <= 8);
    ag_fields_done(&c);
    free(copy);
  }
  AG_CHECK(refused == (int)bytes.n - 8);
  for (size_t i = 0; i < bytes.n; i++) { /* no changed byte makes it crash */
    bytes.s[i] = (char)(bytes.s[i] ^ 0x55);
    ag_fields c = {0};
    (void)ag_fields_decode(&c, bytes.s, bytes.n);
    ag_fields_done(&c);
    bytes.s[i] = (char)(bytes.s[i] ^ 0x55);
  }
  check_shapes();
  check_width();
  check_long();
  ag_fields_done(&a);
  ag_fields_done(&b);
  ag_fields_done(&change);
  ag_text_done(&bytes);
  return ag_check_report();
}
