# ag_page(<target> <source>): bundles web/ to one HTML file with Node.js and the packages of web/node_modules (`make
# packages` installs them) and embeds it in the source. Where they are missing, the file is empty, and `anagyre view`
# says what to install. Nothing is downloaded.
function(ag_page target source)
  set(page ${CMAKE_CURRENT_BINARY_DIR}/page.html)
  set(web ${PROJECT_SOURCE_DIR}/web)
  find_program(AG_NODE NAMES node nodejs)
  if(AG_NODE AND EXISTS ${web}/node_modules/esbuild AND EXISTS ${web}/node_modules/three)
    file(GLOB sources CONFIGURE_DEPENDS ${web}/src/*)
    add_custom_command(OUTPUT ${page} DEPENDS ${sources} ${web}/build.mjs ${web}/package-lock.json VERBATIM
      COMMAND ${AG_NODE} ${web}/build.mjs ${page})
    set(AG_HAS_PAGE ON PARENT_SCOPE)
  else()
    message(STATUS "anagyre view: no Node.js or no web/node_modules; built without the page")
    set(page ${CMAKE_CURRENT_BINARY_DIR}/no_page.html)
    file(WRITE ${page} "")
  endif()
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${page}
    COMPILE_DEFINITIONS "AG_PAGE_FILE=\"${page}\"")
endfunction()
