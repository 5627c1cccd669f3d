/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "check.h"

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

/* The message of opening a word. */
static bool says(const char *word, const char *said) {
  anagyre_model *m = anagyre_open(word);
  const char *error = anagyre_error(m);
  bool good = error && strstr(error, said);
  if (!good) fprintf(stderr, "%s: %s", word, error ? error : "no error\n");
  anagyre_close(m);
  return good;
}

static bool reads(const char *word, const char *text) {
  size_t size;
  anagyre_model *m = anagyre_open(word);
  const char *found = ag_api_text(m, &size);
  bool good = ag_api_status(m) == AG_OK && size == strlen(text) && !strcmp(found, text);
  anagyre_close(m);
  return good;
}

static void check_opening(void) {
  AG_CHECK(reads("zz_two", "first"));
  AG_CHECK(reads("/dev/null", ""));
  AG_CHECK(says("zz_twoo", "did you mean zz_two?"));
  AG_CHECK(says("/nowhere/zz_two.nh", "No such file"));
  AG_CHECK(says("/nowhere/zz_two.nh", "shipped model 'zz_two'"));
  AG_CHECK(says("/tmp/", "Is a directory"));
  AG_CHECK(says("/dev/zero", "1 MiB")); /* ends after that */
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
  check_opening();
  drop(first, "zz_two.nh"), drop(first, "zz_one.nh"), drop(first, "notes.txt"), drop(first, ".hidden.nh");
  drop(second, "zz_two.nh"), drop(second, "zz_three.nh");
  rmdir(first), rmdir(second);
  return ag_check_report();
}
