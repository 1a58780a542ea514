/* The hash of a robot description, by which a library of another robot is noticed. */
#ifndef MBDYN_ROS_DESCRIPTION_HPP
#define MBDYN_ROS_DESCRIPTION_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mbdyn_ros/model.h"

namespace mbdyn_ros {

namespace sha256 {

/* FIPS 180-4: the first 32 bits of the fractional parts of cube roots of the first 64 primes. */
inline constexpr std::array<std::uint32_t, 64> constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

constexpr std::uint32_t turned(std::uint32_t x, unsigned bits) noexcept {
  return (x >> bits) | (x << (32U - bits));
}

/* One block of 64 bytes. */
inline void take(State &state, const unsigned char *block) noexcept {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t, block += 4) {
    w[t] = std::uint32_t{block[0]} << 24U | std::uint32_t{block[1]} << 16U |
           std::uint32_t{block[2]} << 8U | std::uint32_t{block[3]};
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t x = w[t - 15], y = w[t - 2];
    w[t] = w[t - 16] + (turned(x, 7) ^ turned(x, 18) ^ (x >> 3U)) + w[t - 7] +
           (turned(y, 17) ^ turned(y, 19) ^ (y >> 10U));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
                                ((e & f) ^ (~e & g)) + constants[t] + w[t];
    const std::uint32_t second =
        (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const State added{a, b, c, d, e, f, g, h};
  for (std::size_t k = 0; k < state.size(); ++k) state[k] += added[k];
}

inline std::string of(std::string_view text) {
  State state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string bytes(text);
  bytes.push_back(static_cast<char>(0x80));
  while (bytes.size() % 64 != 56) bytes.push_back('\0');
  const std::uint64_t bits = std::uint64_t{text.size()} * 8U;
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    bytes.push_back(static_cast<char>((bits >> (shift - 8U)) & 0xffU));
  }
  for (std::size_t k = 0; k < bytes.size(); k += 64) {
    take(state, reinterpret_cast<const unsigned char *>(bytes.data()) + k);
  }
  std::string hex;
  for (const std::uint32_t word : state) {
    for (unsigned shift = 32; shift > 0; shift -= 4) {
      hex.push_back("0123456789abcdef"[(word >> (shift - 4U)) & 0xfU]);
    }
  }
  return hex;
}

}  // namespace sha256

/* SHA-256 of a description, in hexadecimal, as `mbdyn_ros_model::description` has it: of its UTF-8
   bytes without a byte order mark, an XML declaration, and blanks at both ends. */
inline std::string description_hash(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf", declaration = "<?xml", blank = " \t\r\n";
  const auto trimmed = [&](std::string_view rest) {
    const std::size_t first = rest.find_first_not_of(blank), last = rest.find_last_not_of(blank);
    return first == rest.npos ? std::string_view{} : rest.substr(first, last - first + 1);
  };
  if (text.substr(0, mark.size()) == mark) text.remove_prefix(mark.size());
  text = trimmed(text);
  const std::size_t length = declaration.size();
  if (text.substr(0, length) == declaration && blank.find(text[length]) != blank.npos) {
    const std::size_t end = text.find("?>");
    if (end != text.npos) text = trimmed(text.substr(end + 2));
  }
  return sha256::of(text);
}

/* Why a library is of another description than this text; empty where it is of this one. */
inline std::string mismatch(const mbdyn_ros_model &table, std::string_view text) {
  const std::string hash = description_hash(text);
  if (hash == table.description) return {};
  const std::string theirs = table.description[0] == '\0' ? "an unknown text" : table.description;
  return "the library is of the robot '" + std::string(table.robot) + "', made of " + theirs +
         ", but this description is " + hash +
         " (SHA-256): write the library again from it, mbdyn codegen --cpp";
}

}  // namespace mbdyn_ros

#endif
