# Included by llama.cpp's own build. Its `common` library (argument parsing, downloads, templates) is not used by the engine and
# takes half of the compile time; the sources of `llama` share most of their headers, so they are compiled a few at a time.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "" FORCE)
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL
  set_target_properties llama PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
