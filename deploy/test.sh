#!/usr/bin/env bash
# Installs what the tests need and runs them: ./deploy/test.sh [more of pytest]
set -euo pipefail
HSS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$HSS_ROOT"
# shellcheck source=deploy/setup.sh
source deploy/setup.sh

missing=()
command -v promtool >/dev/null 2>&1 || missing+=(prometheus)
command -v amtool >/dev/null 2>&1 || missing+=(prometheus-alertmanager)
if ! command -v initdb >/dev/null 2>&1 && ! [ -x "$(pg_config --bindir 2>/dev/null)/initdb" ] \
  && ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; then
  missing+=(postgresql)
fi
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing+=(chromium)
command -v chromedriver >/dev/null 2>&1 || missing+=(chromium-driver)
command -v npm >/dev/null 2>&1 || missing+=(npm) # brings axe-core, which checks accessibility
if [ ${#missing[@]} -gt 0 ]; then
  installed=no
  if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "Installing ${missing[*]} with apt-get" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2 || true # one of several sources may be away
    if apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2; then
      installed=yes
    fi
  fi
  if [ "$installed" = no ]; then
    echo "These programs are missing, and the tests that need them will be skipped: ${missing[*]}" >&2
    echo "Install them with your package manager (on Debian: sudo apt-get install ${missing[*]})" >&2
  fi
fi

hss_setup test
export HF_HUB_OFFLINE=1 PATH="$HSS_VENV/bin:$PATH"
ruff check .
ruff format --check .
mypy
lint-imports
exec pytest --cov --cov-report=term:skip-covered "$@"
