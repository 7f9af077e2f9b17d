/* SPDX-License-Identifier: MIT
 *
 * See driver.h. The program is run from memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/base/text.h"
#include "tools/command/doctor/doctor.h"
#include "tools/command/doctor/driver.h"
#include "tools/run/carried.h"

void bp_driver_ask(struct bp_driver *driver) {
    struct bp_carried program;
    int fd = bp_carried_find("driver", &program) ? bp_carried_hold(&program) : -1;
    *driver = (struct bp_driver){.state = BP_DRIVER_UNKNOWN};
    if (fd < 0)
        return;
    char *path = bp_make_text("/proc/%d/fd/%d", getpid(), fd);
    char *answer = bp_doctor_read((const char *const[]){path, NULL}, false);
    if (!answer ||
        sscanf(answer, "%d %d %d", &driver->state, &driver->version, &driver->devices) != 3)
        driver->state = BP_DRIVER_UNKNOWN;
    close(fd);
    free(answer);
    free(path);
}
