# ag_embed(<target> <name> <file>): makes <name>.inc, the bytes of the file as a C initialiser that ends with 0, and
# lets <target> include it. The build is configured again when the file changes.
function(ag_embed target name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x0a,)" "\\1\n" bytes "${bytes}")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/${name}.inc CONTENT "{\n${bytes}0}\n" @ONLY)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
