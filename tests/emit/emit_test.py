#!/usr/bin/env python3
"""Emitted C of every model, and of some in other sizes (SIZES): compiles alone without a warning (every compiler given), is
clean under the address and undefined behaviour sanitizers (of clang where it is given, else of the first compiler), does the
same as the program with the same steps, and is the same text every time.
emit_test.py ANAGYRE COMPILER,... MODEL_FOLDER ..."""
import concurrent.futures, json, os, re, subprocess, sys, tempfile

program, compilers, folders = sys.argv[1], [c for c in sys.argv[2].split(',') if c], sys.argv[3:]
FLAGS = ['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror', '-O0', '-ffp-contract=off']
SANITIZE = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all']
SANITIZER = next((c for c in compilers if 'clang' in c), compilers[0])  # one is enough, and clang's takes half the time
LONG = 3000000 if 'clang' in SANITIZER else 500000  # characters: what takes minutes to sanitize is only compiled and run
# models that are large by a structural parameter, in sizes with sparse solves; a net of nine masses is 12 MB of C
SIZES = {'inerters': [[], ['K=70']], 'joint_chain': [[], ['K=11']], 'trailers': [[], ['K=22']], 'cart_pendula': [[], ['K=40']],
         'link_net': [['W=2', 'H=2'], ['W=5', 'H=4']]}
# Calls what the emitted main does not, at the start, with arrays of exactly the size stated in the file. The Jacobian of a model without rotations
# is compared with differences of the right-hand side.
DRIVER = r'''
#define main emitted_main
#include "m.c"
#undef main
int main(int argc, char **argv) {
  enum { N = %(upper)s_N_STATE, T = %(upper)s_N_TANGENT, O = %(upper)s_N_OBSERVE, Q = %(n_q)d, XI = %(n_xi)d };
  static const int q_in_z[Q] = {%(q_in_z)s};
  const double *p = %(name)s_params, *c = %(name)s_basis;
  double *z = malloc(sizeof(double) * N), *xi = malloc(sizeof(double) * XI), *J = malloc(sizeof(double) * T * T), f[2][N], energy, worst = 0;
  double *x = malloc(sizeof(double) * (Q + XI)), *o = malloc(sizeof(double) * (O + 1));
  int bad = emitted_main(argc, argv);
  (void)f;
  memcpy(z, %(name)s_start, sizeof(double) * N);
  bad |= %(name)s_velocity(%(t0)s, z, c, p, xi);
  for (int i = 0; i < Q; i++) x[i] = z[q_in_z[i]];
  memcpy(x + Q, xi, sizeof(double) * XI);
  bad |= %(name)s_energy(%(t0)s, x, c, p, &energy);
  printf("start: energy = %%.17g\n", energy);
#if %(observe)d
  bad |= %(name)s_observe(%(t0)s, x, c, p, o);
  for (int i = 0; i < O; i++) printf("start: o[%%d] = %%.17g\n", i, o[i]);
#endif
#if %(jacobian)d
  bad |= %(name)s_jacobian(%(t0)s, z, c, p, J);
  for (int i = 0; i < T * T; i++) worst += J[i] - J[i];
  for (int j = 0; N == T && j < N; j++) {
    double at = z[j], h = 1e-6;
    for (int s = 0; s < 2; s++, z[j] = at) {
      z[j] = at + (s ? h : -h);
      bad |= %(name)s_rhs(%(t0)s, z, c, p, f[s]);
    }
    for (int i = 0; i < N; i++) worst = fmax(worst, fabs((f[1][i] - f[0][i]) / (2 * h) - J[i * N + j]) / (1 + fabs(J[i * N + j])));
  }
#endif
  printf("start: jacobian = %%.17g\n", worst);
  free(z), free(xi), free(J), free(x), free(o);
  return bad;
}
'''


def numbers(value):
    return [x for row in value for x in numbers(row)] if isinstance(value, list) else [value]


def state_of(run):
    """The final state of a run by the names that the emitted program prints."""
    want = {}
    for key, value in run['state'].items():
        flat = numbers(value)
        if len(flat) == 1 and not isinstance(value, list):
            want[key] = flat[0]
        elif not isinstance(value[0], list):
            want.update({f'{key}[{i + 1}]': v for i, v in enumerate(flat)})
    return want


