# The Debian packages that `cpack -G DEB` makes of the installed components: hlo-lite and libhlo-lite-dev.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hlo-lite)
set(CPACK_PACKAGE_CONTACT "hlo-lite <hlo-lite@localhost>" CACHE STRING "the maintainer that packages name")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL command dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# What the programs are linked with, dpkg-shlibdeps (of dpkg-dev) finds out: cpack fails without it.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

# --emit=shared and --emit=exe run ld; a compiler is needed for programs that call what was compiled.
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "compiler for HLO text\n Native objects with a C header from JAX, XLA and hand-written modules.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME hlo-lite)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "binutils")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS gcc)

# The static library is linked with LLVM's, which the shared one holds.
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "library that compiles HLO text in memory\n Headers, shared and static library, and the runtime that compiled objects may link.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libhlo-lite-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libc6-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "hlo-lite, pkgconf, cmake, llvm-19-dev, zlib1g-dev, libzstd-dev, g++")

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hlo-lite RENAME copyright COMPONENT command)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libhlo-lite-dev RENAME copyright COMPONENT dev)
include(CPack)
