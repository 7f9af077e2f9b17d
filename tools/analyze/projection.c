/* SPDX-License-Identifier: MIT */
#include "tools/projection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/memory.h"
#include "tools/statistics.h"

/* Firsts must exceed the others by this many of their standard errors to be called a warm-up. */
#define WARM_ERRORS 3.0
/* Of the mean task. Of run_batt's tasks, which differ by 240 %, a 95 % interval from 10 of them
 * held in 43 of 100 draws, from 40 in 83. */
#define UNEVEN 0.5

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
    bool *first; /* per task: the first of its thread, others followed */
};

static void collect(struct walk *walk, const struct bp_model *model) {
    walk->model = model;
    walk->tasks = bp_alloc(model->task_count, sizeof(struct bp_model_task *));
    for (uint32_t i = 0; i < model->task_count; i++)
        if (model->tasks[i].parent == BP_NO_TASK)
            walk->tasks[walk->count++] = &model->tasks[i];
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
            sum += walk->tasks[i]->duration_s;
            ++*firsts;
        } else {
            others[(*count)++] = walk->tasks[i]->duration_s;
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
            times[count++] = walk->tasks[i]->duration_s;
    }
    projection->task_s = bp_mean(times, count);
    projection->deviation_s = bp_deviation(times, count);
    projection->fastest_s = count ? times[0] : 0;
    for (uint32_t i = 1; i < count; i++)
        projection->fastest_s = fmin(projection->fastest_s, times[i]);
    projection->gap_s = walk->gaps ? walk->gaps_s / walk->gaps : 0;
    find_drift(projection, times, count);
    free(times);
}

/* Those that are no outliers, and no warm-up where there is one. */
static void find_ordinary(struct bp_projection *projection, const struct walk *walk) {
    double *times = bp_alloc(walk->count, sizeof(*times));
    uint32_t count = 0;
    for (uint32_t i = 0; i < walk->count; i++)
        if (!walk->tasks[i]->outlier && !(projection->warm_s > 0 && walk->first[i]))
            times[count++] = walk->tasks[i]->duration_s;
    projection->ordinary = count;
    projection->ordinary_s = bp_mean(times, count);
    projection->ordinary_deviation_s = bp_deviation(times, count);
    free(times);
}

static void find_edges(struct bp_projection *projection, const struct walk *walk) {
    double first_s = INFINITY;
    double last_s = 0;
    double sum_s = walk->gaps_s + walk->dropped_s;
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct bp_model_task *task = walk->tasks[i];
        first_s = fmin(first_s, task->start_s);
        last_s = fmax(last_s, task->start_s + task->duration_s);
        sum_s += task->duration_s;
    }
    double end_s = walk->model->wall_s + walk->dropped_s / projection->places;
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
        double busy_s = task->duration_s - task->waiting_s;
        double rate = busy_s > 0 ? task->wall_s / busy_s : 0;
        projection->inside_profiler_s += task->overhead_s * rate;
        for (int c = 0; c < BP_CATEGORIES; c++)
            projection->inside[c] += task->category_s[c] * rate;
        projection->inside[BP_FRAMEWORK] -= task->waiting_s * rate;
    }
    for (int c = 0; c < BP_CATEGORIES; c++)
        projection->outside[c] = fmax(model->category_s[c] - projection->inside[c], 0);
    projection->outside_profiler_s =
        fmax(model->overhead_wall_s - projection->inside_profiler_s, 0);
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
        double outside = phase->thread_s > 0 ? 1 - phase->task_s / phase->thread_s : 0;
        for (size_t k = 0; grows && k < grows->count; k++)
            if (strcmp(grows->word[k], phase->name) == 0)
                projection->grows_s += outside * phase->wall_s / projection->from;
    }
}

bool bp_projection_init(struct bp_projection *projection, const struct bp_model *model,
                        const struct bp_words *grows) {
    struct walk walk = {0};
    *projection = (struct bp_projection){0};
    collect(&walk, model);
    lay_out(&walk);
    forget_dropped(&walk);
    projection->from = walk.count;
    if (walk.count >= BP_PROJECTION_FEWEST) {
        mark_first(&walk);
        projection->places = walk.place_count;
        find_costs(projection, &walk);
        find_ordinary(projection, &walk);
        find_edges(projection, &walk);
        find_step_part(projection, &walk);
        find_growing(projection, model, grows);
        projection->once_s = projection->before_s + projection->after_s + projection->uneven_s +
                             projection->warm_s - projection->grows_s * projection->from;
        split_categories(projection, &walk);
    }
    free(walk.tasks);
    free(walk.places);
    free(walk.first);
    return projection->from >= BP_PROJECTION_FEWEST;
}

static double span_at(const struct bp_projection *projection, double tasks) {
    double places = fmin(projection->places, fmax(tasks, 1));
    double in_turn_s = tasks * projection->task_s + (tasks - places) * projection->gap_s;
    return in_turn_s / places + tasks * projection->grows_s;
}

/* The tasks that were measured are certain; those to come are drawn from the same, whose mean is
 * known as well as so many measured ones tell it. */
static double margin_of(const struct bp_projection *projection, double tasks, double deviation_s,
                        uint32_t count) {
    double more = fabs(tasks - projection->from);
    double variance = more * more / count + more;
    return deviation_s > 0
               ? bp_student(count - 1) * deviation_s * sqrt(variance) / projection->places
               : 0;
}

static double least_of(const struct bp_projection *projection, double tasks, double task_s) {
    double more = tasks > projection->from ? tasks - projection->from : tasks;
    double faster_s = projection->task_s - task_s;
    double places = fmin(projection->places, fmax(tasks, 1));
    return projection->once_s + span_at(projection, tasks) - more * faster_s / places;
}

/* If no task that was not measured is an outlier, and if all are as fast as the fastest that was. A
 * few long tasks make the margin wider than that, on the side where there is nothing. */
static double least_at(const struct bp_projection *projection, double tasks) {
    double fastest_s = least_of(projection, tasks, projection->fastest_s);
    if (projection->ordinary < BP_PROJECTION_FEWEST)
        return fastest_s;
    return fmax(fastest_s, least_of(projection, tasks, projection->ordinary_s) -
                               margin_of(projection, tasks, projection->ordinary_deviation_s,
                                         projection->ordinary));
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
    scaled->profiler_s =
        projection->inside_profiler_s * times + projection->outside_profiler_s * outside;
    for (int c = 0; c < BP_CATEGORIES; c++) {
        scaled->category_s[c] = projection->inside[c] * times + projection->outside[c] * outside;
        sum_s += scaled->category_s[c];
    }
    sum_s += scaled->profiler_s;
    for (int c = 0; sum_s > 0 && c < BP_CATEGORIES; c++)
        scaled->category_s[c] *= scaled->wall_s / sum_s;
    if (sum_s > 0)
        scaled->profiler_s *= scaled->wall_s / sum_s;
}

struct bp_scaled bp_projection_at(const struct bp_projection *projection, uint64_t tasks) {
    struct bp_scaled scaled = {.tasks = tasks};
    double margin_s =
        margin_of(projection, (double)tasks, projection->deviation_s, projection->from);
    scaled.wall_s = projection->once_s + span_at(projection, (double)tasks);
    scaled.low_s = fmax(scaled.wall_s - margin_s, least_at(projection, (double)tasks));
    scaled.high_s = scaled.wall_s + margin_s;
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
