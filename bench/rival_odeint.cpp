/* SPDX-License-Identifier: MIT
 * Boost.odeint on the rattleback, with the hand-written right-hand side. */
#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>

#include "rattleback.h"
#include "rival.h"

namespace odeint = boost::numeric::odeint;
using state = std::array<double, 6>;

namespace {

struct field {
  long *count;
  void operator()(const state &y, state &dy, double) const {
    ++*count;
    rattleback(y.data(), dy.data());
  }
};

template <class Stepper> int run(Stepper stepper, double t1, double *y, long *n_rhs) {
  state x;
  std::copy(y, y + 6, x.begin());
  try {
    odeint::integrate_adaptive(stepper, field{n_rhs}, x, 0.0, t1, 1e-3);
  } catch (...) {
    return 1;
  }
  std::copy(x.begin(), x.end(), y);
  return 0;
}

int fehlberg78(double t1, double rtol, double atol, double *y, long *n_rhs) {
  return run(odeint::make_controlled<odeint::runge_kutta_fehlberg78<state>>(atol, rtol), t1, y, n_rhs);
}

int dopri5(double t1, double rtol, double atol, double *y, long *n_rhs) {
  return run(odeint::make_controlled<odeint::runge_kutta_dopri5<state>>(atol, rtol), t1, y, n_rhs);
}

int bulirsch_stoer(double t1, double rtol, double atol, double *y, long *n_rhs) {
  return run(odeint::bulirsch_stoer<state>(atol, rtol), t1, y, n_rhs);
}

} // namespace

const rival *rivals(int *n) {
  static const rival list[] = {{"Boost.odeint fehlberg78", fehlberg78},
                               {"Boost.odeint dopri5", dopri5},
                               {"Boost.odeint bulirsch_stoer", bulirsch_stoer}};
  *n = 3;
  return list;
}
