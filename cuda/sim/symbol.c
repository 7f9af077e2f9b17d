/* SPDX-License-Identifier: MIT
 *
 * __device__, __constant__ and __managed__ variables. Their initial values are inside the device
 * code, which nobody reads here: they begin as zero.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/sim/internal.h"

struct symbol {
    struct symbol *next;
    const void *shadow;
    const char *name;
    size_t size;
    void *memory;
};

static struct {
    int lock;
    struct symbol *first;
} state;

static int add(const void *shadow, const char *name, size_t size, void *memory) {
    struct symbol *symbol = malloc(sizeof *symbol);
    if (!symbol)
        return cudaErrorMemoryAllocation;
    *symbol = (struct symbol){NULL, shadow, name, size, memory};
    bp_sim_lock(&state.lock);
    symbol->next = state.first;
    state.first = symbol;
    bp_sim_unlock(&state.lock);
    return 0;
}

int bp_sim_add_symbol(const void *shadow, const char *name, size_t size) {
    return add(shadow, name, size, NULL);
}

/* Called by constructors, when no context may be made. */
int bp_sim_add_managed(void **shadow, const char *name, size_t size) {
    *shadow = calloc(1, size);
    int error = *shadow ? add(*shadow, name, size, *shadow) : cudaErrorMemoryAllocation;
    return error ? error : bp_sim_adopt_managed(*shadow, size);
}

static int get(struct symbol *symbol, void **memory, size_t *size) {
    int error = symbol ? 0 : cudaErrorInvalidSymbol;
    if (symbol && !symbol->memory)
        error = bp_sim_allocate(&symbol->memory, symbol->size, BP_SIM_DEVICE);
    if (!error && memory)
        *memory = symbol->memory;
    if (!error && size)
        *size = symbol->size;
    return error;
}

int bp_sim_symbol_at(const void *shadow, void **memory, size_t *size) {
    bp_sim_lock(&state.lock);
    struct symbol *symbol = state.first;
    while (symbol && symbol->shadow != shadow)
        symbol = symbol->next;
    int error = get(symbol, memory, size);
    bp_sim_unlock(&state.lock);
    return error;
}

void *bp_sim_symbol(const char *name) {
    void *memory = NULL;
    bp_sim_lock(&state.lock);
    struct symbol *symbol = state.first;
    while (symbol && strcmp(symbol->name, name))
        symbol = symbol->next;
    get(symbol, &memory, NULL);
    bp_sim_unlock(&state.lock);
    return memory;
}
