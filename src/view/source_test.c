/* SPDX-License-Identifier: MIT
 * Tables as sources: columns, kinds, choices, numbers; what is no table. */
#include "tests/view_lab.h"

static void test_columns(void) {
  static const struct {
    const char *name;
    ag_column_kind kind;
    int rows, cols;
  } want[] = {{"t", AG_COL_TIME, 1, 1},          {"x", AG_COL_COORD, 2, 1},
              {"R", AG_COL_COORD, 3, 3},         {"x'", AG_COL_VELOCITY, 2, 1},
              {"spin", AG_COL_OBSERVABLE, 1, 1}, {"a, b", AG_COL_OBSERVABLE, 1, 1},
              {"energy", AG_COL_ENERGY, 1, 1},   {"constraint_residual", AG_COL_RESIDUAL, 1, 1}};
  ag_source *s = lab_source(lab_motion);
  AG_CHECK(s->kind == AG_SOURCE_RUN && s->n_column == 8);
  for (int i = 0; i < s->n_column && i < 8; i++) {
    AG_CHECK_STR(s->columns[i].name, want[i].name);
    AG_CHECK(s->columns[i].kind == want[i].kind && s->columns[i].rows == want[i].rows &&
             s->columns[i].cols == want[i].cols);
  }
  ag_source_free(s);
}

static void test_numbers(void) {
  ag_source *s = lab_source(lab_motion);
  const int at[] = {1, 15, 16};
  double *v[3];
  long n;
  ag_text trouble = {0};
  AG_CHECK(ag_source_read(s, 3, at, v, &n, &trouble) && n == 3);
  AG_CHECK(v[0][0] == 1 && v[0][1] == 1.5 && v[0][2] == 2);
  AG_CHECK(v[1][0] == 6 && isnan(v[1][1]) && isnan(v[1][2]));
  AG_CHECK(v[2][0] == 7 && v[2][2] == 7.5);
  for (int i = 0; i < 3; i++) free(v[i]);
  ag_text_done(&trouble);
  ag_source_free(s);
}

static void test_choices(void) {
  static const struct {
    const char *list;
    int n, first, last; /* of the last one */
    const char *trouble;
  } want[] = {{"spin", 1, 0, 0, ""},
              {"x", 1, 0, 1, ""},
              {"t,x[2]", 2, 1, 1, ""},
              {"x[1:2]", 1, 0, 1, ""},
              {"x[2]'", 1, 1, 1, ""},
              {"x[1:2]'", 1, 0, 1, ""},
              {"R[2,3]", 1, 5, 5, ""},
              {"spni", -1, 0, 0, "did you mean spin?"},
              {"x[3]", -1, 0, 0, "no column x[3]"},
              {"x[1:5]", -1, 0, 0, "x has 2 numbers"},
              {"x[2:1]", -1, 0, 0, "x has 2 numbers"},
              {"", -1, 0, 0, "empty list"}};
  ag_source *s = lab_source(lab_motion);
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    ag_choice c[4];
    ag_text trouble = {0};
    int n = ag_source_choices(s, want[i].list, c, 4, &trouble);
    AG_CHECK(n == want[i].n);
    if (n > 0) AG_CHECK(c[n - 1].first == want[i].first && c[n - 1].last == want[i].last);
    AG_CHECK(strstr(ag_text_cstr(&trouble), want[i].trouble) && !(n > 0 && trouble.n));
    ag_text_done(&trouble);
  }
  ag_source_free(s);
}

/* Numbers of a header that are no matrix, or not all of one: every number of a column is one of the table. */
static void test_shapes(void) {
  static const struct {
    const char *header;
    int n_field, n_column;
  } want[] = {{"t,\"x[1,1]\",\"x[1,2]\",\"x[1,3]\",\"x[1,4]\",\"x[1,5]\",\"x[2,1]\",y", 8, 3}, /* the last row is cut */
              {"t,\"x[1,1]\",\"x[2,1]\",\"x[2,2]\",y", 5, 3},
              {"t,\"x[1,1]\",\"x[1000,-997]\",y", 4, 4},
              {"t,\"x[1,1]\",\"x[4294967297,2]\",y", 4, 4},
              {"t,\"x[1,1]\",\"x[9999999999,99999999999]\",y", 4, 4},
              {"t,\"x[1,1]\",\"x[-2147483648,3]\",y", 4, 4},
              {"t,x[1],x[1],y", 4, 4},
              {"t,x[1],x[ 2],y", 4, 4},
              {"t,[1],[2],y", 4, 4}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    ag_text table = {0};
    ag_text_printf(&table, "%s\n", want[i].header);
    for (int k = 0; k < want[i].n_field; k++) ag_text_printf(&table, "%d%s", k, k < want[i].n_field - 1 ? "," : "\n");
    ag_source *s = lab_source(ag_text_cstr(&table));
    ag_text_done(&table);
    AG_CHECK(s->n_column == want[i].n_column);
    for (int k = 0, at = 0; k < s->n_column; k++) {
      const ag_column *c = &s->columns[k];
      AG_CHECK(c->offset == at && c->rows * c->cols > 0 && *c->name);
      at += c->rows * c->cols;
      AG_CHECK(k < s->n_column - 1 ? at < want[i].n_field : at == want[i].n_field);
    }
    ag_source_free(s);
  }
}

static void test_kinds(void) {
  ag_source *s = lab_source("c,end,t,steps,x,x'\n0.1,time reached,10,49,1,2\n");
  AG_CHECK(s->kind == AG_SOURCE_BATCH && s->swept[0] && !s->swept[1] && !s->swept[2]);
  ag_source_free(s);
  s = lab_source("member,start x,crossing,t,x,x'\n1,0.5,1,3.5,1,2\n");
  AG_CHECK(s->kind == AG_SOURCE_SECTION && !s->swept[0] && s->swept[1] && !s->swept[2]);
  ag_source_free(s);
}

static void test_wrong(void) {
  static const char *const texts[] = {"", "1,2,3\n4,5,6\n", "\n", "t,,x\n", "a\tb,c\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ag_status status;
    ag_text trouble = {0};
    ag_source *s = ag_source_file(lab_file(texts[i]), &status, &trouble);
    AG_CHECK(!s && status == AG_WRONG && trouble.n);
    ag_source_free(s);
    ag_text_done(&trouble);
  }
  ag_status status;
  ag_text trouble = {0};
  AG_CHECK(!ag_source_file("no/such/file.csv", &status, &trouble) && status == AG_SYSTEM && trouble.n);
  ag_text_clear(&trouble);
  AG_CHECK(!ag_source_file("no/such/file.h5", &status, &trouble) && status == AG_SYSTEM && trouble.n);
  ag_text_done(&trouble);
}

int main(void) {
  test_columns();
  test_numbers();
  test_choices();
  test_shapes();
  test_kinds();
  test_wrong();
  unlink(lab_file("t\n"));
  return ag_check_report();
}
