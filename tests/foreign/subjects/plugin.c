/* SPDX-License-Identifier: MIT
 *
 * A plug-in.
 */
unsigned plugin_run(unsigned seed);

unsigned plugin_run(unsigned seed) {
    for (unsigned i = 0; i < 4000000; i++)
        seed = (seed ^ i) * 2654435761u + (seed >> 11);
    return seed;
}
