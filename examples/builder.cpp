// builder.cpp - the builder from C++17: a thin wrapper with operators and exceptions, and what one writes with it.
//
//   c++ -std=c++17 builder.cpp $(pkg-config --cflags --libs hlo_lite) -o builder_cpp
//   ./builder_cpp
#include <hlo_lite.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace hlo {

struct Free {
  void operator()(hlo_context *p) const { hlo_context_free(p); }
  void operator()(hlo_builder *p) const { hlo_builder_free(p); }
  void operator()(hlo_module *p) const { hlo_module_free(p); }
  void operator()(hlo_executable *p) const { hlo_executable_free(p); }
};
template <class T> using Owner = std::unique_ptr<T, Free>;

struct Value {
  hlo_value *raw = nullptr;
  Value operator+(Value y) const { return {hlo_add(raw, y.raw)}; }
  Value operator-(Value y) const { return {hlo_subtract(raw, y.raw)}; }
  Value operator*(Value y) const { return {hlo_multiply(raw, y.raw)}; }
  Value operator/(Value y) const { return {hlo_divide(raw, y.raw)}; }
  Value operator-() const { return {hlo_negative(raw)}; }
};
inline Value exp(Value x) { return {hlo_exp(x.raw)}; }
inline Value matmul(Value x, Value y) { return {hlo_matmul(x.raw, y.raw)}; }
inline Value softmax(Value x, int axis) { return {hlo_softmax(x.raw, axis)}; }

class Program {
public:
  explicit Program(const char *name) : context(hlo_context_new()), builder(hlo_builder_new(context.get(), name)) {}
  Value parameter(const char *name, const char *type, std::vector<int64_t> sizes) {
    return {hlo_parameter(builder.get(), name, type, static_cast<int>(sizes.size()), sizes.data())};
  }
  Value scalar(const char *type, double value) { return {hlo_scalar(builder.get(), type, value)}; }
  void compile(Value root) {
    Owner<hlo_module> module(hlo_build(builder.get(), root.raw));
    executable.reset(module ? hlo_compile(context.get(), module.get(), nullptr) : nullptr);
    if (!executable) throw std::runtime_error(hlo_messages(context.get()));
  }
  void operator()(std::vector<const void *> arguments, std::vector<void *> results) const {
    if (hlo_call(executable.get(), arguments.data(), results.data())) throw std::runtime_error("call failed");
  }

private:
  Owner<hlo_context> context;
  Owner<hlo_builder> builder;
  Owner<hlo_executable> executable;
};

} // namespace hlo

int main() {
  hlo::Program p("scores");
  auto q = p.parameter("q", "f32", {2, 3}), k = p.parameter("k", "f32", {3, 2}), shift = p.parameter("shift", "f32", {2});
  p.compile(softmax(matmul(q, k) / p.scalar("f32", 2) + shift, -1));
  const float qs[] = {1, 2, 3, 4, 5, 6}, ks[] = {1, 0, 0, 1, 1, 1}, shifts[] = {0.5f, -0.5f};
  float y[4];
  p({qs, ks, shifts}, {y});
  std::printf("%.4f %.4f\n%.4f %.4f\n", y[0], y[1], y[2], y[3]);

  try {
    hlo::Program wrong("wrong");
    wrong.compile(wrong.parameter("x", "f32", {2, 3}) + wrong.parameter("y", "f32", {2}));
  } catch (const std::runtime_error &e) {
    std::printf("%s", e.what());
  }
}
