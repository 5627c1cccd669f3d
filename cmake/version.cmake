# ag_version(<target>): the sources of the target see AG_VERSION, AG_GIT_HASH, AG_MODEL_DIR (where the models are installed),
# AG_MODEL_FROM_LIB (the same, seen from the library) and AG_MODEL_SOURCE_DIR (where they are in the source tree) as string macros, through a header that is refreshed at
# every build and rewritten only when it changes. Run as a script (cmake -P) this file writes that header.

if(CMAKE_SCRIPT_MODE_FILE)
  set(hash unknown)
  if(EXISTS ${SOURCE}/.git)
    execute_process(COMMAND git --no-optional-locks describe --always --dirty --exclude=* --abbrev=12
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(found)
      set(hash ${found})
    endif()
  endif()
  file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#define AG_VERSION "@VERSION@"
#define AG_GIT_HASH "@hash@"
#define AG_MODEL_DIR "@MODELS@"
#define AG_MODEL_FROM_LIB "@FROM_LIB@"
#define AG_MODEL_SOURCE_DIR "@SOURCE@/models"
]])
  return()
endif()

file(RELATIVE_PATH from_lib ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR}/anagyre/models)
set(AG_VERSION_HEADER ${PROJECT_BINARY_DIR}/version.h)
add_custom_target(version_header BYPRODUCTS ${AG_VERSION_HEADER} VERBATIM
  COMMAND ${CMAKE_COMMAND} -D HEADER=${AG_VERSION_HEADER} -D SOURCE=${PROJECT_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
    -D MODELS=${CMAKE_INSTALL_FULL_DATADIR}/anagyre/models -D FROM_LIB=${from_lib} -P ${CMAKE_CURRENT_LIST_FILE})

function(ag_version target)
  add_dependencies(${target} version_header)
  target_compile_options(${target} PRIVATE -include ${AG_VERSION_HEADER})
endfunction()
