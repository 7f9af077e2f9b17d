# SPDX-License-Identifier: MIT
"""A package that is run with python -m."""
