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
  ag_fields_done(&a);
  ag_fields_done(&b);
  ag_fields_done(&change);
  ag_text_done(&bytes);
  return ag_check_report();
}
