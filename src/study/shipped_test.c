/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "study/study.h"

static char first[] = "/tmp/ag_shipped_XXXXXX", second[] = "/tmp/ag_shipped_XXXXXX";

static void put(const char *folder, const char *name, const char *text) {
  char path[100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  AG_CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static void drop(const char *folder, const char *name) {
  char path[100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  unlink(path);
}

static int where(const ag_shipped *shipped, const char *name) {
  for (int i = 0; i < shipped->n; i++)
    if (!strcmp(shipped->names[i], name)) return i;
  return -1;
}

static void reads(void) {
  ag_source s;
  AG_CHECK(ag_source_read(&s, "zz_two") == AG_OK);
  AG_CHECK(s.size == 5 && !strcmp(s.text, "first"));
  ag_source_done(&s);
  AG_CHECK(ag_source_read(&s, "zz_twoo") == AG_WRONG);
  AG_CHECK(s.ctx.n_error == 1 && strstr(s.ctx.diags[0].message, "did you mean zz_two?"));
  ag_source_done(&s);
  AG_CHECK(ag_source_read(&s, "/nowhere/zz_two.nh") == AG_SYSTEM);
  AG_CHECK(strstr(s.ctx.diags[0].message, "No such file"));
  AG_CHECK(s.ctx.n_diag == 2 && strstr(s.ctx.diags[1].message, "shipped model 'zz_two'"));
  ag_source_done(&s);
  AG_CHECK(ag_source_read(&s, "/tmp/") == AG_SYSTEM);
  AG_CHECK(strstr(s.ctx.diags[0].message, "Is a directory"));
  ag_source_done(&s);
  AG_CHECK(ag_source_read(&s, "/dev/zero") == AG_WRONG); /* ends after 1 MiB */
  AG_CHECK(strstr(s.ctx.diags[0].message, "1 MiB"));
  ag_source_done(&s);
  AG_CHECK(ag_source_read(&s, "/dev/null") == AG_OK && s.size == 0);
  ag_source_done(&s);
}

int main(void) {
  AG_CHECK(mkdtemp(first) && mkdtemp(second));
  put(first, "zz_two.nh", "first");
  put(first, "zz_one.nh", "one");
  put(first, "notes.txt", "no model");
  put(first, ".hidden.nh", "no model");
  put(second, "zz_two.nh", "second");
  put(second, "zz_three.nh", "three");
  char list[100];
  snprintf(list, sizeof list, "%s::/nowhere:%s", first, second);
  setenv("ANAGYRE_MODELS", list, 1);
  ag_shipped shipped;
  ag_shipped_init(&shipped);
  int one = where(&shipped, "zz_one"), two = where(&shipped, "zz_two"), three = where(&shipped, "zz_three");
  AG_CHECK(one >= 0 && three == one + 1 && two == one + 2);                 /* alphabetical */
  AG_CHECK(two >= 0 && !strncmp(shipped.paths[two], first, strlen(first))); /* the first folder wins */
  AG_CHECK(where(&shipped, "notes") < 0 && where(&shipped, ".hidden") < 0);
  ag_shipped_done(&shipped);
  reads();
  drop(first, "zz_two.nh"), drop(first, "zz_one.nh"), drop(first, "notes.txt"), drop(first, ".hidden.nh");
  drop(second, "zz_two.nh"), drop(second, "zz_three.nh");
  rmdir(first), rmdir(second);
  return ag_check_report();
}
