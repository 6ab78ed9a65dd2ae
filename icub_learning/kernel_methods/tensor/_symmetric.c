/* Packed symmetric tensors of any order: filling them with products of samples, and contracting them with a vector.
 *
 * Entry i_1 <= ... <= i_q lies at sum_k C(i_k + k - 1, k), so that i_1 runs fastest and the entries with a common
 * (i_2, ..., i_q) are one stretch of i_2 + 1 numbers. Both functions walk through the stretches in that order, from the
 * last index inwards.
 */
#include "_buffers.h"

#define MAX_ORDER 16 /* of a tensor: TensorKernelRegressor takes no higher one */

typedef struct {
    const double *entries; /* where the walk stands */
    const double *vector;  /* alpha */
    double *gradients;     /* MAX_ORDER rows of n: derivatives of the sums below a level */
    double *hessian;       /* n x n, or NULL */
    ptrdiff_t n;
} Walk;

typedef struct {
    const double *samples; /* (n, d) */
    const double *columns; /* (d, n), the same */
    double *products;      /* MAX_ORDER + 1 rows of d: products of the samples so far */
    double *out;
    ptrdiff_t n, d;
} Fill;

#define LOOPS "_symmetric_loops.h"
#include "_versions.h"

/* C(n + order - 1, order), or -1 where that is no number of entries that any memory holds. */
static ptrdiff_t count_entries(Py_ssize_t n, int order) {
    double count = 1;
    for (int k = 1; k <= order; k++) count = count * (double)(n + k - 1) / k;
    if (count > 1e15) return -1;
    ptrdiff_t exact = 1;
    for (int k = 1; k <= order; k++) exact = exact * (n + k - 1) / k; /* each division leaves no rest */
    return exact;
}

static ptrdiff_t check_sizes(Py_ssize_t n, int order) {
    const ptrdiff_t count = n > 0 && order >= 1 && order <= MAX_ORDER ? count_entries(n, order) : -1;
    if (count < 0) PyErr_Format(PyExc_ValueError, "n %zd must be positive, order %d in 1..%d", n, order, MAX_ORDER);
    return count;
}

PyDoc_STRVAR(fill_doc,
             "fill(out, samples, columns, weights, work, n, d, order)\n--\n\n"
             "out: packed sum_k weights_k x_{i_1 k} ... x_{i_order k} of samples (n, d); columns: their transpose; weights\n"
             "(d,); work: (order + 1) d numbers.");
static PyObject *fill(PyObject *self, PyObject *args) {
    PyObject *objects[5];
    Py_ssize_t n, d;
    int order;
    if (!PyArg_ParseTuple(args, "OOOOOnni", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &n, &d, &order))
        return NULL;
    const ptrdiff_t count = check_sizes(n, order);
    if (count < 0) return NULL;
    const char *names[] = {"out", "samples", "columns", "weights", "work"};
    const ptrdiff_t least[] = {count, n * d, n * d, d, (order + 1) * d};
    Py_buffer views[5];
    if (!take_all(objects, views, names, least, 5, 5)) return NULL;
    Fill state = {views[1].buf, views[2].buf, views[4].buf, views[0].buf, n, d};
    memcpy(state.products + order * d, views[3].buf, d * sizeof(double));
    Py_BEGIN_ALLOW_THREADS
    CHOSEN(fill_level)(&state, order, n - 1);
    Py_END_ALLOW_THREADS
    release_all(views, 5);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(contract_doc,
             "contract(entries, vector, gradients, hessian, n, order)\n--\n\n"
             "P = sum of entry(i) prod alpha_i / prod c! over sorted indices, c the numbers of equal ones: order! P is the form\n"
             "T(alpha, ..., alpha). Row `order` of gradients ((order + 1) n numbers) becomes its gradient; hessian (n, n), None for\n"
             "none, gets second derivatives added on and below the diagonal, on it half of them. Returns P.");
static PyObject *contract(PyObject *self, PyObject *args) {
    PyObject *objects[4];
    Py_ssize_t n;
    int order;
    if (!PyArg_ParseTuple(args, "OOOOni", &objects[0], &objects[1], &objects[2], &objects[3], &n, &order)) return NULL;
    const ptrdiff_t count = check_sizes(n, order);
    if (count < 0) return NULL;
    const char *names[] = {"entries", "vector", "gradients", "hessian"};
    const ptrdiff_t least[] = {count, n, (order + 1) * n, n * n};
    const int given = objects[3] == Py_None ? 3 : 4;
    Py_buffer views[4];
    if (!take_all(objects, views, names, least, given, given)) return NULL;
    Walk walk = {views[0].buf, views[1].buf, views[2].buf, given == 4 ? views[3].buf : NULL, n};
    double sum;
    Py_BEGIN_ALLOW_THREADS
    sum = CHOSEN(contract_level)(&walk, order, n - 1, 0, 1.0);
    Py_END_ALLOW_THREADS
    release_all(views, given);
    return PyFloat_FromDouble(sum);
}

MODULE(_symmetric, "Compiled walks through packed symmetric tensors.",
       {"fill", fill, METH_VARARGS, fill_doc},
       {"contract", contract, METH_VARARGS, contract_doc})
