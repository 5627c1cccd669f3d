/* SPDX-License-Identifier: MIT
 * The space left on the stack: recursive readers check it before they go deeper, so that deep nesting ends in a message
 * and not in a crash, however small the stack is (`ulimit -s`). */
#ifndef AG_BASE_STACK_H
#define AG_BASE_STACK_H
#include <stdbool.h>

/* The lowest address of the stack of this thread; NULL: unknown. Found once at the start of a recursion. */
const char *ag_stack_end(void);
/* Is so little left above `end` that a recursion should stop here? */
bool ag_stack_low(const char *end);
#endif
