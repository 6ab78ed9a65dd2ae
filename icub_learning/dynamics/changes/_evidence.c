/* The dense algebra of ChangeMonitor: a few outputs and a few tens of columns, too little for NumPy's calls to pay.
 *
 * Matrices are stored by rows. Of information, roots, and what roots are found of, the upper triangle counts. */
#include "_buffers.h"
#include "_triangular.h"
#include <math.h>

#define MOST INT16_MAX /* outputs or columns: no product of two such numbers overflows */

/* One step of the filter of `count` columns: state (2 m, count), whitened innovations `white` (m, count). */
static void filter(double *state, double *white, const double *columns, const double *kept, const double *gain, const double *root,
                   ptrdiff_t m, ptrdiff_t count) {
    const ptrdiff_t half = m * count;
    for (ptrdiff_t i = 0; i < half; i++) {
        state[i] *= kept[0];
        state[half + i] *= kept[1];
        white[i] = columns[i] - state[i] - state[half + i];
    }
    for (ptrdiff_t i = 0; i < 2 * m; i++) add_multiples(state + i * count, 1.0, gain + i * m, 1, white, count, m, count);
    solve_transposed(root, white, m, count);
}

/* The upper triangle of information (n, n) += w' w, and vector (n,) += w' innovation, for n columns w of white (m, count). */
static void accumulate(double *information, double *vector, const double *white, const double *innovation, ptrdiff_t m,
                       ptrdiff_t count, ptrdiff_t n) {
    add_multiples(vector, 1.0, innovation, 1, white, count, m, n);
    for (ptrdiff_t i = 0; i < n; i++) add_multiples(information + i * n + i, 1.0, white + i, count, white + i, count, m, n - i);
}

/* One step of the filter's covariance P (2 m, 2 m), see ErrorModel; returns whether that of the innovations is positive definite. */
static int predict_errors(double *covariance, double *gain, double *whole, double *root, const double *kept, const double *fast,
                          const double *slow, const double *noise, const double *added, ptrdiff_t m, double scale) {
    const ptrdiff_t n = 2 * m;
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) covariance[i * n + j] *= kept[i / m] * kept[j / m];
    for (ptrdiff_t i = 0; i < m; i++)
        for (ptrdiff_t j = 0; j < m; j++) {
            covariance[i * n + j] += (1.0 - kept[0] * kept[0]) * fast[i * m + j];
            covariance[(m + i) * n + m + j] += (1.0 - kept[1] * kept[1]) * slow[i * m + j];
        }
    for (ptrdiff_t i = 0; i < m; i++) covariance[(m + i) * n + m + i] += added[i] / scale;
    for (ptrdiff_t i = 0; i < n; i++) /* P H' */
        for (ptrdiff_t j = 0; j < m; j++) gain[i * m + j] = covariance[i * n + j] + covariance[i * n + m + j];
    for (ptrdiff_t i = 0; i < m * m; i++) root[i] = whole[i] = gain[i] + gain[m * m + i] + noise[i];
    for (ptrdiff_t i = 0; i < m; i++) root[i * m + i] = whole[i * m + i] += added[m + i] / scale;
    if (!cholesky(root, m, 0.0)) return 0;
    for (ptrdiff_t i = 0; i < n; i++) solve_transposed_vector(root, gain + i * m, m); /* P H' R^-1: its square is what is known now */
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) covariance[i * n + j] -= dot(gain + i * m, gain + j * m, m);
    for (ptrdiff_t i = 0; i < n; i++) solve_vector(root, gain + i * m, m);
    for (ptrdiff_t i = 0; i < m * m; i++) {
        whole[i] *= scale;
        root[i] *= sqrt(scale);
    }
    return 1;
}

/* `way` of the way from moment (m, m) to a b'. */
static void approach(double *moment, double way, const double *a, const double *b, ptrdiff_t m) {
    for (ptrdiff_t i = 0; i < m; i++)
        for (ptrdiff_t j = 0; j < m; j++) moment[i * m + j] += way * (a[i] * b[j] - moment[i * m + j]);
}

static int sizes_fit(Py_ssize_t first, Py_ssize_t second) {
    if (first >= 1 && second >= 1 && first <= MOST && second <= MOST) return 1;
    PyErr_Format(PyExc_ValueError, "sizes are %zd and %zd, must be 1 to %d", first, second, MOST);
    return 0;
}

