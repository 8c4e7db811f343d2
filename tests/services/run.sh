#!/usr/bin/env bash
# Runs a command with PostgreSQL and Redis beside it: DATABASE_URL and REDIS_URL lead there. Both go with the command.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec .venv/bin/python -m tests.services "$@"
