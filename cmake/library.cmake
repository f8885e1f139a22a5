# The library: every source under heed/ but the server's.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(dnnl REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(sentencepiece REQUIRED IMPORTED_TARGET sentencepiece)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)

file(GLOB_RECURSE heed_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/heed/*.cpp)
list(FILTER heed_sources EXCLUDE REGEX "/heed/distributed/mpi/") # cmake/mpi.cmake
list(FILTER heed_sources EXCLUDE REGEX "/heed/serve/") # cmake/serve.cmake
add_library(heed ${heed_sources})
add_library(heed::heed ALIAS heed)
target_compile_features(heed PUBLIC cxx_std_20)
target_include_directories(heed PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(
  heed
  PUBLIC fmt::fmt Threads::Threads
  PRIVATE $<BUILD_INTERFACE:heed_flags> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> hwy::hwy
          DNNL::dnnl tomlplusplus::tomlplusplus ZLIB::ZLIB PNG::PNG JPEG::JPEG
          PkgConfig::sentencepiece PkgConfig::utf8proc PkgConfig::pcre2 ${CMAKE_DL_LIBS})
# A third of the time to compile a file went into reading these.
heed_precompile(heed <fmt/format.h> <algorithm> <filesystem> <functional> <memory> <span> <string>
                <vector>)
# Kernels stay alone: each is compiled for every instruction set already.
set(heed_plain_sources ${heed_sources})
list(FILTER heed_plain_sources EXCLUDE REGEX "/heed/kernels/")
heed_unite(heed 6 ${heed_plain_sources})
# The path of a small call: beside other files, GCC stops inlining copies of Tensor in it, and a call
# of one query and one key takes 3.6 % more instructions.
set_source_files_properties(heed/attention/call.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
heed_embed(heed heed/plot/attention.html heed::plot::kAttentionTemplate)
heed_embed(heed heed/plot/explorer.css heed::plot::kExplorerStyle)
heed_embed(heed heed/plot/explorer.js heed::plot::kExplorerScript)
set_source_files_properties(heed/base/version.cpp PROPERTIES COMPILE_DEFINITIONS
                                                             HEED_VERSION="${PROJECT_VERSION}")
set_target_properties(heed PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

# oneDNN built on OpenMP asks omp_get_max_threads() of the calling thread; the one file that calls
# it sets that to 1, since heed's own pool does the splitting. Nothing else uses OpenMP.
if(DNNL_CPU_THREADING_RUNTIME STREQUAL "OMP")
  find_package(OpenMP COMPONENTS CXX)
endif()
if(OpenMP_CXX_FOUND)
  separate_arguments(openmp_flags UNIX_COMMAND "${OpenMP_CXX_FLAGS}")
  set_source_files_properties(
    heed/kernels/gemm.cpp PROPERTIES COMPILE_OPTIONS "${openmp_flags}" COMPILE_DEFINITIONS
                                     HEED_WITH_OPENMP SKIP_PRECOMPILE_HEADERS ON)
  target_link_libraries(heed PRIVATE $<LINK_ONLY:OpenMP::OpenMP_CXX>)
endif()