static int is_definite(int found, const char *name) {
    if (!found) PyErr_Format(PyExc_ValueError, "%s is not positive definite", name);
    return found;
}

PyDoc_STRVAR(remember_doc, "remember(past, mean, moments, work, error, m, near, far, share, weight)\n\n"
             "What ErrorModel learns of an error (m,), the newest row of past (far + 1, m), which moves up by one:\n"
             "mean (m,) += share (error - mean);  moments (4, m, m) += (c_0 c_l' - moments) / weight for the lags l = 0, near and far\n"
             "of what past deviates from the mean, c; the fourth of them is that of mean mean'. Work (2, m) is overwritten.");
static PyObject *remember(PyObject *self, PyObject *args) {
    PyObject *o[5];
    Py_ssize_t m, near, far;
    double share, weight;
    if (!PyArg_ParseTuple(args, "OOOOOnnndd", &o[0], &o[1], &o[2], &o[3], &o[4], &m, &near, &far, &share, &weight)) return NULL;
    if (!sizes_fit(m, near) || !sizes_fit(m, far)) return NULL;
    if (near > far) return PyErr_Format(PyExc_ValueError, "near is %zd, more than far = %zd", near, far);
    Py_buffer v[5];
    static const char *names[] = {"past", "mean", "moments", "work", "error"};
    const ptrdiff_t least[] = {(far + 1) * m, m, 4 * m * m, 2 * m, m};
    if (!take_all(o, v, names, least, 5, 4)) return NULL;
    double *past = v[0].buf, *mean = v[1].buf, *moments = v[2].buf, *newest = v[3].buf, *earlier = newest + m;
    const double *error = v[4].buf;
    memmove(past, past + m, (size_t)(far * m) * sizeof(double));
    for (ptrdiff_t i = 0; i < m; i++) {
        past[far * m + i] = error[i];
        mean[i] += share * (error[i] - mean[i]);
        newest[i] = error[i] - mean[i];
    }
    const ptrdiff_t lags[] = {0, near, far};
    for (int k = 0; k < 3; k++) {
        for (ptrdiff_t i = 0; i < m; i++) earlier[i] = past[(far - lags[k]) * m + i] - mean[i];
        approach(moments + k * m * m, 1.0 / weight, newest, earlier, m);
    }
    approach(moments + 3 * m * m, 1.0 / weight, mean, mean, m);
    release_all(v, 5);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(predict_doc, "predict(covariance, gain, whole, root, kept, fast, slow, noise, added, m, scale)\n\n"
             "One step of the covariance P (2 m, 2 m) of ErrorModel's state (fast, slow), of whose sum an error is measured:\n"
             "P <- K P K + (1 - K^2) (fast, slow);  S = H P H' + noise;  gain = P H' S^-1;  P <- P - gain S gain'; scale P and scale S grow\n"
             "by what is added (2, m) to the variances of the slow part and of the noise.\n"
             "Written: P, gain (2 m, m), whole = scale S, its root R with R' R = whole, both (m, m); kept (2,) is what K multiplies the\n"
             "fast and the slow part by.");
static PyObject *predict(PyObject *self, PyObject *args) {
    PyObject *o[9];
    Py_ssize_t m;
    double scale;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOnd", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6], &o[7], &o[8], &m, &scale)) return NULL;
    if (!sizes_fit(m, m)) return NULL;
    Py_buffer v[9];
    static const char *names[] = {"covariance", "gain", "whole", "root", "kept", "fast", "slow", "noise", "added"};
    const ptrdiff_t square = m * m, least[] = {4 * square, 2 * square, square, square, 2, square, square, square, 2 * m};
    if (!take_all(o, v, names, least, 9, 4)) return NULL;
    const int found = predict_errors(v[0].buf, v[1].buf, v[2].buf, v[3].buf, v[4].buf, v[5].buf, v[6].buf, v[7].buf, v[8].buf, m, scale);
    release_all(v, 9);
    return is_definite(found, "covariance of the innovations") ? Py_NewRef(Py_None) : NULL;
}

PyDoc_STRVAR(factor_doc, "factor(root, matrix, variance, m)\n\n"
             "Write into the upper triangle of root (m, m) the R with R' R = matrix (m, m) + diag(variance).");
static PyObject *factor(PyObject *self, PyObject *args) {
    PyObject *o[3];
    Py_ssize_t m;
    if (!PyArg_ParseTuple(args, "OOOn", &o[0], &o[1], &o[2], &m) || !sizes_fit(m, m)) return NULL;
    Py_buffer v[3];
    static const char *names[] = {"root", "matrix", "variance"};
    const ptrdiff_t least[] = {m * m, m * m, m};
    if (!take_all(o, v, names, least, 3, 1)) return NULL;
    double *root = v[0].buf;
    memmove(root, v[1].buf, (size_t)(m * m) * sizeof(double));
    for (ptrdiff_t i = 0; i < m; i++) root[i * m + i] += ((const double *)v[2].buf)[i];
    const int found = cholesky(root, m, 0.0);
    release_all(v, 3);
    return is_definite(found, "matrix") ? Py_NewRef(Py_None) : NULL;
}

PyDoc_STRVAR(step_doc, "step(state, white, columns, kept, gain, root, m, count)\n\n"
             "One step of the filter, of state (2 m, count) and columns (m, count), with s1, s2 the halves of the state:\n"
             "s <- kept s;  e = columns - s1 - s2;  s <- s + gain e;  white = root'^-1 e.");
static PyObject *step(PyObject *self, PyObject *args) {
    PyObject *o[6];
    Py_ssize_t m, count;
    if (!PyArg_ParseTuple(args, "OOOOOOnn", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &m, &count) || !sizes_fit(m, count)) return NULL;
    Py_buffer v[6];
    static const char *names[] = {"state", "white", "columns", "kept", "gain", "root"};
    const ptrdiff_t least[] = {2 * m * count, m * count, m * count, 2, 2 * m * m, m * m};
    if (!take_all(o, v, names, least, 6, 2)) return NULL;
    filter(v[0].buf, v[1].buf, v[2].buf, v[3].buf, v[4].buf, v[5].buf, m, count);
    release_all(v, 6);
    Py_RETURN_NONE;
}

/* The number of columns of a cause; 0 and an error if there are none, or too many after `before`. */
static ptrdiff_t columns_of(PyObject *sizes, Py_ssize_t cause, ptrdiff_t before) {
    const Py_ssize_t own = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, cause));
    if (own == -1 && PyErr_Occurred()) return 0;
    return sizes_fit(own, 1) && sizes_fit(own, before + own) ? own : 0;
}

