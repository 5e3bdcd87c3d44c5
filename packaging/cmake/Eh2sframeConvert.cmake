# SPDX-License-Identifier: MIT
# cmake -DCOMMAND=EH2SFRAME -DFILE=FILE -P Eh2sframeConvert.cmake -- [OPTION...]: converts a file that
# was just linked, in place. eh2sframe_add's step.

set(options)
set(after FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after)
    list(APPEND options "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after TRUE)
  endif()
endforeach()

execute_process(COMMAND "${COMMAND}" convert -q ${options} "${FILE}" "${FILE}"
  RESULT_VARIABLE status ERROR_VARIABLE errors)
# 6: no CFI, or the linker has written a section itself.
if(NOT status STREQUAL "0" AND NOT status STREQUAL "6")
  # Left there, it would be taken for finished the next time.
  file(REMOVE "${FILE}")
  message(FATAL_ERROR "${errors}eh2sframe failed on ${FILE} (${status})")
endif()
