/* SPDX-License-Identifier: MIT
 *
 * Tasks are laid out on places as they ran; what was before, after and between them is found from
 * that, and put together again for another number of tasks.
 */
#include "tools/analyze/projection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/forecast.h"
#include "tools/base/memory.h"
#include "tools/base/statistics.h"

/* Firsts must exceed the others by this many of their standard errors to be called a warm-up. */
#define WARM_ERRORS 3.0
/* Share of the mean task. From here on the longest tasks decide. */
#define UNEVEN 0.5
/* Part of the time of workers in use from which on they, not who hands them work, are the limit. */
#define SATURATED 0.7

/* A place at which one task runs after the other. */
struct place {
    uint32_t thread;
    double end_s;
    uint32_t tasks;
};

struct walk {
    const struct bp_model *model;
    const struct bp_model_task **tasks; /* by start; those in no other */
    uint32_t count;
    double dropped_s; /* of tasks that are not among them, but took their place */
    struct place *places;
    uint32_t place_count;
    double gaps_s;
    uint32_t gaps;
    bool *first;  /* per task: the first of its thread, others followed */
    bool workers; /* places are those of joined tasks */
};

/* What a task takes of a place. */
static double time_of(const struct walk *walk, const struct bp_model_task *task) {
    return walk->workers ? task->inner_s : task->duration_s;
}

static void collect(struct walk *walk, const struct bp_model *model) {
    walk->model = model;
    walk->tasks = bp_alloc(model->tasks.count, sizeof(struct bp_model_task *));
    for (uint32_t i = 0; i < model->tasks.count; i++)
        if (bp_task_counts(&model->tasks.list[i]))
            walk->tasks[walk->count++] = &model->tasks.list[i];
}

/* Dropped tasks were there when the others ran: without them there would be gaps. */
static void forget_dropped(struct walk *walk) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < walk->count; i++) {
        if (walk->tasks[i]->dropped)
            walk->dropped_s += walk->tasks[i]->duration_s;
        else
            walk->tasks[kept++] = walk->tasks[i];
    }
    walk->count = kept;
}

/* The free place of the same thread, or the one that became free last; a new one if none is. */
static struct place *find_place(struct walk *walk, const struct bp_model_task *task) {
    struct place *best = NULL;
    for (uint32_t i = 0; i < walk->place_count; i++) {
        struct place *place = &walk->places[i];
        if (place->end_s > task->start_s)
            continue;
        if (place->thread == task->thread)
            return place;
        if (!best || place->end_s > best->end_s)
            best = place;
    }
    return best ? best : &walk->places[walk->place_count++];
}

static void lay_out(struct walk *walk) {
    walk->places = bp_alloc(walk->count, sizeof(*walk->places));
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct bp_model_task *task = walk->tasks[i];
        struct place *place = find_place(walk, task);
        if (place->tasks) {
            walk->gaps_s += task->start_s - place->end_s;
            walk->gaps++;
        }
        place->thread = task->thread;
        place->end_s = task->start_s + task->duration_s;
        place->tasks++;
    }
}

static void mark_first(struct walk *walk) {
    uint32_t *seen = bp_alloc((size_t)walk->model->thread_count + 1, sizeof(*seen));
    walk->first = bp_alloc(walk->count, sizeof(*walk->first));
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t thread = walk->tasks[i]->thread;
        uint32_t *before = &seen[thread == BP_NO_THREAD ? walk->model->thread_count : thread];
        if (*before == 0)
            *before = i + 1;
        else if (*before != UINT32_MAX) {
            walk->first[*before - 1] = true; /* another one followed */
            *before = UINT32_MAX;
        }
    }
    free(seen);
}

/* The others' times in order; returns the firsts' mean. */
static double split_firsts(const struct walk *walk, double *others, uint32_t *count,
                           uint32_t *firsts) {
    double sum = 0;
    *count = *firsts = 0;
    for (uint32_t i = 0; i < walk->count; i++) {
        if (walk->first[i]) {
            sum += time_of(walk, walk->tasks[i]);
            ++*firsts;
        } else {
            others[(*count)++] = time_of(walk, walk->tasks[i]);
        }
    }
    return *firsts ? sum / *firsts : 0;
}