PyDoc_STRVAR(add_doc, "add(evidence, columns, innovation, kept, gain, root, m, sizes)\n\n"
             "`step` of the columns (m, count) of all causes, of sizes (n1, n2, ...) that sum up to count, for each Evidence.memory of a tuple:\n"
             "state (2 m, count), information and vector. Then for each cause, with its whitened columns w: information (n, n) += w' w,\n"
             "upper triangle alone, and vector (n,) += w' innovation. Those of all causes follow each other in one array each.");
static PyObject *add(PyObject *self, PyObject *args) {
    PyObject *o[5], *evidence, *tuple;
    Py_ssize_t m;
    if (!PyArg_ParseTuple(args, "O!OOOOOnO!", &PyTuple_Type, &evidence, &o[0], &o[1], &o[2], &o[3], &o[4], &m, &PyTuple_Type, &tuple))
        return NULL;
    ptrdiff_t count = 0, squares = 0, n;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++, count += n, squares += n * n)
        if (!(n = columns_of(tuple, i, count))) return NULL;
    if (!sizes_fit(m, count)) return NULL;
    Py_buffer v[5], own[3];
    static const char *names[] = {"columns", "innovation", "kept", "gain", "root"};
    const ptrdiff_t least[] = {m * count, m, 2, 2 * m * m, m * m};
    if (!take_all(o, v, names, least, 5, 0)) return NULL;
    double *whitened = PyMem_Malloc(m * count * sizeof(double));
    for (Py_ssize_t k = 0; whitened && k < PyTuple_GET_SIZE(evidence) && take_tuple(PyTuple_GET_ITEM(evidence, k), own, 3, 0, 3); k++) {
        double *white = whitened, *information = own[1].buf, *vector = own[2].buf;
        if (length_of(&own[0]) == 2 * m * count && length_of(&own[1]) == squares && length_of(&own[2]) == count) {
            filter(own[0].buf, white, v[0].buf, v[2].buf, v[3].buf, v[4].buf, m, count);
            for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++, information += n * n, vector += n, white += n) {
                n = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
                accumulate(information, vector, white, v[1].buf, m, count, n);
            }
        } else
            PyErr_SetString(PyExc_ValueError, "evidence does not fit the columns");
        release_all(own, 3);
        if (PyErr_Occurred()) break;
    }
    if (!whitened) PyErr_NoMemory();
    PyMem_Free(whitened);
    release_all(v, 5);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(explain_doc, "explain(root, mean, information, vector, deviations, n) -> float\n\n"
             "Bayesian regression with coefficients of standard deviations D (n,) before any data, information A (n, n) and vector v:\n"
             "root = R with R' R = 1 + D A D;  mean = D (R' R)^-1 D v;  returned is |R'^-1 D v|^2 / 2 - log det R, the log\n"
             "likelihood ratio against coefficients of zero. Pivots below 1, which no exact ones are, are rounding, and taken for 1.");
