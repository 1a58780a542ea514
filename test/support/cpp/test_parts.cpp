/* The parts under the control laws: hashes, values between threads, libraries. */
#include "check.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "arm.hpp"
#include "mbdyn_ros/description.hpp"
#include "mbdyn_ros/latest.hpp"
#include "mbdyn_ros/library.hpp"

using namespace mbdyn_ros;

/* The examples of FIPS 180-4, and blocks of every length about the padding. */
static void test_hashes() {
  CHECK(sha256::of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256::of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256::of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256::of(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  const std::string bare = description_hash("<robot/>");
  CHECK(bare == sha256::of("<robot/>"));
  CHECK(description_hash("\xef\xbb\xbf<?xml version=\"1.0\"?>\r\n <robot/>\n") == bare);
  CHECK(description_hash("<?xml-model a?><robot/>") != bare);
  CHECK(description_hash("<?xml") == sha256::of("<?xml"));
  CHECK(description_hash(" ") == sha256::of(""));
}

static void test_other_robots_are_noticed() {
  mbdyn_ros_model table = arm::table;
  const std::string hash = description_hash("<robot name='arm'/>");
  table.description = hash.c_str();
  CHECK(mismatch(table, "<?xml version='1.0'?><robot name='arm'/>\n").empty());
  const std::string words = mismatch(table, "<robot name='leg'/>");
  CHECK(has(words, "of the robot 'arm'") && has(words, hash.c_str()));
  table.description = "";
  CHECK(has(mismatch(table, "<robot/>"), "an unknown text"));
}

/* Vectors of one number each: a reader never sees two, nor an old one after a new one. */
static void test_values_from_thread_to_thread() {
  constexpr int last = 100000;
  Latest<std::vector<int>> latest(std::vector<int>(64, 0));
  std::atomic<bool> wrong{false};
  std::thread reader([&] {
    for (int seen = 0; seen != last;) {
      const std::vector<int> &values = latest.get();
      for (const int x : values) {
        if (x != values[0]) wrong = true;
      }
      if (values[0] < seen) wrong = true;
      seen = values[0];
    }
  });
  for (int k = 1; k <= last; ++k) latest.set(std::vector<int>(64, k));
  reader.join();
  CHECK(!wrong);
  CHECK(latest.get()[0] == last && latest.get()[63] == last); /* it stays */
}

static void test_libraries(const char *none, const char *other) {
  const Library missing = Library::open("/nowhere/robot.so");
  CHECK(missing.table() == nullptr && has(missing.error(), "/nowhere/robot.so cannot be opened"));
  CHECK(has(Library::open(none).error(), "is not a robot's library"));
  CHECK(has(Library::open(other).error(), "has interface 3 of"));
}

int main(int, char **arguments) {
  test_hashes();
  test_other_robots_are_noticed();
  test_values_from_thread_to_thread();
  test_libraries(arguments[1], arguments[2]);
  return failures != 0;
}
