# For a quicker build of interface packages: what makes a type known to a middleware takes its time over the same
# headers for every type, so the files of each such library are compiled as one, just before CMake generates.
# Messages' own C is left as it is: its files define the same names. Use it as drop_missing_includes.cmake.
function(compile_together)
  get_directory_property(targets BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    if(target MATCHES "__rosidl_(typesupport|generator_py)")
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL compile_together)
