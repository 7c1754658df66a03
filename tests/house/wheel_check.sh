#!/usr/bin/env bash
# Build a wheel and use it outside the tree, with its `notebooks` extra and without. Called by `make wheel-check`.
set -eu
python=${PYTHON:-python3}
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

.venv/bin/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$work" "$root"
wheel=$(echo "$work"/rope_ref-*.whl)
cd "$work"

echo "with the extra:"
"$python" -m venv with
with/bin/python -m pip install --quiet --disable-pip-version-check -c "$root/constraints.txt" "$wheel[notebooks]"
with/bin/python -m rope_course figures --out drawn
[ -n "$(ls drawn)" ] || { echo "no figure was drawn" >&2; exit 1; }

echo "without it:"
"$python" -m venv without
without/bin/python -m pip install --quiet --disable-pip-version-check -c "$root/constraints.txt" "$wheel"
without/bin/python -c "import rope_ref; print('import rope_ref works')"
if without/bin/python -m rope_course figures --out not-drawn >said 2>&1; then
    echo "figures was expected to fail without matplotlib" >&2
    exit 1
fi
cat said
[ "$(wc -l <said)" -eq 1 ] && grep -q 'rope_ref\[notebooks\]' said || { echo "expected one line that names rope_ref[notebooks]" >&2; exit 1; }
without/bin/rope-ref --help >/dev/null
without/bin/rope-course --help >/dev/null
echo "the wheel is good"
