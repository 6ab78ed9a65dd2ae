/* The dense algebra of ChangeMonitor: a few outputs and a few tens of columns, too few for calls of NumPy to pay off.
 *
 * Matrices are stored by rows. Information matrices, roots, and matrices that roots are taken of use the upper triangle only. */
#include "_arguments.h"
#include "_triangular.h"

#define MOST INT16_MAX /* largest number of outputs or columns: no product of two of them overflows */

/* Updates the filter state (2 m, count) of `count` columns and writes its whitened innovations `white` (m, count), see `step`. */
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

/* Moves moment (m, m) the share `way` of the way to a b'. */
static void approach(double *moment, double way, const double *a, const double *b, ptrdiff_t m) {
    for (ptrdiff_t i = 0; i < m; i++)
        for (ptrdiff_t j = 0; j < m; j++) moment[i * m + j] += way * (a[i] * b[j] - moment[i * m + j]);
}

/* Returns whether both sizes are 1 to MOST, so that their products do not overflow; sets an error otherwise. */
static int sizes_fit(Py_ssize_t first, Py_ssize_t second) {
    if (first >= 1 && second >= 1 && first <= MOST && second <= MOST) return 1;
    PyErr_Format(PyExc_ValueError, "sizes are %zd and %zd, must be 1 to %d", first, second, MOST);
    return 0;
}

static PyObject *definite(int found, const char *name) {
    return found ? Py_NewRef(Py_None) : PyErr_Format(PyExc_ValueError, "%s is not positive definite", name);
}

FUNCTION(remember, "!fm+m !m !4mm !2m m m: n: f: % %",
         "remember(past, mean, moments, work, error, m, near, far, mean_way, way)\n\n"
         "What ErrorModel learns of an error (m,), the newest row of past (far + 1, m), which moves up by one:\n"
         "mean (m,) += mean_way (error - mean);  moments (4, m, m) += way (c_0 c_l' - moments) for the lags l = 0, near and far\n"
         "of what past deviates from the mean, c; the fourth of them is that of mean mean'. Work (2, m) is overwritten.") {
    const ptrdiff_t m = SIZE('m'), near = SIZE('n'), far = SIZE('f'), lags[] = {0, near, far};
    if (!sizes_fit(m, near) || !sizes_fit(m, far)) return NULL;
    if (near > far) return PyErr_Format(PyExc_ValueError, "near is %zd, more than far = %zd", near, far);
    double *past = a->array[0], *mean = a->array[1], *moments = a->array[2], *newest = a->array[3], *earlier = newest + m;
    const double *error = a->array[4], mean_way = a->number[0], way = a->number[1];
    memmove(past, past + m, (size_t)(far * m) * sizeof(double));
    for (ptrdiff_t i = 0; i < m; i++) {
        past[far * m + i] = error[i];
        mean[i] += mean_way * (error[i] - mean[i]);
        newest[i] = error[i] - mean[i];
    }
    for (int k = 0; k < 3; k++) {
        for (ptrdiff_t i = 0; i < m; i++) earlier[i] = past[(far - lags[k]) * m + i] - mean[i];
        approach(moments + k * m * m, way, newest, earlier, m);
    }
    approach(moments + 3 * m * m, way, mean, mean, m);
    Py_RETURN_NONE;
}

FUNCTION(predict, "!4mm !2mm !mm !mm 2 mm mm mm 2m m: %",
         "predict(covariance, gain, whole, root, kept, fast, slow, noise, added, m, scale)\n\n"
         "One step of the covariance P (2 m, 2 m) of ErrorModel's state (fast, slow), of whose sum an error is measured:\n"
         "P <- K P K + (1 - K^2) (fast, slow);  S = H P H' + noise;  gain = P H' S^-1;  P <- P - gain S gain'; scale P and scale S grow\n"
         "by what is added (2, m) to the variances of the slow part and of the noise.\n"
         "Written: P, gain (2 m, m), whole = scale S, its root R with R' R = whole, both (m, m); kept (2,) is what K multiplies the\n"
         "fast and the slow part by.") {
    const ptrdiff_t m = SIZE('m'), n = 2 * m;
    if (!sizes_fit(m, m)) return NULL;
    double *covariance = a->array[0], *gain = a->array[1], *whole = a->array[2], *root = a->array[3];
    const double *kept = a->array[4], *fast = a->array[5], *slow = a->array[6], *noise = a->array[7], *added = a->array[8];
    const double scale = a->number[0];
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
    if (!cholesky(root, m, 0.0)) return definite(0, "covariance of the innovations");
    for (ptrdiff_t i = 0; i < n; i++) solve_transposed_vector(root, gain + i * m, m); /* P H' R^-1: P loses its square */
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t j = 0; j < n; j++) covariance[i * n + j] -= dot(gain + i * m, gain + j * m, m);
    for (ptrdiff_t i = 0; i < n; i++) solve_vector(root, gain + i * m, m);
    for (ptrdiff_t i = 0; i < m * m; i++) {
        whole[i] *= scale;
        root[i] *= sqrt(scale);
    }
    Py_RETURN_NONE;
}

