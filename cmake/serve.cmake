# The server: heed/serve/ as a library of its own, for the program and the tests. Users of the library
# heed need neither Boost nor OpenSSL.
find_package(Boost 1.74 REQUIRED)
find_package(OpenSSL REQUIRED)

file(GLOB heed_serve_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/heed/serve/*.cpp)
add_library(heed_serve STATIC ${heed_serve_sources})
target_link_libraries(
  heed_serve
  PUBLIC heed
  PRIVATE heed_flags Boost::headers OpenSSL::SSL OpenSSL::Crypto)
heed_embed(heed_serve heed/serve/page.html heed::serve::kServePage)
# Files that read the network library take ten seconds each and share nothing with the others.
set(heed_serve_plain ${heed_serve_sources})
list(FILTER heed_serve_plain EXCLUDE REGEX "/(server|session_[a-z]+)\\.cpp$")
heed_unite(heed_serve 6 ${heed_serve_plain})
target_compile_options(heed_serve PRIVATE $<$<CONFIG:Release>:-O2>)
