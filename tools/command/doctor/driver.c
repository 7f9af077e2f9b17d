/* SPDX-License-Identifier: MIT
 *
 * See driver.h. Uses libc alone.
 */
#include "tools/command/doctor/driver.h"

#include <dlfcn.h>

void bp_driver_ask(struct bp_driver *driver) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    *driver = (struct bp_driver){.state = BP_DRIVER_ABSENT};
    if (!library)
        return;
    int (*get_version)(int *) = (int (*)(int *))dlsym(library, "cuDriverGetVersion");
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
    int (*count)(int *) = (int (*)(int *))dlsym(library, "cuDeviceGetCount");
    driver->state = BP_DRIVER_FAILED;
    if (get_version && init && count &&
        !(get_version(&driver->version) | init(0) | count(&driver->devices)))
        driver->state = BP_DRIVER_FINE;
}
