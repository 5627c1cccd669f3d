# What `make install` puts where: program, library, its header, pkg-config file, models, man page, completion, syntax files.
if(TARGET anagyre)
  install(TARGETS anagyre)
  # The program prints the scripts that complete its command lines.
  foreach(shell bash zsh)
    install(CODE "execute_process(COMMAND $<TARGET_FILE:anagyre> completion ${shell} COMMAND_ERROR_IS_FATAL ANY
      OUTPUT_FILE ${PROJECT_BINARY_DIR}/completion.${shell})")
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME anagyre)
  install(FILES ${PROJECT_BINARY_DIR}/completion.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
    RENAME _anagyre)
endif()
if(TARGET anagyre_library)
  install(TARGETS anagyre_static anagyre_shared)
endif()
install(FILES src/api/anagyre.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/anagyre FILES_MATCHING PATTERN "*.nh")
install(DIRECTORY editors/vim/ DESTINATION ${CMAKE_INSTALL_DATADIR}/vim/vimfiles)
install(DIRECTORY editors/vscode DESTINATION ${CMAKE_INSTALL_DATADIR}/anagyre)
install(FILES CITATION.cff DESTINATION ${CMAKE_INSTALL_DATADIR}/anagyre)
install(FILES docs/anagyre.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Two pkg-config files: one for what is installed, and one that pkg-config prefers when PKG_CONFIG_PATH names the build tree.
set(AG_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
set(AG_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/anagyre.pc.in anagyre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/anagyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(AG_PC_LIBDIR ${PROJECT_BINARY_DIR})
set(AG_PC_INCLUDEDIR ${PROJECT_SOURCE_DIR}/src/api)
set(AG_PC_LIBS -Wl,-rpath,${PROJECT_BINARY_DIR})
configure_file(cmake/anagyre.pc.in anagyre-uninstalled.pc @ONLY)
