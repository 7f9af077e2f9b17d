/* SPDX-License-Identifier: MIT
 *
 * Beginning and end of tasks. All signals are blocked meanwhile: a handler may run tasks of its
 * own. What this costs falls outside of the task, in the time of whoever called it, and is added up
 * in the header.
 */
#include "interpose/ledger/task.h"

#include "interpose/ledger/call.h"

/* Details may cost a hundredth of a thread's time, and this many milliseconds before that. */
#define COST_SHARE 100
#define COST_FREE_MS 20
#define RANGES 256 /* with a number, open at once */
#define RECENT 512 /* tasks that device records may come late for */
#define NAMES 256  /* of ranges, remembered so that equal ones are written once */
enum { TASK, PHASE, INPUT, KINDS };

uint8_t bp_task_funcs[BP_FUNCTIONS];

static struct {
    uint32_t kept[KINDS]; /* items */
    uint32_t folds;
    struct {
        uint64_t hash;
        struct bp_task_fold *fold;
    } fold[BP_TASK_FOLDS_KEPT];
    struct {
        uint64_t hash;
        uint32_t string;
    } names[NAMES];
    struct {
        uint64_t key;
        struct bp_task *item;
    } ranges[RANGES]; /* that any thread may end */
    struct bp_task *recent[RECENT];
    uint32_t made;
} state;

static struct bp_task_state *tasks_of(const struct bp_thread *thread) {
    return ((struct bp_local *)thread->local)->tasks;
}

static struct bp_task_state *need_tasks(struct bp_thread *thread) {
    struct bp_local *local = (struct bp_local *)thread->local;
    if (!local->tasks)
        local->tasks = bp_pages_new(sizeof *local->tasks);
    return local->tasks;
}

static void copy_text(char *to, const char *from) {
    unsigned i = 0;
    for (; i + 1 < BP_TASK_TEXT && from[i]; i++)
        to[i] = from[i];
    to[i] = '\0';
}

static uint64_t hash_text(const char *text, uint64_t hash) {
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* With the lock held: a string of the file, once for equal names that follow each other. */
static uint32_t name_string(const char *name) {
    uint64_t hash = hash_text(name, 1);
    unsigned place = (unsigned)(hash >> 32) % NAMES;
    if (!*name)
        return 0;
    if (state.names[place].hash != hash) {
        state.names[place].hash = hash;
        state.names[place].string = bp_writer_string(&bp_process.writer, name);
    }
    return state.names[place].string;
}

static int kind_of(uint32_t flags) {
    return flags & BP_TASK_INPUT ? INPUT : flags & BP_TASK_PHASE ? PHASE : TASK;
}

static uint32_t parent_of(const struct bp_task_state *tasks) {
    for (uint32_t i = tasks->count; i-- > 0;)
        if (tasks->open[i].item)
            return tasks->open[i].index;
    return BP_NO_TASK;
}

static void make_item(struct bp_thread *thread, struct bp_task_open *open, const char *id) {
    const struct bp_entry *at = open->entry ? open->entry : bp_thread_innermost(thread);
    uint64_t mask = bp_lock(&bp_process.lock);
    uint32_t *kept = &state.kept[kind_of(open->flags)];
    struct bp_task item = {.thread = thread->index,
                           .life = thread->lives,
                           .node = ((const struct bp_node *)at->node)->index,
                           .func = open->func,
                           .flags = open->flags,
                           .parent = parent_of(tasks_of(thread)),
                           .start = open->start};
    if (*kept < (open->flags & BP_TASK_INPUT ? BP_INPUTS_KEPT : BP_TASKS_KEPT)) {
        item.id = *id ? bp_writer_string(&bp_process.writer, id) : 0;
        item.name = name_string(open->name);
        open->item = bp_writer_item(&bp_process.writer, BP_TASKS, &open->index);
    }
    if (open->item) {
        *open->item = item;
        bp_writer_commit(&bp_process.writer, BP_TASKS);
        ++*kept;
        __atomic_store_n(&state.recent[state.made % RECENT], open->item, __ATOMIC_RELEASE);
        __atomic_store_n(&state.made, state.made + 1, __ATOMIC_RELEASE);
        state.ranges[open->key % RANGES].key = open->key;
        state.ranges[open->key % RANGES].item = open->item;
    }
    bp_unlock(&bp_process.lock, mask);
}

static int affordable(const struct bp_thread *thread, uint64_t now) {
    uint64_t free = bp_process.writer.header->ticks_per_s / 1000 * COST_FREE_MS;
    return tasks_of(thread)->own < free + (now - thread->start) / COST_SHARE;
}

/* What generates code by calling others that do is one generation. */
int bp_task_wants_input(struct bp_thread *thread) {
    const struct bp_task_state *tasks = need_tasks(thread);
    if (!tasks || tasks->count == BP_TASK_DEPTH || !affordable(thread, bp_process_now()))
        return 0;
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->open[i].flags & BP_TASK_INPUT)
            return 0;
    return __atomic_load_n(&state.kept[INPUT], __ATOMIC_RELAXED) < BP_INPUTS_KEPT;
}

