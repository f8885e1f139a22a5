# The fuzz targets: each fuzz/<name>_fuzz.cpp is a program with LLVMFuzzerTestOneInput.
