/* SPDX-License-Identifier: MIT
 *
 * From the nodes of a thread to functions and contexts. The file holds what calls left behind when
 * they ended; the time of calls that are open is added here, so that the self times of a thread sum
 * to its lifetime at every instant. Then the profiler's overhead is taken out of the frames that it
 * fell in and kept as overhead, which leaves the sum as it is.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/model/internal.h"

/* A hung recursion may have 100,000 open calls; the innermost ones tell what it does. */
#define MOST_IN_FLIGHT 32

/* One thread at work, in ticks. */
struct account {
    struct bp_model *model;
    struct bp_model_process *process;
    const struct bp_profile_thread *source;
    struct bp_model_thread *thread;
    struct bp_thread_work *work;
    uint64_t *calls;
    double *self;
    double *total;
    double *moved;    /* of calls that were only counted: from the caller's time */
    double *recorded; /* totals before the overhead was taken out */
    double *cost;     /* overhead to subtract */
    double *own;      /* what was subtracted */
    double by_calls;  /* of the cost: by calls and what is like them */
    double by_samples;
    uint32_t thread_number;
};

static double clamp_ticks(uint64_t from, uint64_t to) {
    return to > from ? (double)(to - from) : 0;
}

static uint32_t kind_of(const struct account *account, uint32_t node) {
    const struct bp_profile *profile = account->process->profile;
    return profile->funcs[account->source->nodes[node].func].kind;
}

static void show_in_flight(struct account *account, const struct bp_profile_call *call,
                           uint32_t depth, double ticks) {
    struct bp_model *model = account->model;
    uint32_t kind = kind_of(account, call->node);
    uint32_t function = account->work->function[call->node];
    /* At a regular end threads of a pool wait: not worth a word. A call that never returned is. */
    bool ended = !account->process->live && !account->process->killed;
    if (call->flags & BP_ENTRY_INHERITED || call->counted || call->node == 0 ||
        (ended && kind != BP_FUNC_CALL))
        return;
    model->functions[function].in_flight++;
    model->contexts[account->work->context[call->node]].in_flight++;
    if (depth >= MOST_IN_FLIGHT)
        return;
    struct bp_in_flight *item = BP_APPEND(model->in_flight, model->in_flight_count);
    *item = (struct bp_in_flight){account->thread_number, function, depth,
                                  ticks * account->process->tick_s};
}

/* A call that may have returned has the time until it was last seen, as if at the end: the rest is
 * its caller's. */
static uint64_t start_of(const struct bp_profile_call *call, bool innermost, uint64_t end) {
    uint64_t start = bp_entry_start(call->start, call->child, end);
    bool may_be_over = call->counted && innermost && call->start != BP_ENTRY_UNTIMED;
    return may_be_over && start <= call->seen && call->seen <= end ? start + (end - call->seen)
                                                                   : start;
}

/* Innermost first: a call's own time ends where the one above it began. */
static void add_open_calls(struct account *account) {
    uint64_t end = account->process->end;
    uint64_t inner_start = end;
    for (uint32_t i = 0; i < account->source->open_count; i++) {
        const struct bp_profile_call *call = &account->source->open[i];
        uint64_t start = start_of(call, i == 0, inner_start);
        if (start < account->source->info.start)
            start = account->source->info.start; /* opened in an earlier life, or before fork */
        if (start > inner_start)
            start = inner_start;
        double self = clamp_ticks(start, inner_start) - (double)call->child;
        account->self[call->node] += self > 0 ? self : 0;
        if (call->outermost)
            account->total[call->node] += clamp_ticks(start, end);
        show_in_flight(account, call, i, clamp_ticks(start, end));
        inner_start = start;
    }
}

/* Calls that were only counted took what the timed ones among them did. It is in their callers'
 * time, whose own callers may have had it from theirs: parents come first. */
static void move_untimed(struct account *account) {
    const struct bp_node *nodes = account->source->nodes;
    for (uint32_t i = 1; i < account->source->node_count; i++) {
        double *from = &account->self[nodes[i].parent];
        double ticks = bp_model_untimed_mean(account->process, &nodes[i]);
        double moved = fmin((double)nodes[i].untimed * ticks, *from);
        *from -= moved;
        account->self[i] += moved;
        account->total[i] += moved;
        account->moved[i] = moved;
    }
}

