# LAPACK is loaded while the program runs (src/math/lapack.c). Found here: its header, and the shared library by its path
# (AG_LAPACKE_PATH) and by the name that the loader knows it by (AG_LAPACKE_NAME).
pkg_check_modules(LAPACKE REQUIRED lapacke)
list(GET LAPACKE_LINK_LIBRARIES 0 AG_LAPACKE_PATH)
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${AG_LAPACKE_PATH} OUTPUT_VARIABLE headers)
if(NOT headers MATCHES "SONAME +([^\n]+)")
  message(FATAL_ERROR "${AG_LAPACKE_PATH} is not a shared library: LAPACK is loaded at run time (Debian: liblapacke-dev)")
endif()
set(AG_LAPACKE_NAME ${CMAKE_MATCH_1})
