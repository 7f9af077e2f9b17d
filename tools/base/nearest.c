/* SPDX-License-Identifier: MIT
 *
 * Restricted Damerau-Levenshtein distance: swapped neighbours are the commonest slip of all.
 */
#include "tools/base/nearest.h"

#include <string.h>

#define LONGEST 63 /* words longer than this are no typing slips of ours */

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Letters to insert, delete, replace or swap with a neighbour. */
static size_t edit_distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST)
        return rows + columns;
    size_t d[3][LONGEST + 1]; /* the last three rows */
    for (size_t j = 0; j <= columns; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *row = d[i % 3], *above = d[(i + 2) % 3], *above2 = d[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(replaced, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    return d[rows % 3][columns];
}

static size_t common_beginning(const char *a, const char *b) {
    size_t length = 0;
    while (a[length] && a[length] == b[length])
        length++;
    return length;
}

void bp_nearest_offer(struct bp_nearest *nearest, const char *candidate) {
    size_t length = strlen(nearest->word), distance = edit_distance(nearest->word, candidate);
    size_t alike = common_beginning(nearest->word, candidate);
    if (length >= 2 && alike == length)
        distance = 1; /* a beginning of the word is as good as one slip */
    if (distance * 2 > length + 1)
        return;
    if (nearest->best && (distance > nearest->distance ||
                          (distance == nearest->distance && alike <= nearest->alike)))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
    nearest->alike = alike;
}
