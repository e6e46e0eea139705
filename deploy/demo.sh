#!/usr/bin/env bash
# Runs the whole product on this machine: ./deploy/demo.sh [--once] [--json] [more of `hss-monitor demo`]
set -euo pipefail
HSS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/setup.sh
source "$HSS_ROOT/deploy/setup.sh"
hss_setup embedded
export HF_HUB_OFFLINE=1
exec "$HSS_VENV/bin/hss-monitor" demo "$@"
