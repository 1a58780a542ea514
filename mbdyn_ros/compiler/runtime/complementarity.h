/* Impulses f of contacts, w = A f + b: each pushes or its normal velocity is not zero, friction
   stays in Coulomb's cone and is full, against the velocity, where that is not zero; bounded rows
   likewise. `equations/contact/impact.py` says the same in NumPy.

   Newton's method on the projections (Alart and Curnier 1991), with a line search, from the last
   impulses finds them at once where contacts stay as they are. Where it does not, as where they are
   redundant, `approach` goes safely (`convex_cones.h`). */
enum { NEWTON_STEPS = 12 };

#define NO_ROW ((size_t)-1)
#define LEAST_SHARE 1e-4   /* of a Newton step that has to help */
#define HEAVY 1e3          /* velocities that impulses would make, of those that there are */
/* Share of the diagonal that Newton's matrix has more: at first, and where that is not enough. */
#define SOFT 1e-11
#define SOFTER 1e-8

/* How many numbers of room m rows need. */
static inline size_t room_of_cones(size_t m, size_t size) {
  return m * m + 10 * m + size * size + 6 * size;
}
