/* SPDX-License-Identifier: MIT
 * Texts that are part of generated code, embedded when the library is built: the files are the only source. */
#ifndef AG_KERN_TEXTS_H
#define AG_KERN_TEXTS_H
extern const char ag_text_of_kargs[];   /* kern/kargs.h */
extern const char ag_text_of_entries[]; /* kern/entries.h */
extern const char ag_text_of_plain[];   /* kern/plain.h */
extern const char ag_text_of_vtype[];   /* expr/vtype.h */
extern const char ag_text_of_vmath[];   /* expr/vmath.h */
extern const char ag_text_of_vsolve[];  /* expr/vsolve.h */
extern const char ag_text_of_ldl[];     /* expr/ldl.h */
extern const char ag_text_of_enclose[]; /* expr/enclose.h */
extern const char ag_text_of_around[];  /* expr/around.h */
#endif
