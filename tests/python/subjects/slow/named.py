# SPDX-License-Identifier: MIT
import slow

slow.work(0.05)
