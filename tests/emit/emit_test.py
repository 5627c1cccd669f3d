#!/usr/bin/env python3
"""Emitted C of every model: compiles alone without a warning (every compiler given), does the same as the program with the same steps,
and is the same text every time.   emit_test.py ANAGYRE MODEL_FOLDER COMPILER ..."""
import json, os, subprocess, sys, tempfile

program, folder, compilers = sys.argv[1], sys.argv[2], [c for c in sys.argv[3:] if c]
failed = 0

def say(name, text):
    global failed
    failed += 1
    print(f'{name}: {text}')

def numbers(value):
    return [x for row in value for x in numbers(row)] if isinstance(value, list) else [value]

for file in sorted(f for f in os.listdir(folder) if f.endswith('.nh')):
    name = file[:-3]
    with tempfile.TemporaryDirectory() as temp:
        source = os.path.join(temp, 'm.c')
        emit = [program, 'emit', os.path.join(folder, file), '--main', '--quiet']
        text = subprocess.run(emit, capture_output=True, text=True, check=True).stdout
        if text != subprocess.run(emit, capture_output=True, text=True, check=True).stdout:
            say(name, 'the text differs from one call to the next')
        open(source, 'w').write(text)
        run = subprocess.run([program, 'run', os.path.join(folder, file), '--t1', '0.5', '--method', 'rk4', '--dt', '0.001', '--json', '--quiet',
                              '--no-events'], capture_output=True, text=True, check=True).stdout
        state = json.loads(run)['state']
        want = {}
        for key, value in state.items():
            flat = numbers(value)
            if len(flat) == 1 and not isinstance(value, list):
                want[key] = flat[0]
            elif not isinstance(value[0], list):
                want.update({f'{key}[{i + 1}]': v for i, v in enumerate(flat)})
        level = '-O0' if text.count('\n') > 10000 else '-O1'  # the same numbers, sooner
        for compiler in compilers:
            binary = os.path.join(temp, 'm')
            build = subprocess.run([compiler, '-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror', level, '-ffp-contract=off', source,
                                    '-o', binary, '-lm'], capture_output=True, text=True)
            if build.returncode:
                say(name, f'{compiler}: {build.stderr[:500]}')
                continue
            out = subprocess.run([binary, '0.5', '0.001'], capture_output=True, text=True)
            got = dict(line.split(' = ') for line in out.stdout.splitlines())
            shared = [k for k in got if k in want]
            # 500 steps; libm and the program's own functions differ in the last bit, the program also normalises quaternions
            for k in shared:
                error = abs(float(got[k]) - want[k]) / max(1, abs(want[k]))
                if not error < 1e-10:
                    say(name, f'{compiler}: {k} = {got[k]}, the program has {want[k]!r}')
            if out.returncode or not shared:
                say(name, f'{compiler}: nothing to compare ({out.stderr.strip()})')
print(f'{"FAILED: " + str(failed) if failed else "all models agree"}')
sys.exit(failed != 0)
