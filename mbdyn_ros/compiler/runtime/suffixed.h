/* Names for one number (SUFFIX 1) or a vector of them (v): F(name) ends in the suffix. Each template
   that is included once for each begins with this file and ends with unsuffixed.h. */
#define PASTED(name, suffix) name##suffix
#define SUFFIXED(name, suffix) PASTED(name, suffix)
#define F(name) SUFFIXED(name, SUFFIX)
#define REAL F(real)
#define BITS F(bits)
#define COUNT F(lanes)
#define LANE F(lane)
#define ALL F(all)
#define IS F(is)
