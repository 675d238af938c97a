# What `cmake --install` installs: the command, the libraries with their headers, pkg-config files and a CMake package. What
# belongs to the command is the component `command`, the rest `dev`: a Debian package each (packages.cmake).
include(CMakePackageConfigHelpers)

# libhlo_lite.a: one object in which hlo_ names alone are visible, so that no name of ours meets one of the program's. Its
# hook for threads is weak, as in shared libraries: a program may define its own. (CMake wants a source for a library; the
# archive that it makes of it gives way to that object, which has the API from hl_session.)
set(HL_STATIC_PARTS hl_session hl_grammar hl_passes hl_codegen hl_ir hl_values hlo_lite_rt)
set(HL_STATIC_FILES)
foreach(part ${HL_STATIC_PARTS})
  list(APPEND HL_STATIC_FILES $<TARGET_FILE:${part}>)
endforeach()
add_library(hlo_lite_static STATIC ${HL_API_SOURCES})
set_target_properties(hlo_lite_static PROPERTIES OUTPUT_NAME hlo_lite EXPORT_NAME static LINK_DEPENDS "${HL_STATIC_FILES}")
target_include_directories(hlo_lite_static PRIVATE ${PROJECT_SOURCE_DIR} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_definitions(hlo_lite_static PRIVATE $<TARGET_PROPERTY:hl_session,INTERFACE_COMPILE_DEFINITIONS>)
target_compile_options(hlo_lite_static PRIVATE ${HL_WARNINGS})
target_link_directories(hlo_lite_static INTERFACE $<INSTALL_INTERFACE:${HL_LLVM_LIBDIR}>)
target_link_libraries(hlo_lite_static INTERFACE ${HL_LLVM_LIBS} ${HL_LLVM_SYSTEM_LIBS} z m stdc++ Threads::Threads)
add_dependencies(hlo_lite_static ${HL_STATIC_PARTS})
set(HL_STATIC_WHOLE ${PROJECT_BINARY_DIR}/hlo_lite_whole.o)
add_custom_command(TARGET hlo_lite_static POST_BUILD
  COMMAND ld -r -o ${HL_STATIC_WHOLE} --whole-archive ${HL_STATIC_FILES}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden --weaken-symbol=hlo_parallel_for ${HL_STATIC_WHOLE}
  COMMAND ${CMAKE_COMMAND} -E rm $<TARGET_FILE:hlo_lite_static>
  COMMAND ${CMAKE_AR} qcs $<TARGET_FILE:hlo_lite_static> ${HL_STATIC_WHOLE}
  VERBATIM)

set_target_properties(hlo_lite_rt PROPERTIES EXPORT_NAME rt)
foreach(library hlo_lite hlo_lite_rt)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

install(TARGETS hlo-lite COMPONENT command)
install(TARGETS hlo_lite hlo_lite_static hlo_lite_rt EXPORT hlo_liteTargets
        LIBRARY COMPONENT dev NAMELINK_COMPONENT dev ARCHIVE COMPONENT dev)
install(FILES src/hlo_lite.h runtime/hlo_runtime.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

# pkg-config. The prefix is found from the file's own place, so that an installed tree can be moved.
file(RELATIVE_PATH HL_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" HL_PC_PREFIX "${HL_PC_PREFIX}")
string(JOIN " " HL_PC_PRIVATE_LIBS -L${HL_LLVM_LIBDIR} ${HL_LLVM_LIBS} ${HL_LLVM_SYSTEM_LIBS} -lz -lm -lstdc++ -pthread)
foreach(library hlo_lite hlo_lite_rt)
  configure_file(src/share/${library}.pc.in ${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

set(HL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/hlo_lite)
configure_package_config_file(src/share/hlo_liteConfig.cmake.in ${PROJECT_BINARY_DIR}/hlo_liteConfig.cmake
                              INSTALL_DESTINATION ${HL_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hlo_liteConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hlo_liteConfig.cmake ${PROJECT_BINARY_DIR}/hlo_liteConfigVersion.cmake
        DESTINATION ${HL_PACKAGE_DIR} COMPONENT dev)
install(EXPORT hlo_liteTargets NAMESPACE hlo_lite:: DESTINATION ${HL_PACKAGE_DIR} COMPONENT dev)

# Where shells and editors look.
install(FILES src/share/completions/hlo-lite.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hlo-lite
        COMPONENT command)
install(FILES src/share/completions/hlo-lite.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
# In /usr/local, and elsewhere, zsh looks in site-functions; Debian's packages have a folder of their own.
foreach(folder site-functions vendor-completions)
  install(FILES src/share/completions/_hlo-lite DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder} COMPONENT command)
endforeach()
foreach(folder syntax ftdetect ftplugin indent)
  install(FILES src/share/vim/${folder}/hlo.vim DESTINATION ${CMAKE_INSTALL_DATADIR}/vim/vimfiles/${folder} COMPONENT command)
endforeach()
# An extension for Visual Studio Code; in it the TextMate grammar for other editors.
install(DIRECTORY src/share/vscode DESTINATION ${CMAKE_INSTALL_DATADIR}/hlo-lite COMPONENT command)

# Manual pages, from what the command says of itself, and the header of the library.
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/man/hlo-lite.1
  COMMAND sh ${PROJECT_SOURCE_DIR}/src/share/man/pages.sh $<TARGET_FILE:hlo-lite> ${PROJECT_BINARY_DIR}/man ${PROJECT_VERSION}
  DEPENDS hlo-lite ${PROJECT_SOURCE_DIR}/src/share/man/pages.sh VERBATIM)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/man3/hlo_lite.3
  COMMAND sh ${PROJECT_SOURCE_DIR}/src/share/man/library.sh ${PROJECT_SOURCE_DIR}/src/hlo_lite.h ${PROJECT_BINARY_DIR}/man3 ${PROJECT_VERSION}
  DEPENDS ${PROJECT_SOURCE_DIR}/src/hlo_lite.h ${PROJECT_SOURCE_DIR}/src/share/man/library.sh VERBATIM)
add_custom_target(man ALL DEPENDS ${PROJECT_BINARY_DIR}/man/hlo-lite.1 ${PROJECT_BINARY_DIR}/man3/hlo_lite.3)
install(FILES ${PROJECT_BINARY_DIR}/man3/hlo_lite.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT dev)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)

include(${CMAKE_CURRENT_LIST_DIR}/packages.cmake)
