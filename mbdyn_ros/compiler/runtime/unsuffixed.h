/* The end of a template that suffixed.h began. */
#undef PASTED
#undef SUFFIXED
#undef F
#undef REAL
#undef BITS
#undef COUNT
#undef LANE
#undef ALL
#undef IS
#undef SUFFIX
