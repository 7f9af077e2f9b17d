/* SPDX-License-Identifier: MIT
 *
 * What the devices are called, asked of the driver from our own thread once records come in, and
 * why there are none if CUPTI refuses to work.
 */
#include "cuda/device.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#include "cuda/cupti/cupti.h"
#include "cuda/internal.h"
#include "cuda/sums.h"
#include "cuda/table.h"

#define NAME_SIZE 128

static int is_simulation(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    return strstr(info->dlpi_name, "libbattprofsim.so") != NULL;
}

static void describe(uint32_t index, const char *name, uint64_t memory, int simulated) {
    uint64_t mask = bp_lock(&bp_cuda.lock);
    uint32_t at = bp_cuda_table_get(&bp_sums.devices, &index);
    struct bp_device *device = at == BP_CUDA_NONE ? NULL : bp_sums.devices.items[at];
    if (device) {
        uint64_t inner = bp_lock(&bp_process.lock);
        device->name = bp_writer_string(&bp_process.writer, name);
        bp_unlock(&bp_process.lock, inner);
        device->memory = memory;
        device->flags |= simulated ? BP_DEVICE_SIMULATED : 0;
    }
    bp_unlock(&bp_cuda.lock, mask);
}

int bp_device_count(void) {
    int (*get)(int *) = bp_cupti_symbol(bp_cupti_loaded("libcuda.so.1"), "cuDeviceGetCount");
    int count = 0;
    if (!get || get(&count) != 0)
        return 0;
    return count < BP_ATTRIBUTE_DEVICES ? count : BP_ATTRIBUTE_DEVICES;
}

void bp_device_describe(void) {
    void *driver = bp_cupti_loaded("libcuda.so.1");
    int (*get_name)(char *, int, int) = bp_cupti_symbol(driver, "cuDeviceGetName");
    int (*get_memory)(size_t *, int) = bp_cupti_symbol(driver, "cuDeviceTotalMem_v2");
    int (*get_version)(int *) = bp_cupti_symbol(driver, "cuDriverGetVersion");
    int count = bp_device_count(), version = 0, simulated = dl_iterate_phdr(is_simulation, NULL);
    for (int i = 0; i < count; i++) {
        char name[NAME_SIZE] = "";
        size_t memory = 0;
        if (!get_name || get_name(name, sizeof name, i) != 0)
            continue;
        if (get_memory && get_memory(&memory, i) != 0)
            memory = 0;
        describe((uint32_t)i, name, memory, simulated);
    }
    if (get_version && get_version(&version) == 0)
        bp_sums.collector->driver_version = (uint32_t)version;
    bp_sums.collector->flags |= simulated ? BP_COLLECTOR_SIMULATED : 0;
}

/* Device nodes of a Linux driver, of WSL, of Tegra. A headless machine may lack them until the
 * driver's first start, so the library counts as well; it is opened only where they are missing. */
int bp_device_may_exist(void) {
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        if (BP_SYS2(SYS_access, nodes[i], 0) == 0)
            return 1;
    return bp_cupti_find("libcuda.so.1") != NULL;
}

/* Only asked when CUPTI has failed already: a driver that can start would have been started by the
 * target's own call. */
int bp_device_has_driver(void) {
    void *driver = bp_cupti_loaded("libcuda.so.1");
    int (*start)(unsigned) = bp_cupti_symbol(driver, "cuInit");
    return start && start(0) == 0;
}
