# ag_layer(<folder> SOURCES a.c ... [TESTS a_test ...] [FULL b_test ...] [LIBS ...])
#
# The objects of one folder of src/, and its tests. A test x_test is built from x_test.c as <folder>_x_test and linked
# with its folder and those that tools/layers.txt lists for it, nothing else. TESTS carry the ctest label "quick"
# (seconds), FULL the label "full". LIBS are libraries the folder needs (targets or names), passed on to users.
# A source named main.c is kept out of the objects: it makes the program `anagyre`.
# ag_library(): libanagyre.so and libanagyre.a of all folders that are not of the program (targets anagyre_shared and
# anagyre_static; anagyre_library makes both). Both export what anagyre.h declares: in the archive one object
# stands for all, whose other names are made local. All names are in anagyre_all.o, for tools/symbols.sh.

set(AG_LAYERS_FILE ${PROJECT_SOURCE_DIR}/tools/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${AG_LAYERS_FILE})
file(STRINGS ${AG_LAYERS_FILE} rows REGEX "^[a-z]+:")
set(AG_FOLDERS)
foreach(row IN LISTS rows)
  string(REGEX MATCH "^[a-z]+" folder ${row})
  string(REGEX MATCHALL "[a-z]+" AG_ROW_${folder} ${row})
  list(APPEND AG_FOLDERS ${folder})
endforeach()
set(AG_PROGRAM_FOLDERS store exact geom study view cli)
# Folders that read what others wrote and have no hot loops: compiled with stack protection and checked library calls.
set(AG_READER_FOLDERS base model lang api store study view cli)

# Under the sanitizers programs are large, and two hundred copies of them take gigabytes: there the tests share one library
# (ag_share) of the folders upstream of store, whose HDF5 is an archive. Elsewhere a test is linked with what its folder
# may use.
set(AG_SHARED OFF)
if(AG_SANITIZE AND NOT AG_FUZZ)
  set(AG_SHARED ON)
  set(CMAKE_C_VISIBILITY_PRESET default)
endif()

# What the tests of a folder are linked with.
function(ag_objects folder result)
  ag_folders(${folder} objects)
  if(AG_SHARED)
    list(FILTER objects INCLUDE REGEX "^ag_(store|view|cli)$")
    list(APPEND objects ag_shared)
  endif()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# The object libraries of a folder and of all it may use, as far as they exist.
function(ag_folders folder result)
  set(objects)
  foreach(name IN LISTS AG_ROW_${folder})
    if(TARGET ag_${name})
      list(APPEND objects ag_${name})
    endif()
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# There are hundreds of test programs, each linked with all that its folder uses: the linker that does it in half the time,
# where it is. The program and the library are linked as everywhere.
find_program(AG_LLD ld.lld)

# ag_test_program(<name> <source> <libraries> ...): a program of the tests.
function(ag_test_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${ARGN} m)
  if(AG_LLD)
    target_link_options(${name} PRIVATE -fuse-ld=lld)
  endif()
  # To optimise a test under the sanitizers takes longer than to run it, unless it has inner loops of its own.
  file(STRINGS ${source} inner_loops REGEX "#include .*(vmath|_core|enclose)\\.h\"")
  if(AG_SANITIZE AND NOT inner_loops)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()

# ag_test(<name> <source> LABEL quick|full [LINKS ...]): one test program, registered with ctest. Under the sanitizers, which
# see the quick ones alone, the others are built when they are asked for.
function(ag_test name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "LABEL" "LINKS")
  ag_test_program(${name} ${source} ${arg_LINKS})
  if(AG_SANITIZE AND arg_LABEL STREQUAL full)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE AG_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    AG_MODEL_SOURCE_DIR="${PROJECT_SOURCE_DIR}/models")
  add_test(NAME ${name} COMMAND ${name})
  ag_test_label(${name} ${arg_LABEL})
endfunction()

# Label and time limit of a registered test (only a test that hangs meets it). What tests compile goes to one cache for
# all presets: kernels are the same under the sanitizers, and compiling them takes longer than running them. Scripts then
# run one in AG_TEST_PART of their random cases and of the shipped models (tests/part.py). Which calls led to an allocation
# is remembered for the last four: unwinding thirty at every allocation is a third of the time of a derivation. What a
# sanitizer finds ends a process with a code that the program does not have.
function(ag_test_label name label)
  set(environment XDG_CACHE_HOME=${PROJECT_SOURCE_DIR}/build/cache)
  if(AG_SANITIZE)
    list(APPEND environment AG_TEST_PART=6 ASAN_OPTIONS=malloc_context_size=4:exitcode=88
      UBSAN_OPTIONS=print_stacktrace=1:exitcode=88)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 3600 ENVIRONMENT "${environment}")
