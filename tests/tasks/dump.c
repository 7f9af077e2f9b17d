/* SPDX-License-Identifier: MIT
 *
 * dump FILE...: the tasks of profiles as JSON, one object per file, for the cases to look at. All
 * times in seconds.
 */
#include <stdio.h>
#include <string.h>

#include "profile/reader.h"

static double rate;

static double seconds(uint64_t ticks) {
    return (double)ticks / rate;
}

static void print_text(const char *name, const char *text, const char *after) {
    printf("\"%s\": \"", name);
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\"%s", after);
}

static const char *func_name(const struct bp_profile *profile, uint32_t func) {
    return func < profile->func_count ? bp_profile_string(profile, profile->funcs[func].name) : "";
}

static void print_node(const struct bp_profile *profile, const struct bp_profile_thread *thread,
                       uint32_t node, uint64_t calls, uint64_t self, int first) {
    printf("%s{\"node\": %u, ", first ? "" : ", ", node);
    print_text("func", func_name(profile, thread->nodes[node].func), ", ");
    printf("\"calls\": %llu, \"self\": %.9f}", (unsigned long long)calls, seconds(self));
}

static void print_task(const struct bp_profile *profile, const struct bp_task *task) {
    const struct bp_profile_thread *thread = bp_profile_thread_at(profile, task->thread);
    printf("  {");
    print_text("func", func_name(profile, task->func), ", ");
    print_text("id", bp_profile_string(profile, task->id), ", ");
    print_text("name", bp_profile_string(profile, task->name), ", ");
    printf("\"thread\": %d, \"life\": %u, \"flags\": %u, \"parent\": %d, \"start\": %.9f, "
           "\"length\": %.9f, \"part\": %.9f, \"wait\": %.9f, \"io\": %.9f, \"cpu\": %.9f, "
           "\"samples\": %llu, \"cuda\": %.9f, \"transfer\": %.9f, \"kernel_wait\": %.9f, "
           "\"nodes\": [",
           (int)task->thread, task->life, task->flags, (int)task->parent,
           seconds(task->start - profile->header.start), seconds(task->end - task->start),
           seconds(task->part >> BP_TREE_V_SHIFT), seconds(task->wait), seconds(task->io),
           (double)task->cpu_ns / 1e9, (unsigned long long)task->samples, seconds(task->cuda),
           seconds(task->transfer), seconds(task->kernel_wait));
    for (uint32_t i = 0; thread && i < task->detail_count; i++) {
        const struct bp_task_node *detail = &profile->task_nodes[task->first_detail + i];
        print_node(profile, thread, detail->node, detail->calls, detail->self, i == 0);
    }
    printf("]}");
}

static void print_fold(const struct bp_profile *profile, const struct bp_task_fold *fold) {
    printf("  {");
    print_text("func", func_name(profile, fold->func), ", ");
    print_text("name", bp_profile_string(profile, fold->name), ", ");
    printf("\"flags\": %u, \"count\": %llu, \"failed\": %llu, \"total\": %.9f, \"min\": %.9f, "
           "\"max\": %.9f, \"samples\": %llu}",
           fold->flags, (unsigned long long)fold->count, (unsigned long long)fold->failed,
           seconds(fold->total), seconds(fold->min), seconds(fold->max),
           (unsigned long long)fold->samples);
}

static void print_threads(const struct bp_profile *profile) {
    for (uint32_t t = 0; t < profile->thread_count; t++) {
        const struct bp_profile_thread *thread = &profile->threads[t];
        printf("%s\n  {\"slot\": %u, \"nodes\": [", t ? "," : "", thread->slot);
        for (uint32_t i = 0; i < thread->node_count; i++)
            print_node(profile, thread, i, bp_node_calls(&thread->nodes[i]), thread->nodes[i].self,
                       i == 0);
        printf("]}");
    }
}

static void print_functions(const struct bp_profile *profile) {
    for (uint32_t i = 0, printed = 0; i < profile->func_count; i++) {
        const struct bp_func *func = &profile->funcs[i];
        if (!(func->flags & (BP_FUNC_TASK | BP_FUNC_PHASE | BP_FUNC_SAMPLE)))
            continue;
        printf("%s\n  {", printed++ ? "," : "");
        print_text("name", bp_profile_string(profile, func->name), ", ");
        print_text("module", bp_profile_string(profile, func->module), ", ");
        print_text("phase", bp_profile_string(profile, func->phase), ", ");
        printf("\"flags\": %u}", func->flags);
    }
}

static void print_profile(const struct bp_profile *profile) {
    const struct bp_header *header = &profile->header;
    uint64_t ticks = header->last.ticks - header->first.ticks;
    uint64_t ns = header->last.monotonic_ns - header->first.monotonic_ns;
    rate = header->clock == BP_CLOCK_MONOTONIC ? 1e9 : (double)header->ticks_per_s;
    if (header->clock == BP_CLOCK_TSC && header->last.ticks && ns > 10000000)
        rate = (double)ticks * 1e9 / (double)ns;
    printf("{\"pid\": %d, \"state\": %u, \"task_time\": %.9f, \"tasks_plain\": %u, "
           "\"tasks_lost\": %u,\n \"tasks\": [",
           header->pid, header->state, seconds(header->task_time), header->tasks_plain,
           header->tasks_lost);
    for (uint32_t i = 0; i < profile->task_count; i++) {
        printf(i ? ",\n" : "\n");
        print_task(profile, &profile->tasks[i]);
    }
    printf("],\n \"folds\": [");
    for (uint32_t i = 0; i < profile->task_fold_count; i++) {
        printf(i ? ",\n" : "\n");
        print_fold(profile, &profile->task_folds[i]);
    }
    printf("],\n \"functions\": [");
    print_functions(profile);
    printf("],\n \"threads\": [");
    print_threads(profile);
    printf("],\n \"variables\": {");
    for (uint32_t i = 0; i < profile->variable_count; i++)
        print_text(bp_profile_string(profile, profile->variables[i].name),
                   bp_profile_string(profile, profile->variables[i].value),
                   i + 1 < profile->variable_count ? ", " : "");
    printf("}}\n");
}

int main(int argc, char **argv) {
    printf("[");
    for (int i = 1; i < argc; i++) {
        struct bp_profile *profile;
        struct bp_read_error error;
        if (bp_profile_read(argv[i], &profile, &error) != 0) {
            fprintf(stderr, "%s: %s\n", argv[i], error.text);
            return 1;
        }
        printf(i > 1 ? ",\n" : "");
        print_profile(profile);
        bp_profile_free(profile);
    }
    printf("]\n");
    return 0;
}
