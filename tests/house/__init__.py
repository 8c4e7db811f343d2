"""The house rules as tests: architecture, tidiness, and docs that are true."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
