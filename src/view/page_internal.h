/* SPDX-License-Identifier: MIT
 * Shared by the files that make pages. */
#ifndef AG_VIEW_PAGE_INTERNAL_H
#define AG_VIEW_PAGE_INTERNAL_H
#include "view/view_internal.h"

/* The bundled page, n bytes; n = 0 where it could not be bundled. */
const char *ag_page_template(size_t *n);
#endif