static void find_drift(struct bp_projection *projection, const double *times, uint32_t count) {
    double *x = bp_alloc(count, sizeof(*x));
    for (uint32_t i = 0; i < count; i++)
        x[i] = i;
    struct bp_line line = bp_line_fit(x, times, count);
    projection->drift_s = line.slope * count;
    projection->drifts = bp_line_rises(&line) && fabs(line.slope) > 3 * line.slope_error &&
                         fabs(projection->drift_s) > 0.1 * projection->task_s;
    free(x);
}

/* What is usual among tasks of a thread that are not its first. */
static void find_costs(struct bp_projection *projection, struct walk *walk) {
    double *times = bp_alloc(walk->count, sizeof(*times));
    uint32_t count;
    uint32_t firsts;
    double first_s = split_firsts(walk, times, &count, &firsts);
    double excess_s = first_s - bp_mean(times, count);
    double error_s = bp_deviation(times, count) / sqrt(firsts ? firsts : 1);
    if (firsts && count >= BP_PROJECTION_FEWEST && excess_s > WARM_ERRORS * error_s &&
        excess_s > 0.01 * bp_mean(times, count)) {
        projection->warm_s = excess_s * firsts / projection->places;
    } else {
        count = 0;
        for (uint32_t i = 0; i < walk->count; i++)
            times[count++] = time_of(walk, walk->tasks[i]);
    }
    projection->task_s = bp_mean(times, count);
    projection->deviation_s = bp_deviation(times, count);
    projection->gap_s = walk->gaps ? walk->gaps_s / walk->gaps : 0;
    find_drift(projection, times, count);
    projection->times = times;
    projection->time_count = count;
}

static void find_edges(struct bp_projection *projection, const struct walk *walk) {
    double first_s = INFINITY;
    double last_s = 0;
    double sum_s = walk->gaps_s + walk->dropped_s;
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct bp_model_task *task = walk->tasks[i];
        first_s = fmin(first_s, task->start_s);
        last_s = fmax(last_s, task->start_s + task->duration_s);
        sum_s += time_of(walk, task);
    }
    double end_s = walk->model->wall.total_s + walk->dropped_s / projection->places;
    projection->before_s = fmax(first_s, 0);
    projection->after_s = fmax(end_s - last_s, 0);
    projection->uneven_s = last_s - first_s - sum_s / projection->places;
    if (fabs(projection->uneven_s) < 1e-9) /* the rounding of sums */
        projection->uneven_s = 0;
}

/* A task's thread-seconds as parts of the wall: as much of it as its thread had meanwhile. */
static void split_categories(struct bp_projection *projection, const struct walk *walk) {
    const struct bp_model *model = walk->model;
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct bp_model_task *task = walk->tasks[i];
        double busy_s = task->duration_s + task->inner_s - task->waiting_s;
        double rate = busy_s > 0 ? task->wall_s / busy_s : 0;
        projection->inside_overhead_s += task->overhead_s * rate;
        for (int c = 0; c < BP_CATEGORIES; c++)
            projection->inside[c] += task->category_s[c] * rate;
        projection->inside[BP_FRAMEWORK] -= (task->waiting_s - task->handed_s) * rate;
    }
    for (int c = 0; c < BP_CATEGORIES; c++)
        projection->outside[c] = fmax(model->wall.category_s[c] - projection->inside[c], 0);
    projection->outside_overhead_s =
        fmax(model->wall.overhead_s - projection->inside_overhead_s, 0);
}

static void find_step_part(struct bp_projection *projection, const struct walk *walk) {
    double cost_s = 0;
    for (uint32_t i = 0; i < walk->count; i++)
        cost_s += bp_task_cost(walk->tasks[i]);
    double steps_s = projection->from * projection->task_s / projection->places;
    projection->step_part = cost_s > steps_s ? steps_s / cost_s : 1;
}

static void find_growing(struct bp_projection *projection, const struct bp_model *model,
                         const struct bp_words *grows) {
    for (uint32_t i = 0; i < model->phase_count; i++) {
        const struct bp_model_phase *phase = &model->phases[i];
        if (bp_phase_recurs(phase))
            continue; /* it is in the gaps */
        for (size_t k = 0; grows && k < grows->count; k++)
            if (strcmp(grows->word[k], phase->name) == 0)
                projection->grows_s += bp_phase_outside(phase) / projection->from;
    }
}

