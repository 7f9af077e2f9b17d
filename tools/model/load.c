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

#include "tools/base/invoked.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/internal.h"

struct loader {
    struct bp_model *model;
    const char *directory;
    const struct bp_model_process *root; /* only files of its tree, if not NULL */
    char *first_error;                   /* NULL: none */
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

static void load_entry(struct loader *loader, const char *path, const char *name) {
    struct bp_read_error error;
    if (loader->root &&
        (strcmp(name, bp_base_name(loader->root->path)) == 0 || !shares_tree(loader, path)))
        return;
    if (load_file(loader->model, path, &error) == 0)
        return;
    *BP_APPEND(loader->model->run.left_out, loader->model->run.left_out_count) =
        (struct bp_left_out){bp_copy_text(name), bp_copy_text(error.text)};
    if (!loader->first_error)
        loader->first_error = bp_make_text("%s: %s", path, error.text);
}

static int load_directory(struct loader *loader) {
    struct dirent **names;
    int count = scandir(loader->directory, &names, is_profile_name, alphasort);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        char *path = bp_make_text("%s/%s", loader->directory, names[i]->d_name);
        load_entry(loader, path, names[i]->d_name);
        free(path);
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
        char *path = bp_make_text("%s/%s", above, names[i]->d_name);
        struct stat status;
        loader->directory = path;
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            load_directory(loader);
        free(path);
        free(names[i]);
    }
    loader->directory = above;
    if (count >= 0)
        free(names);
}

static int load_whole_directory(struct bp_model *model, struct bp_error *error) {
    struct loader loader = {.model = model, .directory = model->run.path};
    int result = load_directory(&loader);
    if (result)
        return bp_error_set(error, BP_FAILED, "%s: %s", model->run.path, strerror(-result));
    if (model->process_count + model->session_count == 0)
        load_directories(&loader);
    if (model->process_count + model->session_count == 0 && loader.first_error)
        result = bp_error_set(error, BP_FAILED, "%s", loader.first_error);
    else if (model->process_count + model->session_count == 0)
        result = bp_error_set(error, BP_FAILED,
                              "%s: no profile (*.bp) in it; how to make one:\n%s help run",
                              model->run.path, bp_invoked());
    free(loader.first_error);
    return result;
}

/* The files beside a root: its children, and the programs that it became through exec. */
static void load_tree_members(struct bp_model *model) {
    struct bp_model_process root = model->session_count ? model->sessions[0] : model->processes[0];
    if (!root.profile->tree)
        return;
    const char *name = bp_base_name(root.path);
    int length = (int)(name - root.path);
    char *directory = bp_make_text("%.*s", length > 1 ? length - 1 : 1, length ? root.path : ".");
    struct loader loader = {.model = model, .directory = directory, .root = &root};
    load_directory(&loader);
    free(loader.first_error);
    free(directory);
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
    if (stat(model->run.path, &status))
        return bp_error_set(error, BP_FAILED, "%s: %s%s%s%s", model->run.path, strerror(errno),
                            errno == ENOENT ? "; how to make a profile:\n" : "",
                            errno == ENOENT ? bp_invoked() : "",
                            errno == ENOENT ? " help run" : "");
    if (S_ISDIR(status.st_mode)) {
        if (load_whole_directory(model, error))
            return -1;
    } else {
        if (load_file(model, model->run.path, &why))
            return bp_error_set(error, BP_FAILED, "%s: %s", model->run.path, why.text);
        load_tree_members(model);
    }
    if (model->process_count)
        qsort(model->processes, model->process_count, sizeof(*model->processes), compare_start);
    return 0;
}

/* A session keeps them as a text. */
static const char *kept_rules(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->session_count; i++) {
        const char *text = bp_profile_variable(model->sessions[i].profile, BP_RULES_VARIABLE);
        if (text[0])
            return text;
    }
    return "";
}

void bp_model_choose_rules(struct bp_model *model, const struct bp_rules *given) {
    struct bp_error error = {0};
    const char *text = bp_rules_is_given(given) ? "" : kept_rules(model);
    struct bp_rules *kept = text[0] ? bp_rules_parse(text, "rules of the run", &error) : NULL;
    if (text[0] && !kept) {
        struct bp_left_out *left_out = BP_APPEND(model->run.left_out, model->run.left_out_count);
        left_out->name = bp_copy_text("the rules of the run");
        left_out->reason = bp_copy_text(error.text);
    }
    model->rules = bp_rules_join(kept ? kept : given, bp_model_variable(model, "BATTPROF_DSL"));
    bp_rules_free(kept);
    bp_error_fini(&error);
}
