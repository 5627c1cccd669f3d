/* SPDX-License-Identifier: MIT
 * Boost.odeint (field.h): explicit methods, and Rosenbrock's of order 4. */
#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>

extern "C" {
#include "field.h"
}

namespace odeint = boost::numeric::odeint;
namespace ublas = boost::numeric::ublas;
using state = std::array<double, FIELD_N>;
using vector = ublas::vector<double>;
using matrix = ublas::matrix<double>;

namespace {

struct rhs {
  long *count;
  void operator()(const state &y, state &dy, double t) const {
    ++*count;
    if (field_rhs(t, y.data(), dy.data())) throw 1;
  }
  void operator()(const vector &y, vector &dy, double t) const {
    ++*count;
    if (field_rhs(t, &y[0], &dy[0])) throw 1;
  }
};

struct jacobian {
  void operator()(const vector &y, matrix &J, double t, vector &by_t) const {
    if (field_jacobian(t, &y[0], &J(0, 0))) throw 1;
    std::fill(by_t.begin(), by_t.end(), 0.0); /* the models of the comparison do not depend on t */
  }
};

template <class Stepper> int run(Stepper stepper, double t1, double *y, long *n_rhs) {
  state x;
  std::copy(y, y + FIELD_N, x.begin());
  try {
    odeint::integrate_adaptive(stepper, rhs{n_rhs}, x, 0.0, t1, 1e-6);
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

int rosenbrock4(double t1, double rtol, double atol, double *y, long *n_rhs) {
  vector x(FIELD_N);
  std::copy(y, y + FIELD_N, x.begin());
  try {
    odeint::integrate_adaptive(odeint::make_controlled<odeint::rosenbrock4<double>>(atol, rtol),
                               std::make_pair(rhs{n_rhs}, jacobian{}), x, 0.0, t1, 1e-6);
  } catch (...) {
    return 1;
  }
  std::copy(x.begin(), x.end(), y);
  return 0;
}

} // namespace

const rival *rivals(int *n) {
  static const rival list[] = {{"Boost.odeint fehlberg78", fehlberg78, 0},
                               {"Boost.odeint dopri5", dopri5, 0},
                               {"Boost.odeint bulirsch_stoer", bulirsch_stoer, 0},
                               {"Boost.odeint rosenbrock4", rosenbrock4, 1}};
  *n = sizeof list / sizeof *list;
  return list;
}
