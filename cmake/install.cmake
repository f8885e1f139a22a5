# What `cmake --install` puts where, and the package that find_package(heed) finds.
include(CMakePackageConfigHelpers)

set(heed_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heed)
install(TARGETS heed EXPORT heedTargets)
install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${heed_package_dir})
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/heed
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "serve" EXCLUDE)

configure_package_config_file(cmake/heedConfig.cmake.in ${PROJECT_BINARY_DIR}/heedConfig.cmake
                              INSTALL_DESTINATION ${heed_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
        DESTINATION ${heed_package_dir})
