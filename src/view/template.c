/* SPDX-License-Identifier: MIT
 * The program of the page: web/ bundled to one HTML file by the build (cmake/page.cmake), an empty file where it could
 * not be bundled. */
#include "view/page_internal.h"

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global ag_page_begin\n"
        ".hidden ag_page_begin\n"
        "ag_page_begin:\n"
        ".incbin \"" AG_PAGE_FILE "\"\n"
        ".global ag_page_end\n"
        ".hidden ag_page_end\n"
        "ag_page_end:\n"
        ".byte 0\n"
        ".text\n");
extern const char ag_page_begin[], ag_page_end[];

const char *ag_page_template(size_t *n) {
  *n = (size_t)(ag_page_end - ag_page_begin);
  return ag_page_begin;
}