endfunction()

function(ag_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;TESTS;FULL;LIBS")
  if(arg_UNPARSED_ARGUMENTS OR NOT folder IN_LIST AG_FOLDERS)
    message(FATAL_ERROR "ag_layer(${folder}): unknown folder or arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(main)
  if("main.c" IN_LIST arg_SOURCES)
    list(REMOVE_ITEM arg_SOURCES main.c)
    set(main main.c)
  endif()

  add_library(ag_${folder} OBJECT ${arg_SOURCES})
  target_include_directories(ag_${folder} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ag_${folder} PUBLIC ${arg_LIBS} ${AG_LIBS_${folder}})
  if(folder IN_LIST AG_PROGRAM_FOLDERS)
    ag_version(ag_${folder})
  endif()
  if(folder IN_LIST AG_READER_FOLDERS AND NOT AG_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^Rel")
    target_compile_options(ag_${folder} PRIVATE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()

  ag_objects(${folder} objects)
  if(main)
    ag_folders(${folder} folders)
    add_executable(anagyre ${main})
    target_link_libraries(anagyre PRIVATE ${folders} m)
    target_link_options(anagyre PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)
    set_target_properties(anagyre PROPERTIES POSITION_INDEPENDENT_CODE ON)
    ag_version(anagyre)
  endif()
  if(BUILD_TESTING)
    foreach(test IN LISTS arg_TESTS)
      ag_test(${folder}_${test} ${test}.c LABEL quick LINKS ${objects})
    endforeach()
    foreach(test IN LISTS arg_FULL)
      ag_test(${folder}_${test} ${test}.c LABEL full LINKS ${objects})
    endforeach()
  endif()
endfunction()

# ag_share(): the library that tests share.
function(ag_share)
  add_library(ag_shared SHARED)
  foreach(folder IN LISTS AG_FOLDERS)
    if(TARGET ag_${folder} AND NOT folder MATCHES "^(store|view|cli)$")
      target_sources(ag_shared PRIVATE $<TARGET_OBJECTS:ag_${folder}>)
      target_link_libraries(ag_shared PUBLIC $<TARGET_PROPERTY:ag_${folder},INTERFACE_LINK_LIBRARIES>)
    endif()
  endforeach()
  target_include_directories(ag_shared PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ag_shared PUBLIC m)
  target_link_options(ag_shared PRIVATE -Wl,-Bsymbolic $<$<BOOL:${AG_LLD}>:-fuse-ld=lld>)
  set_target_properties(ag_shared PROPERTIES LINKER_LANGUAGE C)
endfunction()

function(ag_library)
  set(objects)
  set(layers)
  foreach(folder IN LISTS AG_FOLDERS)
    if(TARGET ag_${folder} AND NOT folder IN_LIST AG_PROGRAM_FOLDERS)
      list(APPEND objects $<TARGET_OBJECTS:ag_${folder}>)
      list(APPEND layers ag_${folder})
    endif()
  endforeach()
  set(AG_ALL_OBJECT ${PROJECT_BINARY_DIR}/anagyre_all.o)
  set(AG_ALL_OBJECT ${AG_ALL_OBJECT} PARENT_SCOPE)
  set(local ${PROJECT_BINARY_DIR}/anagyre.o)
  add_custom_command(OUTPUT ${AG_ALL_OBJECT} DEPENDS ${objects} VERBATIM COMMAND_EXPAND_LISTS
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${AG_ALL_OBJECT} ${objects})
  add_custom_command(OUTPUT ${local} DEPENDS ${AG_ALL_OBJECT} VERBATIM
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=anagyre_* ${AG_ALL_OBJECT} ${local})
  add_library(anagyre_static STATIC ${local})
  add_dependencies(anagyre_static ${layers})  # Unix Makefiles do not see it from the files
  add_library(anagyre_shared SHARED ${objects})
  target_link_options(anagyre_shared PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack)
  set_target_properties(anagyre_static anagyre_shared PROPERTIES OUTPUT_NAME anagyre LINKER_LANGUAGE C)
  # The name that programs ask for changes with the binary interface: with the second number, while the first one is 0.
  string(REGEX MATCH "^0\\.[0-9]+|^[0-9]+" soversion ${PROJECT_VERSION})
  set_target_properties(anagyre_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
  target_link_libraries(anagyre_shared PRIVATE m pthread ${CMAKE_DL_LIBS})
  target_link_options(anagyre_shared PRIVATE -Wl,--no-undefined)
  add_custom_target(anagyre_library DEPENDS anagyre_static anagyre_shared)
endfunction()
