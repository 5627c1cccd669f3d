/* SPDX-License-Identifier: MIT
 * replay SECONDS FILE...: feeds a fuzz target with files, whole and with random edits, where libFuzzer is not at hand.
 * The edits are the same in every run, others with another AG_SEED in the environment; an edited input that crashes is
 * left behind as replay-crash.nh. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
  uint8_t *data;
  size_t size;
} input;

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

static input load(const char *path) {
  input in = {malloc(MAX), 0};
  FILE *f = fopen(path, "rb");
  if (!f || !in.data) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  in.size = fread(in.data, 1, MAX / 2, f);
  fclose(f);
  return in;
}

/* One edit: a byte changed, a piece cut out, a piece of another input put in, or the end cut off. */
static size_t edit(uint8_t *data, size_t n, const input *other, uint64_t *state) {
  static const char bytes[] = "'[](){}^*/+-=.,:\"#\n\t 0123456789eTtxR\x00\x80\xff";
  size_t at = n ? next(state) % n : 0, piece = 1 + next(state) % 40;
  switch (next(state) % 5) {
  case 0:
    if (n) data[at] = (uint8_t)bytes[next(state) % (sizeof bytes - 1)];
    return n;
  case 1:
    if (piece > n - at) piece = n - at;
    memmove(data + at, data + at + piece, n - at - piece);
    return n - piece;
  case 2:
  case 3: {
    size_t from = other->size ? next(state) % other->size : 0;
    if (piece > other->size - from) piece = other->size - from;
    if (n + piece > MAX) return n;
    memmove(data + at + piece, data + at, n - at);
    memcpy(data + at, other->data + from, piece);
    return n + piece;
  }
  default: return next(state) % 8 ? n : at;
  }
}

/* Saves the current input to a file, so that a crash can be examined. Only names and sizes are touched beforehand. */
static const char crash_file[] = "replay-crash.nh";
static void keep(const input *in) {
  FILE *f = fopen(crash_file, "wb");
  if (f) fwrite(in->data, 1, in->size, f), fclose(f);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  int n = argc - 2;
  if (n < 1) return fprintf(stderr, "usage: replay SECONDS FILE...\n"), 2;
  input *all = calloc((size_t)n, sizeof *all), work = {malloc(MAX), 0};
  if (!all || !work.data) return 2;
  for (int i = 0; i < n; i++) {
    all[i] = load(argv[2 + i]);
    keep(&all[i]);
    LLVMFuzzerTestOneInput(all[i].data, all[i].size);
  }
  const char *seed = getenv("AG_SEED");
  uint64_t state = 88172645463325252u ^ (seed ? strtoull(seed, NULL, 10) << 8 : 0);
  long runs = 0;
  for (double end = seconds() + atof(argv[1]); seconds() < end; runs++) {
    const input *base = &all[next(&state) % (uint64_t)n];
    memcpy(work.data, base->data, work.size = base->size);
    for (uint64_t k = 1 + next(&state) % 6; k > 0; k--)
      work.size = edit(work.data, work.size, &all[next(&state) % (uint64_t)n], &state);
    keep(&work);
    LLVMFuzzerTestOneInput(work.data, work.size);
  }
  unlink(crash_file);
  printf("%d files, %ld edited ones\n", n, runs);
  for (int i = 0; i < n; i++) free(all[i].data);
  free(all);
  free(work.data);
  return 0;
}