static int free_level(const struct bp_task_state *tasks) {
    for (int level = 0; level < BP_TASK_LEVELS; level++)
        if (!(tasks->levels >> level & 1))
            return level;
    return -1;
}

static void take_snapshot(struct bp_thread *thread, struct bp_task_open *open, uint64_t now) {
    struct bp_task_state *tasks = tasks_of(thread);
    int level = affordable(thread, now) ? free_level(tasks) : -1;
    open->level = -1;
    if (level < 0 || !bp_task_snapshot(thread, level, now, !open->entry))
        return;
    open->level = level;
    tasks->levels |= 1u << level;
    if (level == 0)
        open->item->flags |= BP_TASK_BASED;
}

/* A phase that is a call has its time in the tree. */
static int has_details(const struct bp_task_open *open) {
    return !(open->flags & BP_TASK_INPUT) && !(open->flags & BP_TASK_PHASE && open->entry);
}

static int is_open_function(const struct bp_task_state *tasks, uint32_t func) {
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->open[i].func == func)
            return 1;
    return 0;
}

/* What it took since then, but not what the thread spent without a CPU: more than this per task and
 * node it cannot be. */
#define MOST_NS 20000
#define MOST_NS_PER_NODE 200

static void spend(struct bp_thread *thread, uint64_t since) {
    const struct bp_chunk *nodes = ((const struct bp_local *)thread->local)->nodes;
    uint64_t ns = MOST_NS + (uint64_t)(nodes->first + nodes->count) * MOST_NS_PER_NODE;
    uint64_t most = ns * (bp_process.writer.header->ticks_per_s / 1000000) / 1000;
    uint64_t spent = bp_process_now() - since;
    if (spent > most)
        spent = most;
    tasks_of(thread)->own += spent;
    __atomic_fetch_add(&bp_process.writer.header->task_time, spent, __ATOMIC_RELAXED);
}

static void remove_open(struct bp_task_state *tasks, uint32_t place) {
    for (tasks->count--; place < tasks->count; place++)
        tasks->open[place] = tasks->open[place + 1];
}

/* Ranges that another thread has ended. */
static void forget_ended(struct bp_task_state *tasks) {
    for (uint32_t i = tasks ? tasks->count : 0; i-- > 0;) {
        const struct bp_task_open *open = &tasks->open[i];
        if (open->entry || !open->item || !open->item->end)
            continue;
        if (open->level >= 0)
            tasks->levels &= ~(1u << open->level);
        remove_open(tasks, i);
    }
}

static void begin(struct bp_thread *thread, const struct bp_task_what *what) {
    struct bp_task_state *tasks = need_tasks(thread);
    uint64_t began = bp_process_now();
    forget_ended(tasks);
    if (!tasks || tasks->count == BP_TASK_DEPTH) {
        __atomic_fetch_add(&bp_process.writer.header->tasks_lost, 1, __ATOMIC_RELAXED);
        return;
    }
    /* A task function that calls itself is one task. */
    if (what->entry && is_open_function(tasks, what->func))
        return;
    struct bp_task_open *open = &tasks->open[tasks->count];
    open->entry = what->entry;
    open->key = what->key;
    open->item = NULL;
    open->index = BP_NO_TASK;
    open->func = what->func;
    open->flags = what->flags;
    open->samples = 0;
    open->level = -1;
    open->start = began;
    copy_text(open->name, what->name);
    make_item(thread, open, what->id);
    if (!open->item && what->flags & BP_TASK_INPUT)
        return; /* it came too late for the last place */
    if (open->item && has_details(open))
        take_snapshot(thread, open, began);
    open->cpu_ns = bp_task_cpu_ns(&tasks->cpu, bp_process_now());
    open->part = bp_wall_share(thread, bp_process_now());
    tasks->count++;
    spend(thread, began);
}