/* Time of the places beyond what their tasks took in the order in which they came. */
static double find_waste(const struct bp_projection *projection, const struct walk *walk) {
    double *times = bp_alloc(walk->count, sizeof(*times));
    double sum_s = 0;
    for (uint32_t i = 0; i < walk->count; i++)
        sum_s += times[i] = time_of(walk, walk->tasks[i]);
    sum_s += walk->gaps_s + walk->dropped_s;
    double span_s = bp_forecast_span(times, walk->count, projection->places, projection->gap_s);
    free(times);
    return walk->dropped_s > 0 ? 0 : projection->uneven_s + sum_s / projection->places - span_s;
}

/* The part of their time for which threads could have run and had no CPU. */
static double find_load(const struct bp_model *model) {
    double busy_s = 0;
    double without_s = 0;
    for (uint32_t i = 0; i < model->thread_count; i++) {
        busy_s += model->threads[i].busy_s;
        without_s += model->threads[i].runqueue_s;
    }
    return busy_s > 0 ? fmin(without_s / busy_s, 1) : 0;
}

/* When the parts of tasks ran that others did for them. */
struct pieces {
    double *starts;
    double *ends;
    uint32_t count;
    double sum_s;
};

static void collect_pieces(struct pieces *pieces, const struct bp_model *model) {
    *pieces = (struct pieces){.starts = bp_alloc(model->tasks.count, sizeof(double)),
                              .ends = bp_alloc(model->tasks.count, sizeof(double))};
    for (uint32_t i = 0; i < model->tasks.count; i++) {
        const struct bp_model_task *task = &model->tasks.list[i];
        if (!task->joined || task->dropped)
            continue;
        pieces->starts[pieces->count] = task->start_s;
        pieces->ends[pieces->count++] = task->start_s + task->duration_s;
        pieces->sum_s += task->duration_s;
    }
}

/* Where tasks hand their work to others, and these have no time left, or nothing tells how many
 * tasks run side by side since all did: the workers are the places, and a task takes of them what
 * its parts took. Its own time is mostly the wait for its turn. */
static bool use_workers(struct walk *walk) {
    struct pieces pieces;
    collect_pieces(&pieces, walk->model);
    uint32_t workers = bp_most_at_once(pieces.starts, pieces.ends, pieces.count);
    /* Both are sorted now. */
    double span_s = pieces.count ? pieces.ends[pieces.count - 1] - pieces.starts[0] : 0;
    bool all = walk->place_count == walk->count && walk->count > workers;
    bool full = pieces.sum_s > SATURATED * workers * span_s;
    bool used = pieces.count && (all || full) && !(walk->dropped_s > 0);
    if (used) {
        walk->place_count = workers;
        walk->gaps_s = walk->gaps = 0;
    }
    free(pieces.starts);
    free(pieces.ends);
    return used;
}

bool bp_projection_init(struct bp_projection *projection, const struct bp_model *model,
                        const struct bp_words *grows) {
    struct walk walk = {0};
    *projection = (struct bp_projection){0};
    collect(&walk, model);
    lay_out(&walk);
    forget_dropped(&walk);
    walk.workers = use_workers(&walk);
    projection->from = walk.count;
    if (walk.count >= BP_PROJECTION_FEWEST) {
        mark_first(&walk);
        projection->places = walk.place_count;
        find_costs(projection, &walk);
        find_edges(projection, &walk);
        find_step_part(projection, &walk);
        find_growing(projection, model, grows);
        projection->once_s = projection->before_s + projection->after_s + projection->uneven_s +
                             projection->warm_s - projection->grows_s * projection->from;
        projection->waste_s = find_waste(projection, &walk);
        projection->load = find_load(model);
        projection->by_workers = walk.workers;
        split_categories(projection, &walk);
    }
    free(walk.tasks);
    free(walk.places);
    free(walk.first);
    return projection->from >= BP_PROJECTION_FEWEST;
}

void bp_projection_fini(struct bp_projection *projection) {
    free(projection->times);
}

