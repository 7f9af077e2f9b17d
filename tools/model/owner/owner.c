/* SPDX-License-Identifier: MIT
 *
 * Whose functions are. Python's by their files, native ones by the object that they are in.
 */
#include "tools/model/owner/owner.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/stack.h"

/* Where code lies that was installed: every other folder of a Python file is the user's. */
static const char *const packages[] = {"/site-packages/", "/dist-packages/"};
static const char *const standard[] = {"/lib/python3", "/lib64/python3", "/lib-dynload/"};
static const char *const system_folders[] = {
    "/usr/lib/", "/usr/lib64/", "/usr/share/", "/lib/",  "/lib64/",        "/usr/libexec/",
    "/usr/bin/", "/usr/sbin/",  "/bin/",       "/sbin/", "/usr/local/lib/"};
/* Too high to be somebody's own: half of a machine is below these. */
static const char *const high_folders[] = {"",     "/usr",       "/usr/local", "/home", "/root",
                                           "/tmp", "/opt",       "/var",       "/mnt",  "/etc",
                                           "/srv", "/usr/games", "/run"};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct search {
    struct bp_model *model;
    char **trees; /* folders with the user's native code */
    uint32_t tree_count;
    const char *package; /* that python -m ran, among those that are installed; its folder */
    size_t package_size;
    const char *program; /* its path */
    bool reads_python;   /* some of Python's frames could be read */
};

static bool has_any(const char *path, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strstr(path, words[i]))
            return true;
    return false;
}

static bool begins_with_any(const char *path, const char *const *folders, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

/* BP_OWNER_USER where no name of a folder says otherwise. */
static enum bp_owner owner_of_place(const char *path) {
    if (has_any(path, packages, COUNT(packages)))
        return BP_OWNER_LIBRARY;
    if (strncmp(path, "<frozen", 7) == 0 || has_any(path, standard, COUNT(standard)))
        return BP_OWNER_STANDARD;
    return begins_with_any(path, system_folders, COUNT(system_folders)) ? BP_OWNER_LIBRARY
                                                                        : BP_OWNER_USER;
}

bool bp_owner_may_be_user(const struct bp_function *function) {
    const char *place = function->module[0] ? function->file : function->path;
    bool starter = function->module[0] && strstr(place, "/bin/"); /* pytest, flask */
    return !starter &&
           (function->script || (place[0] == '/' && owner_of_place(place) == BP_OWNER_USER));
}

static void add_tree(struct search *search, const char *folder, size_t length) {
    while (length > 0 && folder[length - 1] == '/')
        length--;
    char *tree = bp_make_text("%.*s", (int)length, folder);
    bool known = length > 0 && tree[0] != '/';
    for (size_t i = 0; i < COUNT(high_folders); i++)
        known |= strcmp(tree, high_folders[i]) == 0;
    for (uint32_t i = 0; i < search->tree_count; i++)
        known |= strcmp(tree, search->trees[i]) == 0;
    if (known)
        free(tree);
    else
        *BP_APPEND(search->trees, search->tree_count) = tree;
}

/* What is installed beside a program has its libraries in ../lib. */
static void add_program(struct search *search, const char *path) {
    size_t length = (size_t)(bp_base_name(path) - path);
    if (bp_stack_code(bp_base_name(path)) != BP_CODE_PROGRAM ||
        begins_with_any(path, system_folders, COUNT(system_folders)))
        return;
    if (length >= 5 && strncmp(path + length - 5, "/bin/", 5) == 0)
        length -= 4;
    add_tree(search, path, length);
}

static void find_trees(struct search *search) {
    const struct bp_model *model = search->model;
    for (uint32_t i = 0; i < model->session_count; i++) {
        const struct bp_header *header = &model->sessions[i].profile->header;
        add_tree(search, header->project, strlen(header->project));
    }
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *header = &model->processes[i].profile->header;
        add_tree(search, header->directory, strlen(header->directory));
        add_program(search, header->executable);
    }
}

static bool is_in_tree(const struct search *search, const char *path) {
    for (uint32_t i = 0; i < search->tree_count; i++) {
        size_t length = strlen(search->trees[i]);
        if (strncmp(path, search->trees[i], length) == 0 && path[length] == '/')
            return true;
    }
    return false;
}

/* The program that was asked for, after what only prepared it (env, a shell that looks for it). */
static const char *main_program(const struct bp_model *model) {
    const char *path = "";
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct bp_header *header = &model->processes[i].profile->header;
        if (header->pid == model->processes[0].profile->header.pid)
            path = header->executable;
    }
    return path;
}

