/* SPDX-License-Identifier: MIT
 * Output files: whole or not at all; what was there before, its mode, links, pipes. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "check.h"

static ag_status save(const char *path, const char *words) {
  ag_text text = {0};
  ag_text_str(&text, words);
  ag_status status = ag_output_save(path, &text);
  ag_text_done(&text);
  return status;
}

static bool holds(const char *path, const char *text) {
  char got[100] = "";
  int fd = open(path, O_RDONLY);
  ssize_t n = fd >= 0 ? read(fd, got, sizeof got - 1) : -1;
  if (fd >= 0) close(fd);
  return n == (ssize_t)strlen(text) && !strcmp(got, text);
}

static mode_t mode_of(const char *path) {
  struct stat s;
  return lstat(path, &s) ? 0 : s.st_mode & 0777;
}

static void in_place(void) {
  ag_output_file o;
  AG_CHECK(ag_output_open(&o, "new.csv", true) && !o.beside.n && !access("new.csv", W_OK)); /* can be watched */
  AG_CHECK(ag_file_write(o.fd, "a\n", 2) == 2 && ag_output_finish(&o) && holds("new.csv", "a\n"));
  ag_output_done(&o);
  AG_CHECK(ag_output_open(&o, "new.csv", true) && o.beside.n); /* one that exists is replaced at the end */
  AG_CHECK(ag_file_write(o.fd, "b\n", 2) == 2 && holds("new.csv", "a\n"));
  AG_CHECK(ag_output_finish(&o) && holds("new.csv", "b\n") && access(o.beside.s, F_OK));
  ag_output_done(&o);
  AG_CHECK(ag_output_open(&o, "new.csv", true));
  ag_output_drop(&o);
  AG_CHECK(holds("new.csv", "b\n") && access(o.beside.s, F_OK));
  ag_output_done(&o);
}

static void kinds(void) {
  umask(022);
  AG_CHECK(save("a.json", "one") == AG_OK && holds("a.json", "one") && mode_of("a.json") == 0644);
  AG_CHECK(!chmod("a.json", 0640) && save("a.json", "two") == AG_OK && holds("a.json", "two"));
  AG_CHECK(mode_of("a.json") == 0640); /* the mode is kept */
  AG_CHECK(!symlink("a.json", "link.json") && save("link.json", "three") == AG_OK && holds("a.json", "three"));
  struct stat s;
  AG_CHECK(!lstat("link.json", &s) && S_ISLNK(s.st_mode)); /* the link stays */
  AG_CHECK(!mkdir("folder.json", 0700) && save("folder.json", "x") == AG_SYSTEM);
  AG_CHECK(!symlink("nothing", "dangling.json") && save("dangling.json", "x") == AG_SYSTEM && access("nothing", F_OK));
  AG_CHECK(save("nowhere/a.json", "x") == AG_SYSTEM);
  AG_CHECK(save("/dev/null", "x") == AG_OK && !stat("/dev/null", &s) && S_ISCHR(s.st_mode));
  AG_CHECK(access("/dev/full", W_OK) || save("/dev/full", "x") == AG_SYSTEM);
  AG_CHECK(!mkfifo("pipe.json", 0600));
  pid_t child = fork();
  if (child == 0) _exit(save("pipe.json", "through") == AG_OK ? 0 : 1);
  int status = 1;
  AG_CHECK(holds("pipe.json", "through"));
  AG_CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
  AG_CHECK(!chmod("a.json", 0444));
  AG_CHECK(geteuid() == 0 || (save("a.json", "x") == AG_SYSTEM && holds("a.json", "three")));
}

/* A limit on the size of files stands for a full disk. */
static void no_room(void) {
  struct rlimit old, limit;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 4;
  AG_CHECK(save("b.json", "good") == AG_OK);
  setrlimit(RLIMIT_FSIZE, &limit);
  AG_CHECK(save("b.json", "too long") == AG_SYSTEM && save("c.json", "too long") == AG_SYSTEM);
  setrlimit(RLIMIT_FSIZE, &old);
  AG_CHECK(holds("b.json", "good") && access("c.json", F_OK));
}

int main(void) {
  char folder[] = "/tmp/ag_output_XXXXXX", command[64];
  AG_CHECK(mkdtemp(folder) && !chdir(folder));
  AG_CHECK(ag_output_format("a.h5") == AG_FORMAT_H5 && ag_output_format("/dev/stdout") == AG_FORMAT_UNKNOWN);
  in_place();
  kinds();
  no_room();
  AG_CHECK(!system("! ls | grep part")); /* nothing unfinished stays */
  AG_CHECK(!chdir("/"));
  snprintf(command, sizeof command, "rm -rf %s", folder);
  AG_CHECK(!system(command));
  return ag_check_report();
}
