/* SPDX-License-Identifier: MIT
 *
 * dlopen, dlsym, dlclose and their relatives; one mode per case. Arguments: MODE [LIBRARY…].
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

typedef int step(int);

static void *open_or_die(const char *path, int flags) {
    void *library = dlopen(path, flags);
    if (!library) {
        printf("dlopen: %s\n", dlerror());
        exit(4);
    }
    return library;
}

static step *find(void *library, const char *name) {
    step *f = (step *)dlsym(library, name);
    if (!f) {
        printf("dlsym: %s\n", dlerror());
        exit(5);
    }
    return f;
}

static int repeat(step *f, int times) {
    int sum = 0;
    for (int i = 0; i < times; i++)
        sum += f(i);
    return sum;
}

static void late(const char *path, int flags) {
    void *library = open_or_die(path, flags);
    printf("step %d\n", repeat(find(library, "late_step"), 100));
    printf("both %d\n", repeat(find(library, "late_both"), 50));
    printf("main %d\n", work_add(1, 2));
}

static void twins(char **paths) {
    step *a = find(open_or_die(paths[0], RTLD_NOW | RTLD_LOCAL), "late_step");
    step *b = find(open_or_die(paths[1], RTLD_NOW | RTLD_LOCAL), "late_step");
    printf("differ %d\n", a != b);
    printf("a %d b %d\n", repeat(a, 30), repeat(b, 70));
}

static void reopen(const char *path) {
    for (int i = 0; i < 5; i++) {
        void *library = open_or_die(path, RTLD_NOW);
        printf("round %d: %d\n", i, repeat(find(library, "late_both"), 10));
        fflush(stdout);
        printf("close %d\n", dlclose(library));
        fflush(stdout);
    }
    void *left = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (strstr(path, "plain")) /* a hooked library is pinned, which is documented */
        printf("left %d\n", left != NULL);
}

static void default_scope(void) {
    work_binary *add = (work_binary *)dlsym(RTLD_DEFAULT, "work_add");
    void *self = dlopen(NULL, RTLD_NOW);
    work_binary *same = (work_binary *)dlsym(self, "work_add");
    printf("same %d linked %d\n", add == same, add == work_add);
    for (int i = 0; i < 10; i++)
        printf("%d\n", add(i, i));
    printf("missing %d\n", dlsym(RTLD_DEFAULT, "no_such_function") == NULL);
    printf("%s\n", dlerror());
    printf("clear %d\n", dlerror() == NULL);
    int *data = (int *)dlsym(RTLD_DEFAULT, "environ");
    printf("data %d\n", data != NULL);
    printf("puts %d\n", dlsym(RTLD_DEFAULT, "puts") != NULL);
}

static void errors(void) {
    printf("%d\n", dlopen("/nonexistent/libdsl.so", RTLD_NOW) == NULL);
    printf("%s\n", dlerror());
    printf("%d\n", dlopen("libdsl_none.so", RTLD_LAZY) == NULL);
    printf("%s\n", dlerror());
    printf("%d\n", dlopen("/etc/passwd", RTLD_LAZY) == NULL);
    printf("%s\n", dlerror());
    printf("%d\n", dlsym(RTLD_NEXT, "main_is_last_but_no_such") == NULL);
    printf("%s\n", dlerror());
    printf("%d\n", dlclose((void *)dlopen(NULL, RTLD_NOW)));
}

/* dladdr of a hooked function may name the stub's library; it must work and not crash. */
static void addresses(void) {
    Dl_info info;
    memset(&info, 0, sizeof info);
    int found = dladdr((void *)work_add, &info);
    printf("found %d\n", found != 0);
    fprintf(stderr, "dladdr: %s in %s\n", info.dli_sname, info.dli_fname);
    found = dladdr((void *)open_or_die, &info);
    printf("own %d\n", found != 0 && strstr(info.dli_fname, "loader") != NULL);
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size;
    if (strstr(info->dlpi_name, "plain"))
        ++*(int *)arg;
    return 0;
}

static void namespaces(const char *path) {
    void *library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    if (!library) {
        printf("dlmopen: %s\n", dlerror());
        return;
    }
    printf("step %d\n", repeat(find(library, "late_step"), 3));
    int objects = 0;
    dl_iterate_phdr(count_objects, &objects);
    printf("visible %d\n", objects);
}

static pthread_barrier_t barrier;

static void *open_in_thread(void *path) {
    long sum = 0;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 20; i++) {
        void *library = open_or_die(path, RTLD_NOW | RTLD_LOCAL);
        sum += repeat(find(library, "late_both"), 10);
        dlclose(library);
    }
    return (void *)sum;
}

static void race(char **paths, int count) {
    pthread_t threads[8];
    long sum = 0;
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, open_in_thread, paths[i % count]);
    for (int i = 0; i < 8; i++) {
        void *part;
        pthread_join(threads[i], &part);
        sum += (long)part;
    }
    printf("race %ld\n", sum);
}

static void many(char **paths, int count, int flags) {
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum += repeat(find(open_or_die(paths[i], flags), "late_both"), 1 + i % 3);
    printf("many %d %ld\n", count, sum);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    char **paths = argv + 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(mode, "now"))
        late(paths[0], RTLD_NOW);
    else if (!strcmp(mode, "lazy"))
        late(paths[0], RTLD_LAZY);
    else if (!strcmp(mode, "global"))
        late(paths[0], RTLD_LAZY | RTLD_GLOBAL);
    else if (!strcmp(mode, "twins"))
        twins(paths);
    else if (!strcmp(mode, "reopen"))
        reopen(paths[0]);
    else if (!strcmp(mode, "default"))
        default_scope();
    else if (!strcmp(mode, "errors"))
        errors();
    else if (!strcmp(mode, "dladdr"))
        addresses();
    else if (!strcmp(mode, "dlmopen"))
        namespaces(paths[0]);
    else if (!strcmp(mode, "race"))
        race(paths, argc - 2);
    else if (!strcmp(mode, "many"))
        many(paths, argc - 2, RTLD_NOW | RTLD_LOCAL);
    else if (!strcmp(mode, "noload"))
        many(paths, argc - 2, RTLD_NOW | RTLD_NOLOAD);
    else if (!strcmp(mode, "next")) {
        for (int i = 0; i < 6; i++)
            printf("%d\n", work_sub(i, 2));
    } else if (!strcmp(mode, "opener"))
        printf("%d\n", find(open_or_die(paths[0], RTLD_NOW), "opener_open")(7));
    else
        return 2;
    return 0;
}