static PyObject *explain(PyObject *self, PyObject *args) {
    PyObject *o[5];
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "OOOOOn", &o[0], &o[1], &o[2], &o[3], &o[4], &n) || !sizes_fit(n, n)) return NULL;
    Py_buffer v[5];
    static const char *names[] = {"root", "mean", "information", "vector", "deviations"};
    const ptrdiff_t least[] = {n * n, n, n * n, n, n};
    if (!take_all(o, v, names, least, 5, 2)) return NULL;
    double *root = v[0].buf, *mean = v[1].buf, ratio = 0.0;
    const double *information = v[2].buf, *vector = v[3].buf, *deviation = v[4].buf;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = i; j < n; j++) root[i * n + j] = deviation[i] * deviation[j] * information[i * n + j];
        root[i * n + i] += 1.0;
        mean[i] = deviation[i] * vector[i];
    }
    const int found = cholesky(root, n, 1.0);
    if (found) {
        solve_transposed_vector(root, mean, n);
        for (ptrdiff_t i = 0; i < n; i++) ratio += 0.5 * mean[i] * mean[i] - log(root[i * n + i]);
        solve_vector(root, mean, n);
        for (ptrdiff_t i = 0; i < n; i++) mean[i] *= deviation[i];
    }
    release_all(v, 5);
    return is_definite(found, "1 + D A D") ? PyFloat_FromDouble(ratio) : NULL;
}

PyDoc_STRVAR(spread_doc, "spread(covariance, work, root, deviations, n, count)\n\n"
             "Covariance (count, count) of the first `count` of n coefficients after `explain`, with its root R:\n"
             "D X' X D, where X = R'^-1 (1, 0)'. Work (n, count) is overwritten.");
static PyObject *spread(PyObject *self, PyObject *args) {
    PyObject *o[4];
    Py_ssize_t n, count;
    if (!PyArg_ParseTuple(args, "OOOOnn", &o[0], &o[1], &o[2], &o[3], &n, &count) || !sizes_fit(n, count)) return NULL;
    if (count > n) return PyErr_Format(PyExc_ValueError, "count is %zd, more than n = %zd", count, n);
    Py_buffer v[4];
    static const char *names[] = {"covariance", "work", "root", "deviations"};
    const ptrdiff_t least[] = {count * count, n * count, n * n, n};
    if (!take_all(o, v, names, least, 4, 2)) return NULL;
    double *covariance = v[0].buf, *x = v[1].buf;
    const double *deviation = v[3].buf;
    for (ptrdiff_t i = 0; i < n * count; i++) x[i] = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) x[i * count + i] = 1.0;
    solve_transposed(v[2].buf, x, n, count);
    for (ptrdiff_t i = 0; i < count; i++)
        for (ptrdiff_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (ptrdiff_t k = i; k < n; k++) sum += x[k * count + i] * x[k * count + j];
            covariance[i * count + j] = covariance[j * count + i] = deviation[i] * deviation[j] * sum;
        }
    release_all(v, 4);
    Py_RETURN_NONE;
}

PLAIN_MODULE(_evidence, "Compiled regression on filtered errors.", {"remember", remember, METH_VARARGS, remember_doc},
             {"predict", predict, METH_VARARGS, predict_doc}, {"factor", factor, METH_VARARGS, factor_doc},
             {"step", step, METH_VARARGS, step_doc}, {"add", add, METH_VARARGS, add_doc},
             {"explain", explain, METH_VARARGS, explain_doc}, {"spread", spread, METH_VARARGS, spread_doc})
