/* SPDX-License-Identifier: MIT */
#include "tools/export/who.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/keys.h"
#include "tools/base/memory.h"
#include "tools/base/text.h"

/* Above all numbers that Linux gives, 2^22 at most. */
#define FIRST_OWN 10000000u

/* Processes that have a number, by the order of their claims. */
struct claims {
    const struct bp_model *model;
    struct bp_keys numbers;
    uint32_t *first;   /* per number: its first claim, + 1 */
    uint32_t *process; /* per claim */
    uint32_t *next;    /* per claim: an earlier one of the number, + 1 */
    uint32_t count;
    uint32_t replaced;
};

/* On one machine a number may be used again, as exec does, once the other process is gone. */
static bool disturb(const struct bp_model_process *a, const struct bp_model_process *b) {
    return strcmp(a->profile->header.host, b->profile->header.host) != 0 ||
           (a->start_s < b->start_s + b->lifetime_s && b->start_s < a->start_s + a->lifetime_s);
}

static bool is_free(const struct claims *claims, uint32_t number, uint32_t process) {
    const struct bp_model_process *list = claims->model->processes;
    for (uint32_t i = claims->first[number]; i; i = claims->next[i - 1]) {
        uint32_t other = claims->process[i - 1];
        if (other != process && disturb(&list[other], &list[process]))
            return false;
    }
    return true;
}

static uint32_t claim(struct claims *claims, uint32_t wanted, uint32_t process) {
    uint32_t known = claims->numbers.count;
    uint32_t number = bp_keys_put(&claims->numbers, &wanted, sizeof(wanted));
    if (number == known)
        *BP_PLACE(claims->first, number) = 0;
    if (!is_free(claims, number, process))
        return FIRST_OWN + claims->replaced++;
    uint32_t earlier = claims->first[number];
    if (earlier && claims->process[earlier - 1] == process)
        return wanted;
    *BP_PLACE(claims->process, claims->count) = process;
    *BP_PLACE(claims->next, claims->count) = earlier;
    claims->first[number] = ++claims->count;
    return wanted;
}

void bp_who_init(struct bp_who *who, const struct bp_model *model) {
    struct claims claims = {.model = model};
    *who = (struct bp_who){.model = model};
    who->pids = bp_alloc(model->process_count + 1, sizeof(*who->pids));
    who->tids = bp_alloc(model->thread_count + 1, sizeof(*who->tids));
    for (uint32_t i = 0; i < model->process_count; i++)
        who->pids[i] = claim(&claims, (uint32_t)model->processes[i].profile->header.pid, i);
    for (uint32_t i = 0; i < model->thread_count; i++) {
        uint32_t process = model->threads[i].process;
        uint32_t tid = (uint32_t)model->threads[i].source->info.tid;
        bool first = (int32_t)tid == model->processes[process].profile->header.pid;
        who->tids[i] = first ? who->pids[process] : claim(&claims, tid, process);
    }
    bp_keys_fini(&claims.numbers);
    free(claims.first);
    free(claims.process);
    free(claims.next);
}

void bp_who_fini(struct bp_who *who) {
    free(who->pids);
    free(who->tids);
}

char *bp_who_place(const struct bp_model *model, uint32_t process) {
    const char *host = model->processes[process].profile->header.host;
    int rank = model->processes[process].rank;
    if (rank >= 0)
        return bp_make_text(", rank %d on %s", rank, host);
    return model->machine_count > 1 ? bp_make_text(" on %s", host) : bp_copy_text("");
}

char *bp_who_name(const struct bp_who *who, uint32_t process) {
    const struct bp_header *header = &who->model->processes[process].profile->header;
    char *place = bp_who_place(who->model, process);
    const char *program = bp_base_name(header->executable);
    char *name = who->pids[process] == (uint32_t)header->pid
                     ? bp_make_text("%s%s", program, place)
                     : bp_make_text("%s%s, process %d", program, place, header->pid);
    free(place);
    return name;
}
