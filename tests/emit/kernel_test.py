#!/usr/bin/env python3
"""The C of the program's own kernels: no warning, clean under the undefined behaviour sanitizer, and the same numbers with it as without,
in single runs and in lanes.   kernel_test.py ANAGYRE COMPILER,... MODEL_FOLDER

The program takes the first compiler of its list from PATH: here that is a script that adds the warnings and the sanitizer. It does not fall back
on another one when the script fails, so that "compiled" in the result means that everything was clean."""
import concurrent.futures, json, os, subprocess, sys, tempfile

program, compilers, folder = sys.argv[1], [c for c in sys.argv[2].split(',') if c], sys.argv[3]
EXTRA = '-O1 -Wall -Wextra -Werror -fsanitize=undefined -fno-sanitize-recover=all'
# images and quadrature; a basis and a domain; loops; roots inside; functions of time
RUNS = [('rattleback', 'dop853', ['--series', '--every', '0.1']), ('knife_edge', 'dopri5', []), ('lattice', 'dop853', []),
        ('cylinder_ball', 'dopri5', []), ('sleigh_moving_mass', 'rk4', ['--dt', '0.01'])]
BATCHES = [('rattleback', 'dop853', ['--sweep', 'spin0=-1:1:9']), ('pendulum', 'dopri5', ['--sweep', 'l=1:2:9'])]


def wrapper(temp, compiler):
    """A folder with the compiler under the name the program looks for first, and what it takes to load its sanitizer."""
    bin_folder = os.path.join(temp, os.path.basename(compiler))
    os.mkdir(bin_folder)
    real = subprocess.run(['sh', '-c', f'command -v {compiler}'], capture_output=True, text=True, check=True).stdout.strip()
    extra = EXTRA
    if 'clang' in subprocess.run([real, '--version'], capture_output=True, text=True, check=True).stdout:
        machine = os.uname().machine
        runtime = subprocess.run([real, f'-print-file-name=libclang_rt.ubsan_standalone-{machine}.so'], capture_output=True, text=True,
                                 check=True).stdout.strip()
        if not os.path.exists(runtime):
            return None
        # compiling and linking are two calls with the same options
        extra += f' -shared-libsan -Wl,-rpath,{os.path.dirname(runtime)} -Wno-unused-command-line-argument'
    path = os.path.join(bin_folder, 'clang')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/sh\nexec {real} "$@" {extra}\n')
    os.chmod(path, 0o755)
    return bin_folder


def result(model, method, more, cache, path):
    environment = {**os.environ, 'XDG_CACHE_HOME': cache, 'PATH': path + os.environ['PATH']}
    done = subprocess.run([program, 'run', os.path.join(folder, model + '.nh'), '--t1', '2', '--method', method, '--engine', 'compiled',
                           '--json', '--quiet', *more], capture_output=True, text=True, env=environment, check=False)
    if done.returncode or done.stderr:
        return {'message': f'exit code {done.returncode}: {done.stderr}'}
    found = json.loads(done.stdout)
    for clock in ('seconds', 'trajectories_per_second'):
        found.pop(clock, None)
    found['lanes'] = found.get('lanes', 0) > 0  # long batches choose how many by measuring
    return found


def check(job):
    (model, method, more), compiler, bin_folder, temp = job
    cache = tempfile.mkdtemp(dir=temp)
    plain, clean = result(model, method, more, cache, ''), result(model, method, more, cache, bin_folder + ':')
    compiled = clean.get('engine') == 'compiled' or clean.get('lanes')
    if 'message' in clean or not compiled:
        return f'{compiler}: {model}: {clean.get("message") or "not compiled"}'
    return f'{compiler}: {model}: other numbers\n{plain}\n{clean}' if plain != clean else ''


with tempfile.TemporaryDirectory() as temp:
    jobs = []
    for compiler in compilers:
        found = wrapper(temp, compiler)
        if not found:
            print(f'{compiler}: no shared sanitizer runtime, left out')
        jobs += [(run, compiler, found, temp) for run in RUNS + BATCHES if found]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        problems = [p for p in pool.map(check, jobs) if p]
print('\n'.join(problems) if problems else f'{len(jobs)} kernels are clean')
sys.exit(1 if problems or not jobs else 0)
