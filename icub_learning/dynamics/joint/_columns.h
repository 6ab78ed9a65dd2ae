/* What learning by a joint process and predicting by its experts share: the entries of Y_b, and the features of the last seconds. */
#include "recursive/_learning.h"

/* BaseColumns.memory: Y_b (T, p) is the sum of scale[e] times the learned entry source[e] at row output[e], column place[e]. */
typedef struct {
    Py_buffer views[7];
    ptrdiff_t terms, learned, T, p;
    const long long *output, *place, *source, *entry;
    const double *scale, *root, *offset; /* root (p, p), lower triangular, offset (p,) */
} COLUMNS;

/* Opens the columns for T outputs. */
UNUSED int take_columns(PyObject *tuple, COLUMNS *c, ptrdiff_t T) {
    if (!take_tuple(tuple, c->views, 7, 4, 0)) return 0;
    c->entry = c->views[0].buf, c->output = c->views[1].buf, c->place = c->views[2].buf, c->source = c->views[3].buf;
    c->scale = c->views[4].buf, c->root = c->views[5].buf, c->offset = c->views[6].buf;
    c->learned = length_of(&c->views[0]), c->terms = length_of(&c->views[1]), c->T = T, c->p = length_of(&c->views[6]);
    if (length_of(&c->views[2]) == c->terms && length_of(&c->views[3]) == c->terms && length_of(&c->views[4]) == c->terms &&
        length_of(&c->views[5]) == c->p * c->p && are_below(c->entry, c->learned, T * c->p) && are_below(c->output, c->terms, T) &&
        are_below(c->place, c->terms, c->p) && are_below(c->source, c->terms, c->learned) &&
        c->terms && c->source[c->terms - 1] == c->learned - 1) /* they are sorted */
        return 1;
    PyErr_SetString(PyExc_ValueError, "an entry is outside of the columns, or arrays of the columns do not fit");
    release_all(c->views, 7);
    return 0;
}

/* Rows z (k T, p) and targets (k T,) of the second factor from residuals left (k, T + learned). */
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

/* The share of phi (features,) that is learned of late: `scale` times the numbers at `place` (k,). */
UNUSED void take_share(double *share, const double *phi, const long long *place, ptrdiff_t k, double scale) {
    for (ptrdiff_t j = 0; j < k; j++) share[j] = scale * phi[place[j]];
}
