# For building against the ROS wheels of PyPI; a full ROS installation does not need it.
#
# The wheels' exported targets name the Python and NumPy include folders of the machine they were built on, and CMake
# refuses an imported target whose include folder does not exist. Our own targets get the folders of this interpreter
# from FindPython3, so the missing ones are dropped, just before CMake generates, from the targets in memory: no
# installed file is touched. Use it with -DCMAKE_PROJECT_<project>_INCLUDE=<this file>.
function(drop_missing_includes)
  get_directory_property(targets IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    set(kept "")
    foreach(folder IN LISTS folders)
      if(NOT IS_ABSOLUTE "${folder}" OR EXISTS "${folder}")
        list(APPEND kept "${folder}")
      endif()
    endforeach()
    if(folders)
      set_property(TARGET ${target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${kept}")
    endif()
  endforeach()
endfunction()

cmake_language(DEFER CALL drop_missing_includes)