def driver_of(text, run):
    """The C of the driver, and the values it should print: energy and observables at the start, from the first row of the series."""
    name = re.search(r'(\w+)_rhs\(t, z', text).group(1)
    head = text[:text.index('*/')]
    places = {m[2]: int(m[1]) for m in re.finditer(r'^ \*   z\[(\d+)\]  (.*)$', head, re.M)}
    velocities = re.findall(r'^ \*   xi\[\d+\]  (.*)$', head, re.M)
    q = []  # stored coordinates in the order of the model; velocities come after them in the state
    for key, value in run['state'].items():
        names = ([f'{key} as a quaternion: {c}' for c in 'wxyz'] if f'{key} as a quaternion: w' in places
                 else [f'{key}[{i + 1}]' for i in range(len(value))] if isinstance(value, list) else [key])
        if len(q) < len(places) and all(n in places for n in names) and not set(names) & set(velocities):
            q += [places[n] for n in names]
    start = text.find(f'void {name}_observe_(')
    body = text[start:text.index('\n}\n', start)] if start >= 0 else ''
    reads = [int(i) for i in re.findall(r'\bz\[(\d+)\]', body)]
    observe = bool(body) and max(reads, default=0) < len(q) + len(velocities)  # else it wants multipliers
    series = {key: column[0] for key, column in run['series'].items()}
    want = {'start: energy': series['energy']}
    if observe:
        flat = [x for key in run['observables'] for x in numbers(series[key])]
        want.update({f'start: o[{i}]': v for i, v in enumerate(flat)})
    return DRIVER % {'name': name, 'upper': name.upper(), 'n_q': len(q), 'n_xi': len(velocities), 'observe': observe, 'jacobian': f'int {name}_jacobian(' in text, 't0': '0.0',
                     'q_in_z': ', '.join(map(str, q))}, want


def compare(compiler, binary, want):
    out = subprocess.run([binary, '0.2', '0.0005'], capture_output=True, text=True)
    if out.returncode or out.stderr:
        return [f'{compiler}: exit code {out.returncode}: {out.stderr[:2000]}']
    got = dict(line.split(' = ') for line in out.stdout.splitlines())
    problems = [] if any(k in want for k in got if not k.startswith('start')) else [f'{compiler}: nothing to compare']
    # 400 steps; libm and the program's own functions differ in the last bit, and the program takes the rate of a step's start from before its
    # quaternions were normalised (their error after one such step is below 1e-13)
    for k in want:
        if k not in got and k.startswith('start'):
            problems.append(f'{compiler}: {k} is missing')
        elif k in got and not abs(float(got[k]) - want[k]) / max(1, abs(want[k])) < 1e-10:
            problems.append(f'{compiler}: {k} = {got[k]}, the program has {want[k]!r}')
    # central differences over 1e-6: the cube of that and 1e-16 / 1e-6 of rounding, times the size of derivatives
    if not float(got['start: jacobian']) < 1e-6:
        problems.append(f'{compiler}: the Jacobian differs from differences by {got["start: jacobian"]}')
    return problems


def has_noise(path):
    with open(path, encoding='utf-8') as file:
        return re.search(r'^(noise|temperature)\b', file.read(), re.M) is not None


# Drift and noise fields along Wiener processes that are straight lines, with slopes of their own: rk4, to be compared with `run --driver`.
ALONG_LINES = r'''
#include <stdio.h>
#include <string.h>
#include "m.c"
enum { N = %(upper)s_N_STATE, W = %(n_w)d, STEPS = 400 };
static int rate(double t, const double *z, double *dz) {
  double w[W + 1] = {1};
  for (int i = 1; i <= W; i++) w[i] = 0.3 * i;
  return %(name)s_increment(t, z, %(name)s_basis, w, %(name)s_params, dz);
}
int main(void) {
  double z[N], y[N], k[4][N], h = 0.2 / STEPS;
  int bad = 0;
  memcpy(z, %(name)s_start, sizeof z);
  for (int n = 0; n < STEPS; n++) {
    static const double at[4] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
      for (int i = 0; i < N; i++) y[i] = z[i] + (s ? at[s] * h * k[s - 1][i] : 0);
      bad |= rate((n + at[s]) * h, y, k[s]);
    }
    for (int i = 0; i < N; i++) z[i] += h / 6 * (k[0][i] + 2 * (k[1][i] + k[2][i]) + k[3][i]);
  }
  for (int i = 0; i < N; i++) printf("%%.17g\n", z[i]);
  return bad;
}
'''


