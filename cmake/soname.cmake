# ag_soname(<path of a shared library> <variable>): the name that the loader knows it by.
function(ag_soname path result)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${path} OUTPUT_VARIABLE headers)
  if(NOT headers MATCHES "SONAME +([^\n]+)")
    message(FATAL_ERROR "${path} is not a shared library, and it is loaded at run time")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
