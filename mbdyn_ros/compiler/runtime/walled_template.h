/* Steps among walls for single motions (SUFFIX 1) and for vectors of motions (v): one text, and
   the same numbers. */
#define PASTED(name, suffix) name##suffix
#define SUFFIXED(name, suffix) PASTED(name, suffix)
#define F(name) SUFFIXED(name, SUFFIX)
#define REAL F(real)
#define BITS F(bits)
#define COUNT F(lanes)
#define LANE F(lane)
#define ALL F(all)
#define IS F(is)
#if SUFFIX == 1
#define WALLED struct walled
#define PROGRAM(w, name) (w)->name
#else
#define WALLED struct walled_lanes
#define PROGRAM(w, name) (w)->vectors->name
#endif

#include "sparse_template.h"
#include "cones_template.h"
#if SUFFIX == 1
#include "impulses.h"
#else
#include "impulses_of_lanes.h"
#endif
#include "motion_template.h"
#include "contact_rows_template.h"
#include "closing_template.h"
#include "hold_template.h"

#undef PASTED
#undef SUFFIXED
#undef F
#undef REAL
#undef BITS
#undef COUNT
#undef LANE
#undef ALL
#undef IS
#undef WALLED
#undef PROGRAM
#undef SUFFIX
