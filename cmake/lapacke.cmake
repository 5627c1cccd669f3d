# LAPACK is loaded while the program runs (src/math/lapack.c). Found here: its header, and the shared library by its path
# (AG_LAPACKE_PATH) and by the name that the loader knows it by (AG_LAPACKE_NAME).
pkg_check_modules(LAPACKE REQUIRED lapacke)
list(GET LAPACKE_LINK_LIBRARIES 0 AG_LAPACKE_PATH)
ag_soname(${AG_LAPACKE_PATH} AG_LAPACKE_NAME)
