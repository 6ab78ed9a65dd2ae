/* What the compiled loops share: float64 buffers from Python, and one body compiled for several processors. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <string.h>

/* The loader takes the best clone that the processor runs, so a build made on one machine runs on another. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
/* Older compilers know processors by their maker's names only: others than Intel's run the plain loop. */
#define CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define CLONES
#endif

/* So that each clone holds a copy compiled for its processor. */
#define INLINE static inline __attribute__((always_inline))

/* A C-contiguous buffer of native float64 with at least `least` numbers; NULL and an error otherwise. */
static inline double *buffer(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t least, int flags) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags)) return NULL;
    const int is_double = view->itemsize == sizeof(double) && view->format && !strcmp(view->format, "d");
    if (is_double && view->len / (ptrdiff_t)sizeof(double) >= least) return view->buf;
    if (is_double)
        PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, needs %zd", name, view->len / (ptrdiff_t)sizeof(double), least);
    else
        PyErr_Format(PyExc_ValueError, "%s: expected float64, got format '%s'", name, view->format ? view->format : "?");
    PyBuffer_Release(view);
    return NULL;
}

/* One to write to. */
static inline double *take(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t least) {
    return buffer(object, view, name, least, PyBUF_WRITABLE);
}

/* One to read from. */
static inline const double *look(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t least) {
    return buffer(object, view, name, least, 0);
}

/* One to read from, of exactly `size` numbers. */
static inline const double *look_exactly(PyObject *object, Py_buffer *view, const char *name, ptrdiff_t size) {
    const double *numbers = look(object, view, name, size);
    if (!numbers || view->len == size * (ptrdiff_t)sizeof(double)) return numbers;
    PyErr_Format(PyExc_ValueError, "%s holds %zd numbers, not %zd", name, view->len / (ptrdiff_t)sizeof(double), size);
    PyBuffer_Release(view);
    return NULL;
}

/* Takes `count` arrays; all or none. */
static inline int take_all(PyObject **objects, Py_buffer *views, const char **names, const ptrdiff_t *least, int count) {
    for (int i = 0; i < count; i++)
        if (!take(objects[i], &views[i], names[i], least[i])) {
            while (i > 0) PyBuffer_Release(&views[--i]);
            return 0;
        }
    return 1;
}

static inline void release_all(Py_buffer *views, int count) {
    for (int i = 0; i < count; i++) PyBuffer_Release(&views[i]);
}
