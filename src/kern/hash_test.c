/* SPDX-License-Identifier: MIT
 * Digests published with the standard; how the text is cut does not matter, nor whether the processor has instructions
 * for it. */
#include "kern/hash.h"

#include "check.h"

static void digest_by(bool plain, const char *s, size_t n, char name[33]) {
  ag_hash h;
  ag_hash_init(&h);
  if (plain) h.fast = false;
  ag_hash_add(&h, s, n);
  ag_hash_name(&h, name);
}

static void digest(const char *s, size_t n, char name[33]) {
  char plain[33];
  digest_by(false, s, n, name);
  digest_by(true, s, n, plain);
  AG_CHECK_STR(name, plain);
}

int main(void) {
  char name[33], other[33], text[300];
  digest("", 0, name);
  AG_CHECK_STR(name, "e3b0c44298fc1c149afbf4c8996fb924");
  digest("abc", 3, name);
  AG_CHECK_STR(name, "ba7816bf8f01cfea414140de5dae2223");
  digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, name);
  AG_CHECK_STR(name, "248d6a61d20638b8e5c026930c3e6039");
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * i % 251);
  for (size_t n = 0; n < sizeof text; n += 7) {
    ag_hash h;
    digest(text, n, name);
    ag_hash_init(&h);
    for (size_t i = 0; i < n; i++) ag_hash_add(&h, text + i, 1);
    ag_hash_name(&h, other);
    AG_CHECK_STR(name, other);
  }
  ag_hash a, b;
  ag_hash_init(&a), ag_hash_str(&a, "ab"), ag_hash_str(&a, "c"), ag_hash_name(&a, name);
  ag_hash_init(&b), ag_hash_str(&b, "a"), ag_hash_str(&b, "bc"), ag_hash_name(&b, other);
  AG_CHECK(strcmp(name, other));
  return ag_check_report();
}
