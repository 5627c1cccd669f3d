/* SPDX-License-Identifier: MIT */
#include "kern/texts.h"

const char ag_text_of_kargs[] =
#include "kargs_text.inc"
    ;
const char ag_text_of_entries[] =
#include "entries_text.inc"
    ;
const char ag_text_of_plain[] =
#include "plain_text.inc"
    ;
const char ag_text_of_vtype[] =
#include "vtype_text.inc"
    ;
const char ag_text_of_vmath[] =
#include "vmath_text.inc"
    ;
const char ag_text_of_vsolve[] =
#include "vsolve_text.inc"
    ;
const char ag_text_of_ldl[] =
#include "ldl_text.inc"
    ;
const char ag_text_of_enclose[] =
#include "enclose_text.inc"
    ;
const char ag_text_of_around[] =
#include "around_text.inc"
    ;
