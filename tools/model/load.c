/* SPDX-License-Identifier: MIT
 *
 * Which profiles make up the run: all of a directory, or of the directories in it; or one file, and
 * with it those beside it whose processes shared its wall page. A file that cannot be read is a
 * note as long as another one can: half of a run is worth showing.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/memory.h"
#include "tools/model_internal.h"
#include "tools/text.h"

struct loader {
    struct bp_model *model;
    const char *directory;
    const struct bp_model_process *root; /* only files of its tree, if not NULL */
    char first_error[400];
};

static int load_file(struct bp_model *model, const char *path, struct bp_read_error *error) {
    struct bp_profile *profile;
    int result = bp_profile_read(path, &profile, error);
    if (result)
        return result;
    bool session = profile->header.flags & BP_SESSION;
    struct bp_model_process *process = session ? BP_APPEND(model->sessions, model->session_count)
                                               : BP_APPEND(model->processes, model->process_count);
    process->profile = profile;
    process->path = bp_copy_text(path);
    if (profile->missing[0])
        bp_model_note(model, "%s: %s", bp_base_name(path), profile->missing);
    return 0;
}

static int is_profile_name(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 3 && strcmp(entry->d_name + length - 3, ".bp") == 0;
}

/* A younger run may reuse the root's pid and so its file name: the times tell them apart. */
static bool shares_tree(const struct loader *loader, const char *path) {
    struct bp_header header;
    struct bp_read_error error;
    const struct bp_header *root = &loader->root->profile->header;
    if (bp_profile_read_header(path, &header, &error))
        return false;
    return strcmp(bp_base_name(header.tree), bp_base_name(loader->root->path)) == 0 &&
           strcmp(header.boot_id, root->boot_id) == 0 &&
           header.first.realtime_ns >= root->first.realtime_ns;
}

static void load_entry(struct loader *loader, const char *name) {
    char path[4096];
    struct bp_read_error error;
    snprintf(path, sizeof(path), "%s/%s", loader->directory, name);
    if (loader->root &&
        (strcmp(name, bp_base_name(loader->root->path)) == 0 || !shares_tree(loader, path)))
        return;
    if (load_file(loader->model, path, &error) == 0)
        return;
    bp_model_note(loader->model, "%s left out: %s", name, error.text);
    if (!loader->first_error[0])
        snprintf(loader->first_error, sizeof(loader->first_error), "%.140s: %s", path, error.text);
}

static int load_directory(struct loader *loader) {
    struct dirent **names;
    int count = scandir(loader->directory, &names, is_profile_name, alphasort);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        load_entry(loader, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    return 0;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Runs side by side, each in a directory: ranks, machines; `battprof merge` makes such a one. */
static void load_directories(struct loader *loader) {
    const char *above = loader->directory;
    struct dirent **names;
    int count = scandir(above, &names, is_visible, versionsort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        struct stat status;
        snprintf(path, sizeof(path), "%s/%s", above, names[i]->d_name);
        loader->directory = path;
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            load_directory(loader);
        free(names[i]);
    }
    loader->directory = above;
    if (count >= 0)
        free(names);
}

static int load_whole_directory(struct bp_model *model, struct bp_error *error) {
    struct loader loader = {.model = model, .directory = model->path};
    int result = load_directory(&loader);
    if (result)
        return bp_error_set(error, BP_FAILED, "%s: %s", model->path, strerror(-result));
    if (model->process_count + model->session_count == 0)
        load_directories(&loader);
    if (model->process_count + model->session_count > 0)
        return 0;
    if (loader.first_error[0])
        return bp_error_set(error, BP_FAILED, "%s", loader.first_error);
    return bp_error_set(error, BP_FAILED,
                        "%s: no profile (*.bp) in it; make one: battprof run -- COMMAND",
                        model->path);
}

/* The files beside a root: its children, and the programs that it became through exec. */
static void load_tree_members(struct bp_model *model) {
    struct bp_model_process root = model->session_count ? model->sessions[0] : model->processes[0];
    if (!root.profile->tree)
        return;
    char directory[4096];
    snprintf(directory, sizeof(directory), "%s", root.path);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = 0;
    else
        snprintf(directory, sizeof(directory), ".");
    struct loader loader = {.model = model, .directory = directory, .root = &root};
    load_directory(&loader);
}

static int compare_start(const void *a, const void *b) {
    const struct bp_header *x = &((const struct bp_model_process *)a)->profile->header;
    const struct bp_header *y = &((const struct bp_model_process *)b)->profile->header;
    if (x->first.realtime_ns != y->first.realtime_ns)
        return x->first.realtime_ns < y->first.realtime_ns ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

int bp_model_load(struct bp_model *model, struct bp_error *error) {
    struct stat status;
    struct bp_read_error why;
    if (stat(model->path, &status))
        return bp_error_set(error, BP_FAILED, "%s: %s%s", model->path, strerror(errno),
                            errno == ENOENT ? "; battprof run -o DIR -- COMMAND makes a profile, "
                                              "battprof report without a name finds the last one"
                                            : "");
    if (S_ISDIR(status.st_mode)) {
        if (load_whole_directory(model, error))
            return -1;
    } else {
        if (load_file(model, model->path, &why))
            return bp_error_set(error, BP_FAILED, "%s: %s", model->path, why.text);
        load_tree_members(model);
    }
    if (model->process_count)
        qsort(model->processes, model->process_count, sizeof(*model->processes), compare_start);
    return 0;
}