static double span_at(const struct bp_projection *projection, double tasks) {
    double places = fmin(projection->places, fmax(tasks, 1));
    double in_turn_s = tasks * projection->task_s + (tasks - places) * projection->gap_s;
    return in_turn_s / places + tasks * projection->grows_s;
}

double bp_projection_gaps(const struct bp_projection *projection, uint64_t tasks) {
    double gaps = (double)projection->from - projection->places;
    return gaps > 0 ? fmax((double)tasks - projection->places, 0) / gaps
                    : (double)tasks / projection->from;
}

/* How often more what is outside of tasks takes at a scale: what is paid once not at all, what is
 * between tasks as there are more gaps. */
static double outside_times(const struct bp_projection *projection, double tasks) {
    double gaps = (double)projection->from - projection->places;
    double more = fmax(tasks - projection->places, 0);
    double gap_s = projection->gap_s / projection->places;
    double now_s = projection->once_s + gaps * gap_s + projection->from * projection->grows_s;
    double then_s = projection->once_s + more * gap_s + tasks * projection->grows_s;
    return now_s > 0 ? then_s / now_s : 1;
}

static void share_out(const struct bp_projection *projection, struct bp_scaled *scaled) {
    double times = (double)scaled->tasks / projection->from;
    double outside = outside_times(projection, (double)scaled->tasks);
    double sum_s = 0;
    scaled->overhead_s =
        projection->inside_overhead_s * times + projection->outside_overhead_s * outside;
    for (int c = 0; c < BP_CATEGORIES; c++) {
        scaled->category_s[c] = projection->inside[c] * times + projection->outside[c] * outside;
        sum_s += scaled->category_s[c];
    }
    sum_s += scaled->overhead_s;
    for (int c = 0; sum_s > 0 && c < BP_CATEGORIES; c++)
        scaled->category_s[c] *= scaled->wall_s / sum_s;
    if (sum_s > 0)
        scaled->overhead_s *= scaled->wall_s / sum_s;
}

/* The run's own number of tasks is no projection: it took what it took. */
static void set_interval(const struct bp_projection *projection, struct bp_scaled *scaled) {
    struct bp_forecast_run run = {
        .times = projection->times,
        .count = projection->time_count,
        .places = projection->places,
        .gap_s = projection->gap_s,
        .once_s = projection->once_s - projection->uneven_s,
        .each_s = projection->grows_s,
        .waste_s = projection->waste_s,
        .load = projection->load,
    };
    scaled->low_s = scaled->high_s = scaled->wall_s;
    if (scaled->tasks == projection->from)
        return;
    struct bp_forecast forecast = bp_forecast(&run, scaled->tasks);
    scaled->low_s = fmin(forecast.low_s, scaled->wall_s);
    scaled->high_s = fmax(forecast.high_s, scaled->wall_s);
}

struct bp_scaled bp_projection_at(const struct bp_projection *projection, uint64_t tasks) {
    struct bp_scaled scaled = {.tasks = tasks};
    scaled.wall_s = projection->once_s + span_at(projection, (double)tasks);
    set_interval(projection, &scaled);
    share_out(projection, &scaled);
    return scaled;
}

double bp_projection_step(const struct bp_projection *projection) {
    return (projection->task_s + projection->gap_s) / projection->places + projection->grows_s;
}

bool bp_projection_uneven(const struct bp_projection *projection) {
    return projection->deviation_s > UNEVEN * projection->task_s;
}

struct bp_saving bp_projection_saving(const struct bp_projection *projection, double wall_s,
                                      double in_tasks) {
    double most_s = projection->task_s / projection->places;
    double step_s = wall_s * in_tasks * projection->step_part / projection->from;
    struct bp_saving saving = {.step_s = fmin(step_s, most_s)};
    saving.once_s = wall_s - saving.step_s * projection->from;
    return saving;
}

uint64_t bp_projection_fit(const struct bp_projection *projection, double s,
                           const struct bp_saving *saving) {
    double step_s = bp_projection_step(projection) - saving->step_s;
    double once_s = fmax(projection->once_s - projection->gap_s - saving->once_s, 0);
    if (!(step_s > 0) || s < once_s)
        return 0;
    return (uint64_t)fmin((s - once_s) / step_s, 1e15);
}
