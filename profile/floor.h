/* SPDX-License-Identifier: MIT
 *
 * The versions of libc's functions that glibc has had on x86-64 from the beginning. They do the
 * same as the newest ones, of which a linker would take those of the machine that it runs on; with
 * these, what is built today loads with glibc 2.17, too. Included by the build (-include) where a
 * shared object for other machines is made; such an object names libpthread and libdl, where these
 * functions were before glibc 2.34.
 */
#ifndef BP_PROFILE_FLOOR_H
#define BP_PROFILE_FLOOR_H

#if defined(__x86_64__) && defined(__linux__)
#    define BP_OLDEST(name, version) __asm__(".symver " #    name "," #    name "@GLIBC_" version)
BP_OLDEST(dladdr, "2.2.5");
BP_OLDEST(dlerror, "2.2.5");
BP_OLDEST(dlopen, "2.2.5");
BP_OLDEST(dlsym, "2.2.5");
BP_OLDEST(pthread_condattr_setclock, "2.3.3");
BP_OLDEST(pthread_create, "2.2.5");
BP_OLDEST(pthread_detach, "2.2.5");
BP_OLDEST(pthread_once, "2.2.5");
BP_OLDEST(pthread_sigmask, "2.2.5");
#    undef BP_OLDEST
#endif

#endif
