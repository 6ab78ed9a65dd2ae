/* Packed symmetric tensors of any order: filling them with sums of products of samples, and contracting them with a vector.
 *
 * Entry i_1 <= ... <= i_q lies at sum_k C(i_k + k - 1, k), so that i_1 runs fastest and the entries with a common
 * (i_2, ..., i_q) are one stretch of i_2 + 1 numbers. Both functions walk through the stretches in that order, from the
 * last index inwards.
 */
#include "_arguments.h"

#define MAX_ORDER 16 /* highest order of a tensor; TensorKernelRegressor takes no higher one */

typedef struct {
    const double *entries; /* next entry of the walk */
    const double *vector;  /* alpha */
    double *gradients;     /* MAX_ORDER rows of n: derivatives of the sums below a level */
    double *hessian;       /* n x n, or NULL */
    ptrdiff_t n;
} Walk;

typedef struct {
    const double *samples; /* (n, d) */
    const double *columns; /* (d, n), their transpose */
    double *products;      /* MAX_ORDER + 1 rows of d: products of the samples so far */
    double *out;
    ptrdiff_t n, d;
} Fill;

#define LOOPS "_symmetric_loops.h"
#include "_versions.h"

/* Whether an array of `length` numbers holds the C(n + order - 1, order) entries of a tensor; sets an error otherwise. */
static int holds(ptrdiff_t length, ptrdiff_t n, ptrdiff_t order) {
    double count = 1; /* exact for any count that fits into memory */
    for (ptrdiff_t k = 1; k <= order && k <= MAX_ORDER; k++) count = count * (double)(n + k - 1) / (double)k;
    return fits(n > 0 && order >= 1 && order <= MAX_ORDER && (double)length >= count, "the entries, n and order");
}

FUNCTION(fill, "!0 nd nd d !od+d n: d: o:",
         "fill(out, samples, columns, weights, work, n, d, order)\n--\n\n"
         "out: packed sum_k weights_k x_{i_1 k} ... x_{i_order k} of samples (n, d); columns: their transpose; weights\n"
         "(d,); work: (order + 1) d numbers.") {
    const ptrdiff_t n = SIZE('n'), d = SIZE('d'), order = SIZE('o');
    if (!holds(a->length[0], n, order)) return NULL;
    Fill state = {a->array[1], a->array[2], a->array[4], a->array[0], n, d};
    memcpy(state.products + order * d, a->array[3], d * sizeof(double));
    Py_BEGIN_ALLOW_THREADS
    CHOSEN(fill_level)(&state, (int)order, n - 1);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

FUNCTION(contract, "0 n !on+n !~nn n: o:",
         "contract(entries, vector, gradients, hessian, n, order)\n--\n\n"
         "P = sum of entry(i) prod alpha_i / prod c! over sorted indices, c the numbers of equal ones: order! P is the form\n"
         "T(alpha, ..., alpha). Row `order` of gradients ((order + 1) n numbers) becomes its gradient; hessian (n, n), None for\n"
         "none, gets second derivatives added on and below the diagonal, on it half of them. Returns P.") {
    const ptrdiff_t n = SIZE('n'), order = SIZE('o');
    if (!holds(a->length[0], n, order)) return NULL;
    Walk walk = {a->array[0], a->array[1], a->array[2], a->array[3], n};
    double sum;
    Py_BEGIN_ALLOW_THREADS
    sum = CHOSEN(contract_level)(&walk, (int)order, n - 1, 0, 1.0);
    Py_END_ALLOW_THREADS
    return PyFloat_FromDouble(sum);
}

MODULE(_symmetric, "Compiled walks through packed symmetric tensors.", METHOD(fill), METHOD(contract))