static bool reads_python(const struct bp_model *model) {
    for (uint32_t i = 0; i < model->function_count; i++)
        if (model->functions[i].module[0] && model->functions[i].on_stacks)
            return true;
    return false;
}

static enum bp_owner owner_of_native(const struct search *search,
                                     const struct bp_function *function) {
    enum bp_code code = bp_stack_code(function->library);
    if (code == BP_CODE_INTERPRETER)
        return search->reads_python ? BP_OWNER_STANDARD : BP_OWNER_UNKNOWN;
    if (code == BP_CODE_RUNTIME)
        return BP_OWNER_STANDARD;
    if (!function->path[0]) /* code that the program made is sampled, never intercepted */
        return function->calls ? BP_OWNER_UNKNOWN : BP_OWNER_USER;
    if (strcmp(function->path, search->program) == 0)
        return BP_OWNER_USER;
    enum bp_owner place = owner_of_place(function->path);
    if (place != BP_OWNER_USER)
        return place;
    return is_in_tree(search, function->path) ? BP_OWNER_USER : BP_OWNER_LIBRARY;
}

/* Code that was made from a text belongs to whom the rest of its module belongs to. */
static enum bp_owner owner_of_text(const struct bp_model *model,
                                   const struct bp_function *function) {
    size_t length = strcspn(function->module, ".");
    for (uint32_t i = 0; i < model->function_count; i++) {
        const struct bp_function *other = &model->functions[i];
        if (other->file[0] == '/' && strncmp(other->module, function->module, length) == 0 &&
            strchr(".", other->module[length]))
            return owner_of_place(other->file);
    }
    return BP_OWNER_UNKNOWN;
}

static enum bp_owner owner_of_python(const struct search *search,
                                     const struct bp_function *function) {
    if (function->script ||
        (search->package && strncmp(function->file, search->package, search->package_size) == 0))
        return BP_OWNER_USER;
    if (!function->file[0]) /* Python's own code for imports has none */
        return strcmp(function->group, BP_GROUP_IMPORT) == 0 ? BP_OWNER_STANDARD : BP_OWNER_UNKNOWN;
    if (function->file[0] == '<' && strncmp(function->file, "<frozen", 7) != 0)
        return owner_of_text(search->model, function);
    return owner_of_place(function->file);
}

/* Only samples show whose a thread's own code is, unless all of the program is alien. */
static enum bp_owner owner_of(const struct search *search, const struct bp_function *function) {
    if (function->kind == BP_FUNC_FOLDED)
        return BP_OWNER_UNKNOWN;
    if (function->category == BP_DSL)
        return BP_OWNER_USER;
    if (function->module[0])
        return owner_of_python(search, function);
    enum bp_owner owner = owner_of_native(search, function);
    if (function->kind == BP_FUNC_ROOT && owner != BP_OWNER_LIBRARY)
        return BP_OWNER_UNKNOWN;
    return owner;
}

static void set_owners(struct search *search) {
    for (uint32_t i = 0; i < search->model->function_count; i++)
        search->model->functions[i].owner = owner_of(search, &search->model->functions[i]);
}

/* "/x/site-packages/pkg/" of "/x/site-packages/pkg/sub/__main__.py"; 0 of what is no package. */
static size_t package_size(const char *file) {
    for (size_t i = 0; i < COUNT(packages); i++) {
        const char *at = strstr(file, packages[i]);
        const char *slash = at ? strchr(at + strlen(packages[i]), '/') : NULL;
        if (slash)
            return (size_t)(slash + 1 - file);
    }
    return 0;
}

/* python -m PACKAGE of an installed one is about that package, where nothing else is the user's:
 * with pytest or flask it is only what starts the user's code. */
static bool find_package(struct search *search) {
    for (uint32_t i = 0; i < search->model->function_count; i++) {
        const struct bp_function *function = &search->model->functions[i];
        size_t size = function->script ? package_size(function->file) : 0;
        bool seen = function->on_stacks || bp_function_used(function);
        if (size) {
            search->package = function->file;
            search->package_size = size;
        } else if (seen && function->module[0] && function->owner == BP_OWNER_USER) {
            search->package = NULL;
            return false;
        }
    }
    return search->package != NULL;
}

void bp_model_find_owners(struct bp_model *model) {
    struct search search = {
        .model = model, .program = main_program(model), .reads_python = reads_python(model)};
    find_trees(&search);
    set_owners(&search);
    if (find_package(&search))
        set_owners(&search);
    for (uint32_t i = 0; i < search.tree_count; i++)
        free(search.trees[i]);
    free(search.trees);
}
