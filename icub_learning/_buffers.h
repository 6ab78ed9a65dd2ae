/* What the compiled modules share: arrays of float64 from Python, through the buffer protocol. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <string.h>

/* How many numbers a buffer of float64 holds. */
static inline ptrdiff_t length_of(const Py_buffer *view) { return view->len / (ptrdiff_t)sizeof(double); }

/* Opens a C-contiguous buffer of native float64 with at least `least` numbers; NULL and an error otherwise. */
static inline double *buffer(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t least, int flags) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags)) return NULL;
    const int is_double = view->format && view->format[0] == 'd' && !view->format[1];
    if (is_double && length_of(view) >= least) return view->buf;
    if (is_double)
        PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, needs %zd", name, length_of(view), least);
    else
        PyErr_Format(PyExc_ValueError, "%s: expected float64, got format '%s'", name, view->format ? view->format : "?");
    PyBuffer_Release(view);
    return NULL;
}

/* Opens a buffer for writing. */
static inline double *take(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t least) {
    return buffer(object, view, name, least, PyBUF_WRITABLE);
}

/* Opens a buffer for reading. */
static inline const double *look(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t least) {
    return buffer(object, view, name, least, 0);
}

static inline void release_all(Py_buffer *views, int count) {
    for (int i = 0; i < count; i++) PyBuffer_Release(&views[i]);
}

/* Opens `count` buffers, the first `n_written` of them for writing; all or none. */
static inline int take_all(PyObject *const *objects, Py_buffer *views, const char *const *names, const ptrdiff_t *least,
                           int count, int n_written) {
    for (int i = 0; i < count; i++)
        if (!buffer(objects[i], &views[i], names[i], least[i], i < n_written ? PyBUF_WRITABLE : 0)) {
            release_all(views, i);
            return 0;
        }
    return 1;
}

/* For functions that loops of _versions.h call: each version then holds a copy compiled for its processor. */
#define INLINE static inline __attribute__((always_inline))

/* For functions that not every module calls which includes them. */
#define UNUSED static __attribute__((unused))

/* Opens a tuple of `count` buffers, the first `n_integers` of 8-byte integers, the others of float64; the first `n_written` for writing. */
UNUSED int take_tuple(PyObject *tuple, Py_buffer *views, int count, int n_integers, int n_written) {
    const int fits = PyTuple_Check(tuple) && PyTuple_GET_SIZE(tuple) == count;
    for (int i = 0; i < count; i++) {
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (i < n_written ? PyBUF_WRITABLE : 0);
        if (fits && !PyObject_GetBuffer(PyTuple_GET_ITEM(tuple, i), &views[i], flags)) {
            if (views[i].itemsize == 8 && views[i].format && strchr(i < n_integers ? "lq" : "d", views[i].format[0])) continue;
            PyBuffer_Release(&views[i]);
        }
        release_all(views, fits ? i : 0);
        if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "expected %d arrays of 8-byte numbers", count);
        return 0;
    }
    return 1;
}

/* Defines a module of this name from its PyMethodDefs, without loops of _versions.h. */
#define PLAIN_MODULE(name, doc, ...)                                                                                            \
    static PyMethodDef methods[] = {__VA_ARGS__, {NULL, NULL, 0, NULL}};                                                        \
    static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, #name, doc, -1, methods, NULL, NULL, NULL, NULL};                \
    PyMODINIT_FUNC PyInit_##name(void) { return PyModule_Create(&module); }
