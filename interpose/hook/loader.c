/* SPDX-License-Identifier: MIT
 *
 * Libraries that come late and functions found by name: dlopen, dlsym and their kin. The caller
 * must get what it would get without us, so the real functions are called under the caller's name
 * (caller.S); pointers to hooked functions are exchanged for their stubs afterwards.
 */
#include "interpose/hook/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/base/safe.h"
#include "interpose/hook/hook.h"
#include "interpose/hook/object.h"
#include "interpose/hook/source.h"

static struct {
    void *(*dlopen)(const char *, int);
    void *(*dlmopen)(Lmid_t, const char *, int);
    void *(*dlsym)(void *, const char *);
    void *(*dlvsym)(void *, const char *, const char *);
    int (*dlclose)(void *);
} real;

#define CALLING_PAGES 64 /* that dlsym is called from: a `ret` on each is remembered */

static struct {
    int opening; /* calls of dlopen under way, on any thread */
    void (*opened)(void);
} state;

/* Only these look at the caller. */
static int by_caller(void *handle) {
    return handle == RTLD_NEXT || handle == RTLD_DEFAULT;
}

static const void *find_return(const char *caller, uint64_t past) {
    const void *after = memchr(caller, BP_ARCH_RETURN, BP_PAGE - past);
    return after ? after : memchr(caller - past, BP_ARCH_RETURN, past);
}

/* A `ret` on the page of code that called: it is mapped, because it is running, and of the same
 * object. After the caller first: few functions are longer than a page. Whether it can be read,
 * too, is asked of the kernel once. What was found is looked at again, so it need not be forgotten
 * when other code comes to the place. */
static const void *return_on_page(const char *caller) {
    static uint64_t known[CALLING_PAGES];
    uint64_t past = (uint64_t)caller & (BP_PAGE - 1), page = (uint64_t)caller - past;
    uint64_t *place = &known[page / BP_PAGE % CALLING_PAGES];
    const unsigned char *ret = (const unsigned char *)__atomic_load_n(place, __ATOMIC_RELAXED);
    if ((uint64_t)ret - page < BP_PAGE && *ret == BP_ARCH_RETURN)
        return ret;
    if (!bp_safe_ask(page))
        return NULL;
    ret = find_return(caller, past);
    if (ret)
        __atomic_store_n(place, (uint64_t)ret, __ATOMIC_RELAXED);
    return ret;
}

/* A `ret` in the text of the object that called; NULL: call the real function as ourselves. */
static const void *return_of(void *caller) {
    struct bp_elf elf;
    if (bp_shadow_stack())
        return NULL;
    const void *near = return_on_page(caller);
    if (near || !bp_object_at((uint64_t)caller, &elf))
        return near;
    return bp_elf_ret_instruction(&elf, (uint64_t)caller);
}

/* Stubs outlive the handle: an object with hooked functions must stay. */
static void pin(const char *path) {
    real.dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void *wrap_dlopen(const char *path, int flags) {
    const void *ret = return_of(__builtin_return_address(0));
    __atomic_fetch_add(&state.opening, 1, __ATOMIC_SEQ_CST);
    void *handle = ret ? bp_call_as((void *)real.dlopen, ret, (void *)path, (void *)(long)flags, 0)
                       : real.dlopen(path, flags);
    __atomic_fetch_sub(&state.opening, 1, __ATOMIC_SEQ_CST);
    if (handle) {
        bp_object_scan(((struct link_map *)handle)->l_ld, &state.opening);
        bp_object_pin(pin);
        state.opened();
    } else if (path && !(flags & RTLD_NOLOAD)) {
        bp_source_missing(path);
    }
    return handle;
}

static void *wrap_dlsym(void *handle, const char *name) {
    const void *ret = by_caller(handle) ? return_of(__builtin_return_address(0)) : NULL;
    void *found = ret ? bp_call_as((void *)real.dlsym, ret, handle, (void *)name, 0)
                      : real.dlsym(handle, name);
    return found ? bp_hook_pointer(found) : NULL;
}

static void *wrap_dlvsym(void *handle, const char *name, const char *version) {
    const void *ret = by_caller(handle) ? return_of(__builtin_return_address(0)) : NULL;
    void *found = ret ? bp_call_as((void *)real.dlvsym, ret, handle, (void *)name, (void *)version)
                      : real.dlvsym(handle, name, version);
    return found ? bp_hook_pointer(found) : NULL;
}

static int wrap_dlclose(void *handle) {
    bp_object_closing(1);
    int result = real.dlclose(handle);
    bp_object_scan_closed();
    bp_object_closing(-1);
    return result;
}

static const struct bp_wrap wraps[] = {
    BP_WRAP(dlopen),
    BP_WRAP(dlsym),
    BP_WRAP(dlvsym),
    BP_WRAP(dlclose),
};

void bp_loader_init(void (*opened)(void)) {
    state.opened = opened;
    bp_hook_wraps(wraps, sizeof wraps / sizeof *wraps);
}
