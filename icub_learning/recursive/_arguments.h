/* What the functions of the kernel accept from Python: arrays through the buffer protocol, sizes, and their checks. */

/* A C-contiguous buffer of native float64. */
static int take(PyObject *object, Py_buffer *view, int writable) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0))) return 0;
    if (view->format && view->format[0] == 'd' && !view->format[1]) return 1;
    PyErr_Format(PyExc_ValueError, "expected an array of float64, got format '%s'", view->format ? view->format : "?");
    PyBuffer_Release(view);
    return 0;
}

/* Takes `count` buffers, the first `n_writable` of them writable; all or none. */
static int take_all(PyObject *const *objects, Py_buffer *views, int count, int n_writable) {
    for (int i = 0; i < count; i++)
        if (!take(objects[i], &views[i], i < n_writable)) {
            while (i > 0) PyBuffer_Release(&views[--i]);
            return 0;
        }
    return 1;
}

static void release_all(Py_buffer *views, int count) {
    for (int i = 0; i < count; i++) PyBuffer_Release(&views[i]);
}

static int check_count(const char *name, Py_ssize_t given, Py_ssize_t wanted) {
    if (given == wanted) return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", name, wanted, given);
    return 0;
}

/* Takes size, features and, where it is wanted, outputs. `size` is `features` rounded up to whole tiles. */
static int take_sizes(PyObject *const *objects, Py_ssize_t *size, Py_ssize_t *features, Py_ssize_t *outputs) {
    *size = PyLong_AsSsize_t(objects[0]);
    *features = PyLong_AsSsize_t(objects[1]);
    const Py_ssize_t count = outputs ? PyLong_AsSsize_t(objects[2]) : 1;
    if (PyErr_Occurred()) return 0;
    if (outputs) *outputs = count;
    if (*size > 0 && *size <= LARGEST_SIZE && *size % BLOCK == 0 && *features > *size - BLOCK && *features <= *size &&
        count > 0 && count <= LARGEST_SIZE)
        return 1;
    PyErr_Format(PyExc_ValueError, "size %zd must be a multiple of %d in 1..%d, features %zd less by 0..%d, outputs %zd in 1..%d",
                 *size, BLOCK, LARGEST_SIZE, *features, BLOCK - 1, count, LARGEST_SIZE);
    return 0;
}

static int check_length(const char *name, const Py_buffer *view, ptrdiff_t least) {
    const ptrdiff_t length = view->len / (ptrdiff_t)sizeof(double);
    if (length >= least) return 1;
    PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, needs %zd", name, length, least);
    return 0;
}

/* Number of rows of `features` numbers in z. */
static ptrdiff_t count_rows(const Py_buffer *z, ptrdiff_t features) { return z->len / (features * (ptrdiff_t)sizeof(double)); }

/* Takes C-contiguous float64 of shape (width,) or (k, width), each number within +-limit. Raises nothing. */
static int take_plain(PyObject *object, Py_buffer *view, ptrdiff_t width, double limit) {
    if (!take(object, view, 0)) {
        PyErr_Clear();
        return 0;
    }
    if ((view->ndim == 1 || view->ndim == 2) && view->shape[view->ndim - 1] == width &&
        !kernel->count_beyond(view->buf, view->len / (ptrdiff_t)sizeof(double), limit))
        return 1;
    PyBuffer_Release(view);
    return 0;
}

/* Rows of z, each padded with zeros to `size`. */
static void pad(double *out, const double *z, ptrdiff_t size, ptrdiff_t features, ptrdiff_t rank) {
    for (ptrdiff_t l = 0; l < rank; l++) {
        memset(out + (l + 1) * size - BLOCK, 0, BLOCK * sizeof(double)); /* of a fixed size: no call */
        memcpy(out + l * size, z + l * features, features * sizeof(double));
    }
}
