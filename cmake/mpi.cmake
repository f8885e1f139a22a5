# The module for MPI: a library of its own, which the program loads if MPI has started it. Without MPI
# everything else is built as it is.
if(HEED_MPI)
  set(MPI_CXX_SKIP_MPICXX ON) # the old C++ interface of MPI
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(HEED_MPI AND MPI_CXX_FOUND)
  add_library(heed_mpi MODULE heed/distributed/mpi/module.cpp)
  target_link_libraries(heed_mpi PRIVATE MPI::MPI_CXX fmt::fmt heed_flags)
  target_include_directories(heed_mpi PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(heed_mpi PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS heed_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heed)
endif()