void bp_task_begin(struct bp_thread *thread, const struct bp_task_what *what) {
    uint64_t mask = bp_signals_block();
    begin(thread, what);
    bp_signals_restore(mask);
}

/* With the lock held: the fold of tasks like this one; NULL without memory. */
static struct bp_task_fold *find_fold(const struct bp_task_open *open) {
    uint32_t kind = open->flags & (BP_TASK_PHASE | BP_TASK_NVTX | BP_TASK_API), index;
    /* The last one is for all names that come too late. */
    int last = state.folds + 1 >= BP_TASK_FOLDS_KEPT;
    uint64_t seed = (uint64_t)open->func << 32 | kind;
    uint64_t hash = hash_text(open->flags & BP_TASK_PHASE ? open->name : "", seed * 31 + 7);
    for (uint32_t i = 0; i < state.folds; i++)
        if (state.fold[i].hash == hash || i == BP_TASK_FOLDS_KEPT - 1)
            return state.fold[i].fold;
    struct bp_task_fold *fold = bp_writer_item(&bp_process.writer, BP_TASK_FOLDS, &index);
    if (!fold)
        return NULL;
    fold->func = last ? BP_NO_FUNC : open->func;
    fold->name = last || !(open->flags & BP_TASK_PHASE) ? 0 : name_string(open->name);
    fold->flags = kind;
    fold->min = UINT64_MAX;
    bp_writer_commit(&bp_process.writer, BP_TASK_FOLDS);
    state.fold[state.folds].hash = hash;
    state.fold[state.folds++].fold = fold;
    return fold;
}

static void fold_away(const struct bp_task_open *open, const struct bp_task *done) {
    uint64_t duration = done->end > done->start ? done->end - done->start : 0;
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_task_fold *fold = find_fold(open);
    if (fold) {
        fold->count++;
        fold->failed += (done->flags & BP_TASK_FAILED) != 0;
        fold->total += duration;
        fold->min = duration < fold->min ? duration : fold->min;
        fold->max = duration > fold->max ? duration : fold->max;
        fold->cpu_ns += done->cpu_ns;
        fold->samples += done->samples;
        fold->part += done->part;
        fold->histogram[bp_bucket(duration)]++;
    }
    bp_unlock(&bp_process.lock, mask);
}

static void add_details(struct bp_thread *thread, const struct bp_task_open *open,
                        struct bp_task *done) {
    open->item->flags &= ~BP_TASK_BASED;
    struct bp_task_sums sums = bp_task_difference(thread, open->level, done->end, open->entry,
                                                  !(done->flags & BP_TASK_UNFINISHED));
    done->wait = sums.wait;
    done->io = sums.io;
    done->samples += sums.samples;
    uint64_t mask = bp_lock(&bp_process.lock);
    uint32_t first = bp_task_write_nodes(thread, sums.count);
    bp_unlock(&bp_process.lock, mask);
    tasks_of(thread)->levels &= ~(1u << open->level);
    if (first == BP_NO_TASK)
        return;
    done->first_detail = first;
    done->detail_count = sums.count;
    done->flags |= BP_TASK_DETAILED;
}

static void write_item(struct bp_task *item, const struct bp_task *done) {
    item->start = done->start;
    item->part = done->part;
    item->wait = done->wait;
    item->io = done->io;
    item->cpu_ns = done->cpu_ns;
    item->samples = done->samples;
    item->first_detail = done->first_detail;
    item->detail_count = done->detail_count;
    item->flags |= done->flags;
    __atomic_store_n(&item->end, done->end, __ATOMIC_RELEASE);
}

/* The task at `place` of the thread's list is over since `now`. */
static void end(struct bp_thread *thread, uint32_t place, uint64_t now, uint32_t flags) {
    struct bp_task_state *tasks = tasks_of(thread);
    const struct bp_task_open *open = &tasks->open[place];
    struct bp_task done = {.start = open->entry ? open->entry->start : open->start,
                           .end = now,
                           .flags = flags,
                           .samples = open->samples,
                           .part = bp_wall_share(thread, now) - open->part,
                           .cpu_ns = bp_task_cpu_ns(&tasks->cpu, now) - open->cpu_ns};
    if (open->level >= 0)
        add_details(thread, open, &done);
    if (open->item && !(done.flags & BP_TASK_DETAILED) && has_details(open))
        __atomic_fetch_add(&bp_process.writer.header->tasks_plain, 1, __ATOMIC_RELAXED);
    if (open->item)
        write_item(open->item, &done);
    else
        fold_away(open, &done);
    remove_open(tasks, place);
    spend(thread, now);
}

