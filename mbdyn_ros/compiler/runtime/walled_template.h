/* Steps among walls for single motions (SUFFIX 1) and for vectors of motions (v): one text, and
   the same numbers. */
#include "suffixed.h"
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

#undef WALLED
#undef PROGRAM
#include "unsuffixed.h"
