# Sourced by demo.sh and test.sh: makes the virtual environment and installs hss-monitor.
# Usage: hss_setup EXTRA            (for example: hss_setup embedded)
# HSS_VENV names the environment's folder; PYTHON names the interpreter.

hss_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  echo "Python 3.11 or newer with the venv module is needed: install it, or name it in PYTHON" >&2
  return 1
}

hss_setup() {
  local extra=$1 python stamp
  HSS_VENV=${HSS_VENV:-$HSS_ROOT/.venv}
  if [ ! -x "$HSS_VENV/bin/python" ]; then
    python=$(hss_python) || return 1
    echo "Making the virtual environment $HSS_VENV" >&2
    "$python" -m venv "$HSS_VENV" || return 1
  fi
  stamp=$HSS_VENV/.hss-$extra-$(cat "$HSS_ROOT/pyproject.toml" "$HSS_ROOT/deploy/constraints.txt" | cksum | tr ' ' '-')
  if [ ! -e "$stamp" ]; then
    echo "Installing hss-monitor[$extra]; the first time this takes a few minutes" >&2
    # Its own constraint keeps torch from being resolved to a build for GPUs.
    "$HSS_VENV/bin/python" -m pip install --quiet --disable-pip-version-check \
      --constraint "$HSS_ROOT/deploy/constraints.txt" --editable "$HSS_ROOT[$extra]" >&2 || return 1
    rm -f "$HSS_VENV"/.hss-"$extra"-*
    touch "$stamp"
  fi
}