static struct bp_call_overhead cost_of(const struct account *account, uint32_t node) {
    return bp_model_call_overhead(account->process, account->source->nodes[node].func);
}

/* The main thread begins within the constructor: the rest of it is in its root. */
static double startup_cost(const struct account *account) {
    const struct bp_header *header = &account->process->profile->header;
    double cost = clamp_ticks(account->source->info.start, header->start + header->startup);
    bool runs_it = account->source->slot == 0 && account->source->info.lives <= 1;
    double queued = (double)header->startup_queued[1];
    return runs_it && cost <= (double)header->startup && cost > queued ? cost - queued : 0;
}

/* What the process waited for us at its end, ticks. */
static double last_cost(const struct account *account) {
    const struct bp_header *header = &account->process->profile->header;
    const struct bp_profile_thread *source = account->source;
    bool waited = header->last_thread == source->slot && source->info.lives <= 1 &&
                  header->last_node < source->node_count;
    double lived = clamp_ticks(source->info.start, account->process->end);
    return waited && (double)header->last_time <= lived ? (double)header->last_time : 0;
}

/* What the process waited for us when Python began. */
static void add_python_start(struct account *account) {
    const struct bp_header *header = &account->process->profile->header;
    const struct bp_profile_thread *source = account->source;
    if (source->slot == 0 && source->info.lives <= 1 && !(header->flags & BP_FORKED) &&
        header->python_start_node < source->node_count)
        account->cost[header->python_start_node] += (double)header->python_start;
}

static uint64_t count_tasks(const struct bp_profile *profile) {
    uint64_t count = profile->task_count;
    for (uint32_t i = 0; i < profile->task_fold_count; i++)
        count += profile->task_folds[i].count;
    return count;
}

/* A task is recorded before its call begins and after it ended: in its caller's time. */
static void add_task_costs(struct account *account) {
    const struct bp_profile *profile = account->process->profile;
    uint64_t count = count_tasks(profile);
    double each = count ? (double)profile->header.task_time / (double)count : 0;
    for (uint32_t i = 0; i < profile->task_count; i++) {
        const struct bp_task *task = &profile->tasks[i];
        if (task->thread != account->source->slot || task->node == BP_NO_NODE)
            continue;
        bool is_call = task->func != BP_NO_FUNC && task->node > 0;
        account->cost[is_call ? account->source->nodes[task->node].parent : task->node] += each;
    }
}

/* The cost outside a call falls in its caller: the parent, or, where a function calls itself, most
 * likely the function, since inner calls are counted on the same node. */
static void add_costs(struct account *account) {
    const struct bp_node *nodes = account->source->nodes;
    double passed = bp_model_passed_overhead(account->process);
    for (uint32_t i = 0; i < account->source->node_count; i++) {
        double untimed = (double)nodes[i].untimed, calls = (double)account->calls[i] - untimed;
        double counting = bp_model_untimed_overhead(account->process, &nodes[i], untimed,
                                                    (double)nodes[i].sampled);
        uint32_t caller = i > 0 && nodes[i].inner == 0 ? nodes[i].parent : i;
        account->cost[i] += calls * cost_of(account, i).inside;
        account->cost[i] += (double)nodes[i].passed * passed;
        account->cost[i] += (double)nodes[i].lines;
        account->cost[caller] += calls * cost_of(account, i).outside + counting;
        account->by_calls +=
            counting + calls * (cost_of(account, i).inside + cost_of(account, i).outside);
        account->by_calls += (double)nodes[i].passed * passed;
    }
    for (uint32_t i = 0; i < account->source->sample_count; i++) {
        const struct bp_sample *sample = &account->source->samples[i];
        if (sample->kind == BP_SAMPLE_CPU) /* of a copy: in its split's `own` */
            account->cost[sample->node] += (double)sample->own * account->process->cold.sample;
        account->by_samples += sample->kind == BP_SAMPLE_CPU ? (double)sample->own : 0;
    }
    account->cost[0] += startup_cost(account);
    add_python_start(account);
    if (account->source->slot == 0)
        account->cost[0] += account->process->cold.rest / account->process->tick_s;
    if (last_cost(account) > 0)
        account->cost[account->process->profile->header.last_node] += last_cost(account);
    add_task_costs(account);
}

