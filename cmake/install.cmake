# What `make install` puts where: program, library, headers (base to run), pkg-config file, models, man page.
if(TARGET anagyre)
  install(TARGETS anagyre)
endif()
install(TARGETS anagyre_library)
foreach(folder IN LISTS AG_FOLDERS)
  if(TARGET ag_${folder} AND NOT folder IN_LIST AG_PROGRAM_FOLDERS)
    install(DIRECTORY src/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/anagyre
      FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
  endif()
endforeach()
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/anagyre FILES_MATCHING PATTERN "*.nh")
install(FILES docs/anagyre.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

configure_file(cmake/anagyre.pc.in anagyre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/anagyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
