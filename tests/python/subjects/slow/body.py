# SPDX-License-Identifier: MIT
import dsl
import slow

slow.work(0.05)
worked = dsl.apply(slow.work, [0.05])[0]
