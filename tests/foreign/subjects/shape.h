/* SPDX-License-Identifier: MIT */
#ifndef BP_TESTS_FOREIGN_SHAPE_H
#define BP_TESTS_FOREIGN_SHAPE_H

#include <vector>

namespace shape {

class Path {
  public:
    explicit Path(double scale) : scale_(scale) {
    }
    double length(const std::vector<double> &turns) const;

  private:
    double scale_;
};

} // namespace shape

#endif
