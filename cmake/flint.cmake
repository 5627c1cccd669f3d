# FLINT 3, or FLINT 2 with Arb beside it (Debian 12), is loaded while the program runs (src/exact/flint.c). Found here: its
# headers (AG_FLINT_INCLUDE), and the library with Arb by its path (AG_ARB) and by the name that the loader knows it by.
find_library(AG_ARB NAMES flint-arb arb flint)
find_path(AG_FLINT_INCLUDE NAMES flint/arb.h arb.h)
if(NOT AG_ARB OR NOT AG_FLINT_INCLUDE)
  message(FATAL_ERROR "FLINT with Arb was not found (Debian 12: libflint-arb-dev; later: libflint-dev)")
endif()
ag_soname(${AG_ARB} AG_ARB_NAME)