def check_noise(path, sets, text, temp):
    """The emitted increment of a model with noise."""
    name = re.search(r'(\w+)_increment\(t, z', text).group(1)
    head = text[:text.index('*/')]
    places = {m[2]: int(m[1]) for m in re.finditer(r'^ \*   z\[(\d+)\]  (.*)$', head, re.M)}
    processes = re.findall(r'^ \*   w\[\d+\]  d(.*)$', head, re.M)
    lines = ';'.join(f'{w}={0.3*(i + 1)!r}*t' for i, w in enumerate(processes))
    want = state_of(json.loads(subprocess.run([program, 'run', path, '--driver', lines, '--t1', '0.2', '--method', 'rk4', '--dt', '0.0005',
                                               '--json', '--quiet'] + sets, capture_output=True, text=True, check=True).stdout))
    for file, content in (('m.c', text), ('driver.c', ALONG_LINES % {'name': name, 'upper': name.upper(), 'n_w': len(processes)})):
        with open(os.path.join(temp, file), 'w', encoding='utf-8') as out:
            out.write(content)
    binary, problems = os.path.join(temp, 'm'), []
    for compiler in compilers:
        how = SANITIZE if compiler == SANITIZER else []
        build = subprocess.run([compiler, *FLAGS, *how, os.path.join(temp, 'driver.c'), '-o', binary, '-lm'], capture_output=True, text=True)
        if build.returncode:
            problems.append(f'{compiler}: {build.stderr[:500]}')
            continue
        out = subprocess.run([binary], capture_output=True, text=True)
        z = [float(x) for x in out.stdout.split()]
        shared = [k for k in places if k in want]
        if out.returncode or not shared:
            problems.append(f'{compiler}: exit code {out.returncode}, {len(shared)} numbers to compare: {out.stderr[:500]}')
        # as in compare(): 400 steps with functions that differ in the last bit
        problems += [f'{compiler}: {k} = {z[places[k]]!r}, the program has {want[k]!r}' for k in shared
                     if not abs(z[places[k]] - want[k])/max(1, abs(want[k])) < 1e-10]
    return problems


def check(case):
    path, sets = case
    with tempfile.TemporaryDirectory() as temp:
        noisy = has_noise(path)
        emit = [program, 'emit', path, *([] if noisy else ['--main']), '--quiet'] + sets
        text = subprocess.run(emit, capture_output=True, text=True, check=True).stdout
        problems = []
        if text != subprocess.run(emit, capture_output=True, text=True, check=True).stdout:
            problems.append('the text differs from one call to the next')
        if noisy:
            return problems + check_noise(path, sets, text, temp)
        run = json.loads(subprocess.run([program, 'run', path, '--t1', '0.2', '--method', 'rk4', '--dt', '0.0005', '--json', '--quiet',
                                         '--no-events', '--series', '--every', '1'] + sets, capture_output=True, text=True, check=True).stdout)
        driver, want = driver_of(text, run)
        want.update(state_of(run))
        for file, content in (('m.c', text), ('driver.c', driver)):
            with open(os.path.join(temp, file), 'w', encoding='utf-8') as out:
                out.write(content)
        binary = os.path.join(temp, 'm')
        for compiler in compilers:
            how = SANITIZE if compiler == SANITIZER and len(text) < LONG else []
            build = subprocess.run([compiler, *FLAGS, *how, os.path.join(temp, 'driver.c'), '-o', binary, '-lm'], capture_output=True, text=True)
            problems += [f'{compiler}: {build.stderr[:500]}'] if build.returncode else compare(compiler, binary, want)
        return problems


models = sorted(os.path.join(folder, f) for folder in folders for f in os.listdir(folder) if f.endswith('.nh'))
cases = [(path, [word for s in size for word in ('--set', s)]) for path in models for size in SIZES.get(os.path.basename(path)[:-3], [[]])]
failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    for (path, sets), problems in zip(cases, pool.map(check, cases)):
        failed += len(problems)
        for problem in problems:
            print(f'{os.path.basename(path)[:-3]} {" ".join(sets)}: {problem}')
print(f'FAILED: {failed}' if failed else f'all {len(cases)} models agree')
sys.exit(failed != 0)
