/* Latest: a value that one thread sets and another one reads, neither ever waiting. */
#ifndef MBDYN_ROS_LATEST_HPP
#define MBDYN_ROS_LATEST_HPP

#include <array>
#include <atomic>

namespace mbdyn_ros {

/* Three copies: one is being written, one is read, and the third is the last one that was
   finished; the ends exchange theirs for it. One writer at a time, one reader. `set` copies into a
   value that is there: of vectors that keep their sizes nothing is allocated. */
template <class Value>
class Latest {
 public:
  explicit Latest(const Value &value) : values_{value, value, value} {}

  void set(const Value &value) {
    values_[writing_] = value;
    writing_ = finished_.exchange(writing_ | fresh, std::memory_order_acq_rel) & ~fresh;
  }

  /* Holds until the next call of it. */
  const Value &get() noexcept {
    if (finished_.load(std::memory_order_relaxed) & fresh) {
      reading_ = finished_.exchange(reading_, std::memory_order_acq_rel) & ~fresh;
    }
    return values_[reading_];
  }

 private:
  static constexpr unsigned fresh = 4; /* next to the number: not read yet */
  std::array<Value, 3> values_;
  unsigned writing_ = 0, reading_ = 1;
  std::atomic<unsigned> finished_{2};
  static_assert(std::atomic<unsigned>::is_always_lock_free);
};

}  // namespace mbdyn_ros

#endif
