/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4): names cached kernels by their content. */
#ifndef AG_KERN_HASH_H
#define AG_KERN_HASH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ag_hash {
  uint32_t state[8];
  uint64_t size; /* bytes so far */
  unsigned char block[64];
  bool fast; /* by instructions of the processor made for it; the digest is the same */
} ag_hash;

void ag_hash_init(ag_hash *h);
void ag_hash_add(ag_hash *h, const void *bytes, size_t n);
void ag_hash_str(ag_hash *h, const char *s); /* with its final 0, which separates the pieces */
/* The first 32 hexadecimal digits of the digest, terminated. */
void ag_hash_name(ag_hash *h, char name[33]);
#endif
