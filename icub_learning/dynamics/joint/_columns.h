/* Code shared by learning (_joint.c) and prediction (_experts.c): the entries of Y_b, and the features of the last seconds. */
#include "recursive/_learning.h"

/* BaseColumns.memory: Y_b (T, p) is the sum of scale[e] times the learned entry source[e] at row output[e], column place[e]. */
typedef struct {
    ptrdiff_t terms, learned, T, p;
    const long long *output, *place, *source, *entry;
    const double *scale, *root, *offset; /* root (p, p), lower triangular, offset (p,) */
} COLUMNS;

/* Opens BaseColumns.memory for T outputs; returns 0 and sets an error where it does not fit. */
UNUSED int take_columns(Arguments *a, PyObject *tuple, COLUMNS *c, ptrdiff_t T) {
    Arguments m;
    if (!take_tuple(a, tuple, &m, "columns(entry, output, place, source, scale, root, offset)", "I0 It =It =It =t 0 p") ||
        !fits(m.length[5] == m.length[6] * m.length[6], "root and offset of the columns"))
        return 0;
    *c = (COLUMNS){m.length[1], m.length[0], T, m.length[6], m.array[1], m.array[2], m.array[3], m.array[0],
                   m.array[4], m.array[5], m.array[6]};
    return fits(are_below(c->entry, c->learned, T * c->p) && are_below(c->output, c->terms, T) && are_below(c->place, c->terms, c->p) &&
                    are_below(c->source, c->terms, c->learned) && c->terms && c->source[c->terms - 1] == c->learned - 1, /* sorted */
                "entries of the columns, which are outside of them,");
}

/* Writes rows z (k T, p) and targets (k T,) of the second factor from the residuals left (k, T + learned) of the first. */
UNUSED void make_rows(double *z, double *target, const double *left, ptrdiff_t k, const COLUMNS *c, const double *weights) {
    memset(z, 0, k * c->T * c->p * sizeof(double));
    for (ptrdiff_t l = 0; l < k; l++, left += c->T + c->learned, z += c->T * c->p, target += c->T) {
        for (ptrdiff_t t = 0; t < c->T; t++) target[t] = weights[t] * left[t];
        for (ptrdiff_t e = 0; e < c->terms; e++) {
            const ptrdiff_t place = c->place[e];
            const double value = weights[c->output[e]] * c->scale[e] * left[c->T + c->source[e]], *of_place = c->root + place * c->p;
            double *row = z + c->output[e] * c->p;
            for (ptrdiff_t j = 0; j <= place; j++) row[j] += value * of_place[j];
            target[c->output[e]] -= value * c->offset[place];
        }
    }
}

/* Writes the features that models of the last seconds use into share (k,): `scale` times the entries of phi at `place` (k,). */
UNUSED void take_share(double *share, const double *phi, const long long *place, ptrdiff_t k, double scale) {
    for (ptrdiff_t j = 0; j < k; j++) share[j] = scale * phi[place[j]];
}