FUNCTION(factor, "!mm mm m m:",
         "factor(root, matrix, variance, m)\n\n"
         "Write into the upper triangle of root (m, m) the R with R' R = matrix (m, m) + diag(variance).") {
    const ptrdiff_t m = SIZE('m');
    if (!sizes_fit(m, m)) return NULL;
    double *root = a->array[0];
    const double *variance = a->array[2];
    memmove(root, a->array[1], (size_t)(m * m) * sizeof(double));
    for (ptrdiff_t i = 0; i < m; i++) root[i * m + i] += variance[i];
    return definite(cholesky(root, m, 0.0), "matrix");
}

FUNCTION(step, "!2mc !mc mc 2 2mm mm m: c:",
         "step(state, white, columns, kept, gain, root, m, count)\n\n"
         "One step of the filter, of state (2 m, count) and columns (m, count), with s1, s2 the halves of the state:\n"
         "s <- kept s;  e = columns - s1 - s2;  s <- s + gain e;  white = root'^-1 e.") {
    if (!sizes_fit(SIZE('m'), SIZE('c'))) return NULL;
    filter(a->array[0], a->array[1], a->array[2], a->array[3], a->array[4], a->array[5], SIZE('m'), SIZE('c'));
    Py_RETURN_NONE;
}

FUNCTION(add, "() 0 0 2 2mm mm m: ()",
         "add(evidence, columns, innovation, kept, gain, root, m, sizes)\n\n"
         "`step` of the columns (m, count) of all causes, of sizes (n1, n2, ...) that sum up to count, for each Evidence.memory of a tuple:\n"
         "state (2 m, count), information and vector. Then for each cause, with its whitened columns w: information (n, n) += w' w,\n"
         "upper triangle alone, and vector (n,) += w' innovation. Those of all causes follow each other in one array each.") {
    PyObject *evidence = a->object[0], *sizes = a->object[1];
    const ptrdiff_t m = SIZE('m');
    ptrdiff_t count = 0, squares = 0, n;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); i++, count += n, squares += n * n) {
        n = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, i));
        if (PyErr_Occurred() || !sizes_fit(n, 1) || !sizes_fit(n, count + n)) return NULL;
    }
    if (!sizes_fit(m, count) || !fits(a->length[0] >= m * count && a->length[1] >= m, "columns and innovation")) return NULL;
    double *whitened = scratch(a, m * count);
    for (Py_ssize_t k = 0; whitened && k < PyTuple_GET_SIZE(evidence); k++) {
        Arguments own;
        give_back(a->opened, 5);
        if (!take_tuple(a, PyTuple_GET_ITEM(evidence, k), &own, "memory(state, information, vector)", "!0 !0 !0") ||
            !fits(own.length[0] == 2 * m * count && own.length[1] == squares && own.length[2] == count, "evidence and columns"))
            return NULL;
        double *white = whitened, *information = own.array[1], *vector = own.array[2];
        filter(own.array[0], white, a->array[0], a->array[2], a->array[3], a->array[4], m, count);
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); i++, information += n * n, vector += n, white += n) {
            n = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, i));
            add_multiples(vector, 1.0, a->array[1], 1, white, count, m, n);
            for (ptrdiff_t j = 0; j < n; j++)
                add_multiples(information + j * n + j, 1.0, white + j, count, white + j, count, m, n - j);
        }
    }
    return whitened ? Py_NewRef(Py_None) : NULL;
}

FUNCTION(explain, "!nn !n nn n n n:",
         "explain(root, mean, information, vector, deviations, n) -> float\n\n"
         "Bayesian regression with coefficients of standard deviations D (n,) before any data, information A (n, n) and vector v:\n"
         "root = R with R' R = 1 + D A D;  mean = D (R' R)^-1 D v;  returned is |R'^-1 D v|^2 / 2 - log det R, the log\n"
         "likelihood ratio against coefficients of zero. Pivots below 1, which no exact ones are, are rounding, and taken for 1.") {
    const ptrdiff_t n = SIZE('n');
    if (!sizes_fit(n, n)) return NULL;
    double *root = a->array[0], *mean = a->array[1], ratio = 0.0;
    const double *information = a->array[2], *vector = a->array[3], *deviation = a->array[4];
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = i; j < n; j++) root[i * n + j] = deviation[i] * deviation[j] * information[i * n + j];
        root[i * n + i] += 1.0;
        mean[i] = deviation[i] * vector[i];
    }
    if (!cholesky(root, n, 1.0)) return definite(0, "1 + D A D");
    solve_transposed_vector(root, mean, n);
    for (ptrdiff_t i = 0; i < n; i++) ratio += 0.5 * mean[i] * mean[i] - log(root[i * n + i]);
    solve_vector(root, mean, n);
    for (ptrdiff_t i = 0; i < n; i++) mean[i] *= deviation[i];
    return PyFloat_FromDouble(ratio);
}

PLAIN_MODULE(_evidence, "Compiled regression on filtered errors.", METHOD(remember), METHOD(predict), METHOD(factor), METHOD(step),
             METHOD(add), METHOD(explain))