/* What the CUDA collector took around its calls was measured. */
static void add_collector_costs(struct account *account) {
    const struct bp_profile *profile = account->process->profile;
    const struct bp_node *nodes = account->source->nodes;
    for (uint32_t i = 0; i < profile->split_count; i++) {
        const struct bp_split *split = &profile->splits[i];
        if (split->thread == account->source->slot && split->node > 0)
            account->cost[nodes[split->node].parent] += (double)split->own;
    }
}

/* Returns the ticks subtracted. Totals lose what was subtracted while they were open. */
static double subtract_costs(struct account *account) {
    double sum = 0;
    uint32_t count = account->source->node_count;
    for (uint32_t i = 0; i < count; i++) {
        account->recorded[i] = account->total[i];
        if (account->cost[i] > account->self[i])
            account->cost[i] = account->self[i];
        account->self[i] -= account->cost[i];
        account->own[i] = account->cost[i];
        sum += account->cost[i];
    }
    bp_model_sum_open(account->work, account->source, account->cost);
    for (uint32_t i = 0; i < count; i++) {
        account->total[i] -= account->cost[i];
        if (account->total[i] < account->self[i])
            account->total[i] = account->self[i];
    }
    account->total[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        account->total[0] += account->self[i];
    return sum;
}

static uint32_t put_context(struct bp_model *model, uint32_t parent, uint32_t function) {
    uint32_t key[2] = {parent, function};
    uint32_t number = bp_keys_put(&model->work->context_table, key, sizeof(key));
    if (number == model->context_count) {
        struct bp_context *fresh = BP_APPEND(model->contexts, model->context_count);
        fresh->parent = parent;
        fresh->function = function;
    }
    return number;
}

static void place_nodes(struct account *account, const uint32_t *map) {
    const struct bp_profile_thread *source = account->source;
    struct bp_thread_work *work = account->work;
    for (uint32_t i = 0; i < source->node_count; i++) {
        const struct bp_node *node = &source->nodes[i];
        work->function[i] = map[node->func];
        work->context[i] =
            put_context(account->model, i ? work->context[node->parent] : 0, work->function[i]);
        account->calls[i] = i ? bp_node_calls(node) : 0;
        account->self[i] = (double)node->self;
        account->total[i] = (double)node->total;
    }
}

/* Returns what is left of the time when transfer and waiting for kernels are taken out. */
static double add_cuda(struct account *account, uint32_t node, double self_s) {
    struct bp_model *model = account->model;
    struct bp_function *function = &model->functions[account->work->function[node]];
    struct bp_node_split parts = bp_model_divide(account->work, node, self_s);
    double wait_s = parts.wait_s[BP_DSL] + parts.wait_s[BP_FRAMEWORK];
    double *category_s = account->thread->contexts[node].category_s;
    category_s[BP_TRANSFER] = parts.transfer_s;
    category_s[BP_DSL] = parts.wait_s[BP_DSL];
    category_s[BP_FRAMEWORK] = parts.wait_s[BP_FRAMEWORK];
    function->transfer_s += parts.transfer_s;
    function->kernel_wait_s += wait_s;
    model->thread_time.dsl_kernel_wait_s += parts.wait_s[BP_DSL];
    model->thread_time.kernel_wait_s += parts.wait_s[BP_FRAMEWORK];
    double rest_s = self_s - parts.transfer_s - wait_s;
    return rest_s > 0 ? rest_s : 0;
}

static void add_to_thread(struct account *account, uint32_t node, double self_s) {
    struct bp_model *model = account->model;
    struct bp_model_thread *thread = account->thread;
    const struct bp_function *function = &model->functions[account->work->function[node]];
    bool waits = function->kind == BP_FUNC_WAIT;
    if (function->kind == BP_FUNC_PAUSED) {
        thread->paused_s += self_s;
        model->thread_time.paused_s += self_s;
        return;
    }
    double rest_s = add_cuda(account, node, self_s);
    thread->contexts[node].category_s[function->category] += rest_s;
    for (int i = 0; i < BP_CATEGORIES; i++)
        thread->category_s[i] += thread->contexts[node].category_s[i];
    *(waits ? &thread->waiting_s : &thread->busy_s) += self_s;
    if (function->kind == BP_FUNC_IO)
        thread->io_s += self_s;
    if (function->cuda)
        thread->cuda_s += self_s;
    if (function->category != BP_FRAMEWORK)
        return;
    if (function->gil)
        model->thread_time.gil_s += self_s;
    if (waits)
        model->thread_time.waiting_s += self_s;
    else if (function->kind == BP_FUNC_IO)
        model->thread_time.io_s += self_s;
    else if (function->cuda)
        model->thread_time.cuda_api_s += rest_s;
    else
        model->thread_time.running_s += rest_s;
}

static void add_nodes(struct account *account) {
    struct bp_model *model = account->model;
    double tick_s = account->process->tick_s;
    double *burst_s =
        bp_model_bursts(account->source, account->process->profile->func_count, tick_s);
    bool *nested = bp_model_find_nested(account->work, account->source, model->function_count);
    for (uint32_t i = 0; i < account->source->node_count; i++) {
        struct bp_function *function = &model->functions[account->work->function[i]];
        struct bp_context *context = &model->contexts[account->work->context[i]];
        double self_s = account->self[i] * tick_s;
        double total_s = account->total[i] * tick_s;
        account->work->self_s[i] = function->kind == BP_FUNC_PAUSED ? 0 : self_s;
        if (function->kind == BP_FUNC_PAUSED) {
            account->thread->contexts[i].context = account->work->context[i];
            add_to_thread(account, i, self_s);
            continue;
        }
        function->self_s += self_s;
        function->total_s += nested[i] ? 0 : total_s;
        function->overhead_s += account->own[i] * tick_s;
        bp_model_add_untimed(model, account->process, account->work->function[i],
                             &account->source->nodes[i]);
        function->burst_s += burst_s[i] < self_s ? burst_s[i] : self_s;
        context->self_s += self_s;
        context->calls += account->calls[i];
        account->thread->contexts[i] = (struct bp_thread_context){
            .context = account->work->context[i], .calls = account->calls[i], .self_s = self_s};
        add_to_thread(account, i, self_s);
        struct bp_call_overhead measured =
            bp_model_measured_overhead(account->process->profile, account->source->nodes[i].func);
        struct bp_node_times times = {measured.inside, account->moved[i], account->recorded[i],
                                      account->total[i]};
        if (i > 0)
            bp_model_count_calls(model, account->work->function[i], &account->source->nodes[i],
                                 &times, tick_s);
    }
    free(burst_s);
    free(nested);
}

/* Ended threads have told what their clocks said, and so has the one that called exit. */
static bool has_clocks(const struct bp_model_process *process, const struct bp_thread *info) {
    bool exited = process->profile->header.state == BP_EXITED && info->lives <= 1;
    return info->cpu_ns && (info->state == BP_THREAD_ENDED || exited);
}

static void set_lifetime(struct account *account, double overhead) {
    const struct bp_model_process *process = account->process;
    struct bp_model_thread *thread = account->thread;
    const struct bp_thread *info = &account->source->info;
    uint64_t end = info->state == BP_THREAD_ENDED ? info->end : process->end;
    double ticks = (double)info->lifetime + clamp_ticks(info->start, end);
    thread->lifetime_s = ticks * process->tick_s;
    thread->overhead_s = overhead * process->tick_s;
    thread->sum_s = thread->busy_s + thread->waiting_s + thread->overhead_s + thread->paused_s;
    thread->busy_s += thread->overhead_s;
    thread->cpu_s = 1e-9 * (double)info->cpu_ns;
    thread->runqueue_s = 1e-9 * (double)info->runqueue_ns;
    double seen = thread->cpu_s + thread->runqueue_s + thread->io_s;
    seen += thread->cuda_s + last_cost(account) * process->tick_s;
    thread->has_clocks = has_clocks(process, info);
    if (thread->has_clocks)
        thread->blocked_s = thread->busy_s > seen ? thread->busy_s - seen : 0;
}

/* To its process and to the run. */
static void add_lifetime(struct account *account) {
    struct bp_model *model = account->model;
    struct bp_model_process *process = account->process;
    const struct bp_model_thread *thread = account->thread;
    const struct bp_thread *info = &account->source->info;
    model->thread_time.total_s += thread->lifetime_s;
    model->thread_time.cpu_s += thread->cpu_s;
    model->thread_time.overhead_s += thread->overhead_s;
    /* The thread that called exec is the same one as before. */
    bool same = process->continues && info->tid == process->profile->header.pid;
    model->lived_count += (info->lives ? info->lives : 1) - same;
    process->threads += info->lives ? info->lives : 1;
    process->thread_s += thread->lifetime_s;
    process->sum_s += thread->sum_s;
    process->overhead_s += thread->overhead_s;
    double error_s = bp_model_overhead_error(process, account->by_calls * process->tick_s,
                                             account->by_samples * process->tick_s);
    process->overhead_error_s += error_s;
    model->thread_time.overhead_error_s += error_s;
    process->waiting_s += thread->waiting_s;
    process->cpu_s =
        thread->has_clocks && process->cpu_s >= 0 ? process->cpu_s + thread->cpu_s : -1;
    for (int i = 0; i < BP_CATEGORIES; i++) {
        model->thread_time.category_s[i] += thread->category_s[i];
        process->category_s[i] += thread->category_s[i];
    }
}

static void account_init(struct account *account, uint32_t process,
                         const struct bp_profile_thread *source) {
    struct bp_model *model = account->model;
    uint32_t count = source->node_count;
    account->source = source;
    account->process = &model->processes[process];
    account->thread_number = model->thread_count;
    account->thread = BP_PLACE(model->threads, model->thread_count);
    account->work = BP_APPEND(model->work->threads, model->thread_count);
    account->thread->process = process;
    account->thread->source = source;
    account->thread->contexts = bp_alloc(count, sizeof(*account->thread->contexts));
    account->work->self_s = bp_alloc(count, sizeof(double));
    account->work->function = bp_alloc(count, sizeof(uint32_t));
    account->work->context = bp_alloc(count, sizeof(uint32_t));
    account->calls = bp_alloc(count, sizeof(uint64_t));
    account->self = bp_alloc(count, sizeof(double));
    account->total = bp_alloc(count, sizeof(double));
    account->moved = bp_alloc(count, sizeof(double));
    account->recorded = bp_alloc(count, sizeof(double));
    account->cost = bp_alloc(count, sizeof(double));
    account->own = bp_alloc(count, sizeof(double));
}

static void account_thread(struct bp_model *model, uint32_t process,
                           const struct bp_profile_thread *source, const uint32_t *map) {
    struct account account = {.model = model};
    account_init(&account, process, source);
    place_nodes(&account, map);
    account.work->split = bp_model_node_splits(model, account.process, source, map);
    add_open_calls(&account);
    move_untimed(&account);
    bp_model_find_recursion(account.work, source, account.self, account.total);
    add_costs(&account);
    add_collector_costs(&account);
    double overhead = subtract_costs(&account);
    add_nodes(&account);
    set_lifetime(&account, overhead);
    add_lifetime(&account);
    free(account.calls);
    free(account.self);
    free(account.total);
    free(account.moved);
    free(account.recorded);
    free(account.cost);
    free(account.own);
}

/* Killed in the first moments after fork: the file is made, its thread still the parent's. */
static bool is_of_parent(const struct bp_profile *profile, const struct bp_profile_thread *thread) {
    return profile->header.flags & BP_FORKED && thread->info.start < profile->header.start;
}

void bp_model_account_process(struct bp_model *model, uint32_t number) {
    const struct bp_profile *profile = model->processes[number].profile;
    const uint32_t *map = model->processes[number].functions;
    bp_model_find_cold(&model->processes[number]);
    for (uint32_t i = 0; i < profile->thread_count; i++)
        if (!is_of_parent(profile, &profile->threads[i]))
            account_thread(model, number, &profile->threads[i], map);
    bp_model_add_devices(model, &model->processes[number], map);
    bp_model_add_exact_lines(model, &model->processes[number], map);
}
