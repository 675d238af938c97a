/* seeds - FIRST COUNT: a fuzzer's function on bytes made of so many numbers, for machines without libFuzzer and for ctest. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int main(int argc, char **argv)
{
  if (argc != 3) {
    fputs("usage: fuzz_NAME_seeds FIRST COUNT\n", stderr);
    return 2;
  }
  uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
  for (uint64_t seed = first; seed < first + count; seed++) {
    uint8_t data[512];
    size_t size = 24 + mix(seed * 0x9e3779b97f4a7c15) % (sizeof data - 24);
    for (size_t i = 0; i < size; i++)
      data[i] = (uint8_t)mix((seed << 12 | i) * 0x9e3779b97f4a7c15 + 1);
    fprintf(stderr, "\rseed %llu ", (unsigned long long)seed);
    LLVMFuzzerTestOneInput(data, size);
  }
  fprintf(stderr, "\n%llu modules agree\n", (unsigned long long)count);
  return 0;
}