void bp_task_end_call(struct bp_thread *thread, const struct bp_entry *entry, uint64_t now,
                      int failed) {
    const struct bp_task_state *tasks = tasks_of(thread);
    if (!tasks)
        return;
    uint64_t mask = bp_signals_block();
    for (uint32_t i = tasks->count; i-- > 0;)
        if (tasks->open[i].entry == entry) {
            end(thread, i, now, failed ? BP_TASK_FAILED : 0);
            break;
        }
    bp_signals_restore(mask);
}

int bp_task_end_range(struct bp_thread *thread, uint64_t key, int failed) {
    const struct bp_task_state *tasks = tasks_of(thread);
    int found = 0;
    if (!tasks)
        return 0;
    uint64_t mask = bp_signals_block();
    for (uint32_t i = tasks->count; i-- > 0 && !found;)
        if (!tasks->open[i].entry && tasks->open[i].key == key) {
            end(thread, i, bp_process_now(), failed ? BP_TASK_FAILED : 0);
            found = 1;
        }
    bp_signals_restore(mask);
    return found;
}

/* The thread that began it finds it ended when it looks. */
void bp_task_end_elsewhere(uint64_t key) {
    uint64_t mask = bp_lock(&bp_process.lock);
    struct bp_task *item = state.ranges[key % RANGES].item;
    if (item && state.ranges[key % RANGES].key == key && !item->end) {
        item->flags |= BP_TASK_ELSEWHERE;
        __atomic_store_n(&item->end, bp_process_now(), __ATOMIC_RELEASE);
    }
    bp_unlock(&bp_process.lock, mask);
}

/* Newest first, up to the outermost task of the thread that began before. */
void bp_task_spent(uint32_t thread, uint64_t began, uint64_t time, uint64_t transfer,
                   uint64_t wait) {
    uint32_t made = __atomic_load_n(&state.made, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < RECENT && i < made; i++) {
        struct bp_task *task =
            __atomic_load_n(&state.recent[(made - 1 - i) % RECENT], __ATOMIC_ACQUIRE);
        if (!task || task->thread != thread || task->start > began)
            continue;
        uint64_t ended = __atomic_load_n(&task->end, __ATOMIC_ACQUIRE);
        if (!ended || ended >= began) {
            task->cuda += time;
            task->transfer += transfer;
            task->kernel_wait += wait;
        }
        if (task->parent == BP_NO_TASK)
            return;
    }
}

void bp_task_sample(struct bp_thread *thread) {
    struct bp_task_state *tasks = tasks_of(thread);
    for (uint32_t i = tasks ? tasks->count : 0; i-- > 0;)
        if (!(tasks->open[i].flags & BP_TASK_PHASE)) {
            tasks->open[i].samples++;
            return;
        }
}

void bp_task_end_all(struct bp_thread *thread, uint64_t now, uint32_t flags) {
    struct bp_task_state *tasks = tasks_of(thread);
    if (!tasks)
        return;
    uint64_t mask = bp_signals_block();
    forget_ended(tasks);
    while (tasks->count > 0)
        end(thread, tasks->count - 1, now, flags);
    tasks->cpu.ticks = tasks->cpu.ns = 0; /* another thread may use it next */
    bp_signals_restore(mask);
}

/* What was counted starts at nothing here. */
static void forget_all(void) {
    state.made = state.kept[TASK] = state.kept[PHASE] = state.kept[INPUT] = state.folds = 0;
    for (unsigned i = 0; i < NAMES; i++)
        state.names[i].hash = 0;
    for (unsigned i = 0; i < RANGES; i++)
        state.ranges[i].item = NULL;
    for (unsigned i = 0; i < RECENT; i++)
        state.recent[i] = NULL;
}

/* Where there was none, nothing is written: a page of the parent's that is written is copied. */
void bp_task_after_fork(struct bp_thread *thread) {
    struct bp_task_state *tasks = thread ? tasks_of(thread) : NULL;
    if (state.made || state.folds)
        forget_all();
    if (!tasks)
        return;
    tasks->count = tasks->levels = 0;
    tasks->own = 0;
    tasks->cpu.ticks = tasks->cpu.ns = 0;
    bp_task_forget(tasks);
}
