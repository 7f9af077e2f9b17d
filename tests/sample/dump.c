/* SPDX-License-Identifier: MIT
 *
 * The sampled stacks of profiles as JSON, for tests: dump FILE... prints one object per file.
 * Frames are innermost first; a native one is "object+offset", to be named by whoever reads it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "profile/reader.h"

static void print_text(const char *text) {
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    putchar('"');
}

static const char *func_name(const struct bp_profile *profile, uint32_t func) {
    return bp_profile_string(profile, profile->funcs[func].name);
}

static const struct bp_object *object_of(const struct bp_profile *profile, uint64_t address) {
    for (uint32_t i = profile->object_count; i-- > 0;)
        if (address >= profile->objects[i].low && address < profile->objects[i].high)
            return &profile->objects[i];
    return NULL;
}

static void print_native(const struct bp_profile *profile, const struct bp_frame *frame) {
    const struct bp_object *object = object_of(profile, frame->address);
    printf("{\"kind\":\"native\",\"offset\":%" PRIu64 ",\"object\":",
           object ? frame->address - object->base : frame->address);
    print_text(object ? bp_profile_string(profile, object->path) : "");
}

static void print_frame(const struct bp_profile *profile, const struct bp_profile_thread *thread,
                        const struct bp_frame *frame) {
    static const char *const reasons[] = {"depth", "walk", "stack"};
    switch (frame->kind) {
    case BP_FRAME_NATIVE:
        print_native(profile, frame);
        break;
    case BP_FRAME_PYTHON:
        printf("{\"kind\":\"python\",\"line\":%u,\"name\":", frame->line);
        print_text(func_name(profile, frame->func));
        printf(",\"func\":%u,\"module\":", frame->func);
        print_text(bp_profile_string(profile, profile->funcs[frame->func].module));
        break;
    case BP_FRAME_LEDGER:
        printf("{\"kind\":\"ledger\",\"name\":");
        print_text(func_name(profile, thread->nodes[frame->func].func));
        break;
    default:
        printf("{\"kind\":\"truncated\",\"name\":\"%s\"", reasons[frame->func]);
    }
    printf(",\"flags\":%u}", frame->flags);
}

static void print_sample(const struct bp_profile *profile, const struct bp_profile_thread *thread,
                         const struct bp_sample *sample) {
    printf("{\"thread\":%u,\"kind\":%u,\"count\":%" PRIu64 ",\"weight\":%" PRIu64
           ",\"own\":%" PRIu64 ",\"func\":%u,\"node\":",
           thread->slot, sample->kind, sample->count, sample->weight, sample->own,
           thread->nodes[sample->node].func);
    print_text(func_name(profile, thread->nodes[sample->node].func));
    printf(",\"frames\":[");
    for (uint32_t f = sample->frame; f != BP_NO_FRAME; f = thread->frames[f].parent) {
        print_frame(profile, thread, &thread->frames[f]);
        if (thread->frames[f].parent != BP_NO_FRAME)
            putchar(',');
    }
    printf("]}");
}

static void print_sampler(const struct bp_sampler *sampler) {
    printf("{\"state\":%u,\"flags\":%u,\"rate\":%u,\"signal\":%u,\"taken\":%" PRIu64
           ",\"dropped_full\":%" PRIu64 ",\"dropped_busy\":%" PRIu64 ",\"python_lost\":%" PRIu64
           ",\"threads_failed\":%" PRIu64 ",\"own\":%" PRIu64 ",\"truncated\":[%" PRIu64 ",%" PRIu64
           ",%" PRIu64 "],\"reason\":",
           sampler->state, sampler->flags, sampler->rate, sampler->signal, sampler->taken,
           sampler->dropped_full, sampler->dropped_busy, sampler->python_lost,
           sampler->threads_failed, sampler->own_time, sampler->truncated[0], sampler->truncated[1],
           sampler->truncated[2]);
    print_text(sampler->reason);
    putchar('}');
}

static void print_profile(const struct bp_profile *profile) {
    const char *comma = "";
    printf("{\"pid\":%d,\"ticks_per_s\":%" PRIu64 ",\"sampler\":", profile->header.pid,
           profile->header.ticks_per_s);
    if (profile->sampler)
        print_sampler(profile->sampler);
    else
        printf("null");
    printf(",\"missing\":");
    print_text(profile->missing);
    printf(",\"samples\":[");
    for (uint32_t i = 0; i < profile->thread_count; i++)
        for (uint32_t k = 0; k < profile->threads[i].sample_count; k++, comma = ",\n") {
            printf("%s", comma);
            print_sample(profile, &profile->threads[i], &profile->threads[i].samples[k]);
        }
    printf("]}\n");
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        struct bp_profile *profile;
        struct bp_read_error error;
        if (bp_profile_read(argv[i], &profile, &error)) {
            fprintf(stderr, "%s: %s\n", argv[i], error.text);
            return 1;
        }
        print_profile(profile);
        bp_profile_free(profile);
    }
    return 0;
}
