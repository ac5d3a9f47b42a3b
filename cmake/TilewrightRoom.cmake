# tilewright_room(NAME [DIRS dir…] [DEPENDS target…]): one static library `tw_NAME` from the .cpp
# files of the given folders (default: the current one).
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(tw_flags INTERFACE)
target_include_directories(tw_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tw_flags INTERFACE -Wall -Wextra -fvisibility=hidden
                       $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms about std::string's operator+ when optimising (GCC bug 105651, fixed in 13).
  target_compile_options(tw_flags INTERFACE -Wno-restrict)
endif()
if(TILEWRIGHT_WERROR)
  target_compile_options(tw_flags INTERFACE -Werror)
endif()
if(TILEWRIGHT_SANITIZE)
  target_compile_options(tw_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(tw_flags INTERFACE -fsanitize=address,undefined)
endif()
find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM)
  target_link_options(tw_flags INTERFACE -fuse-ld=lld)
endif()

function(tilewright_room name)
  cmake_parse_arguments(ROOM "" "" "DIRS;DEPENDS" ${ARGN})
  if(NOT ROOM_DIRS)
    set(ROOM_DIRS .)
  endif()
  set(sources)
  foreach(dir ${ROOM_DIRS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    add_library(tw_${name} STATIC ${sources})
    target_link_libraries(tw_${name} PUBLIC tw_flags ${ROOM_DEPENDS})
  else()
    add_library(tw_${name} INTERFACE)
    target_link_libraries(tw_${name} INTERFACE tw_flags ${ROOM_DEPENDS})
  endif()
endfunction()

# tilewright_embed(TARGET VARIABLE file): makes the text of a file a std::string_view named VARIABLE
# in namespace tilewright::embedded, declared by "<VARIABLE>.h" next to the generated source.
function(tilewright_embed target variable file)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded/${variable}.cpp)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUTPUT=${out}
            -DVARIABLE=${variable} -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake)
  target_sources(${target} PRIVATE ${out})
endfunction()
