/* SPDX-License-Identifier: MIT
 *
 * The functions of the solver language by name, each with an adapter from checked values to the C
 * call. An adapter is local to the library, the function it calls is not: that call goes through
 * the PLT like any other.
 */
#include "dsl/internal.h"

#include <string.h>

#define IN_G(v) (v).grid
#define IN_O(v) (v).object
#define IN_T(v) (v).tuple
#define IN_I(v) (v).number
#define IN_P(v) (v).pair
#define IN_F(v) (v).function
#define IN_V(v) (v)
#define OUT_G(x) value_grid(x)
#define OUT_O(x) value_object(x)
#define OUT_T(x) value_tuple(x)
#define OUT_I(x) value_int(x)
#define OUT_P(x) value_pair(x)
#define OUT_F(x) value_function(x)
#define OUT_V(x) (x)

#define ADAPTER(name)                                                                              \
    static struct dsl_value call_##name(struct dsl_arena *arena, const struct dsl_function *self,  \
                                        const struct dsl_value *v)
#define FUNCTION1(c, text, R, A)                                                                   \
    ADAPTER(c) {                                                                                   \
        (void)self;                                                                                \
        return OUT_##R(c(arena, IN_##A(v[0])));                                                    \
    }
#define FUNCTION2(c, text, R, A, B)                                                                \
    ADAPTER(c) {                                                                                   \
        (void)self;                                                                                \
        return OUT_##R(c(arena, IN_##A(v[0]), IN_##B(v[1])));                                      \
    }
#define FUNCTION3(c, text, R, A, B, C)                                                             \
    ADAPTER(c) {                                                                                   \
        (void)self;                                                                                \
        return OUT_##R(c(arena, IN_##A(v[0]), IN_##B(v[1]), IN_##C(v[2])));                        \
    }
#define FUNCTION4(c, text, R, A, B, C, D)                                                          \
    ADAPTER(c) {                                                                                   \
        (void)self;                                                                                \
        return OUT_##R(c(arena, IN_##A(v[0]), IN_##B(v[1]), IN_##C(v[2]), IN_##D(v[3])));          \
    }
#include "dsl/functions.def"
#undef FUNCTION1
#undef FUNCTION2
#undef FUNCTION3
#undef FUNCTION4

#define ROW(c, text, R, letters)                                                                   \
    {.name = text, .returns = #R[0], .takes = letters, .call = call_##c},
#define FUNCTION1(c, text, R, A) ROW(c, text, R, #A)
#define FUNCTION2(c, text, R, A, B) ROW(c, text, R, #A #B)
#define FUNCTION3(c, text, R, A, B, C) ROW(c, text, R, #A #B #C)
#define FUNCTION4(c, text, R, A, B, C, D) ROW(c, text, R, #A #B #C #D)

static const struct dsl_function functions[] = {
#include "dsl/functions.def"
};

const struct dsl_function *dsl_function_find(const char *name) {
    for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++)
        if (!strcmp(functions[k].name, name))
            return &functions[k];
    return NULL;
}

/* The one way to call a function value: adapters trust the types of what they are given. */
struct dsl_value dsl_call(struct dsl_arena *arena, const struct dsl_function *function,
                          const struct dsl_value *args) {
    for (int k = 0; function->takes[k]; k++)
        if (!dsl_type_fits(function->takes[k], args[k].type)) {
            dsl_fail(arena, "argument of the wrong type");
            return value_none();
        }
    return function->call(arena, function, args);
}
