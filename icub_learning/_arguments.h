/* Arguments of the compiled functions: one string says what a function takes; all is opened and checked before its body runs.
 *
 * The string has one word for each argument. The word of an array is the least count of numbers in it, a sum of products of
 * digits and letters, such as 2mn+m; a letter alone that has no value yet gets the length of the array. In front of the count
 * stand ! if the array is written to, ~ if None is allowed, = if the count is exact, and I, H or B for int64, uint16 or int8
 * numbers instead of float64. m: is an integer that m then stands for, # any integer, % a real number, ? a truth value, () a
 * tuple, @ any object. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Marks functions that the loops of _versions.h call: each version holds a copy that is compiled for its processor. */
#define INLINE static inline __attribute__((always_inline))

/* Marks functions that not every module that includes them calls. */
#define UNUSED static __attribute__((unused))

enum { MOST_ARGUMENTS = 12, MOST_VIEWS = 64, MOST_SCRATCH = 2 };

/* Buffers and memory that a call has opened; they are released when it ends. */
typedef struct {
    Py_buffer views[MOST_VIEWS];
    void *scratch[MOST_SCRATCH];
    int n_views, n_scratch;
} Opened;

/* The arguments, each kind in the order of the call. */
typedef struct {
    Opened *opened;
    void *array[MOST_ARGUMENTS];           /* NULL for None */
    ptrdiff_t length[MOST_ARGUMENTS];      /* count of numbers in each array */
    const Py_buffer *view[MOST_ARGUMENTS]; /* buffer of each array that is not None, for its shape */
    long long integer[MOST_ARGUMENTS];     /* integers and truth values */
    double number[MOST_ARGUMENTS];
    PyObject *object[MOST_ARGUMENTS];
    double size[26]; /* value of each letter; NaN where it has none */
} Arguments;

#define SIZE(letter) ((ptrdiff_t)a->size[(letter) - 'a'])

/* Releases all views but the first `kept`. */
static void give_back(Opened *opened, int kept) {
    while (opened->n_views > kept) PyBuffer_Release(&opened->views[--opened->n_views]);
}

/* Allocates memory for `numbers` doubles until the call ends; returns NULL and sets an error where memory is short. */
UNUSED double *scratch(Arguments *a, size_t numbers) {
    void *room = PyMem_RawMalloc((numbers + 1) * sizeof(double));
    if (!room) PyErr_NoMemory();
    return a->opened->scratch[a->opened->n_scratch++] = room;
}

/* Opens a C-contiguous buffer of native numbers of a kind: I, H, B or, for float64, d; returns NULL with an error otherwise. */
static const Py_buffer *open_buffer(Opened *opened, PyObject *object, char kind, int flags) {
    const char *formats = kind == 'I' ? "lq" : kind == 'H' ? "H" : kind == 'B' ? "b" : "d";
    if (opened->n_views == MOST_VIEWS) return PyErr_Format(PyExc_ValueError, "more than %d arrays", MOST_VIEWS), NULL;
    Py_buffer *view = &opened->views[opened->n_views];
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags)) return NULL;
    opened->n_views++;
    if (view->format && strchr(formats, view->format[0]) && !view->format[1]) return view;
    const char *name = kind == 'I' ? "int64" : kind == 'H' ? "uint16" : kind == 'B' ? "int8" : "float64";
    PyErr_Format(PyExc_ValueError, "expected %s, got format '%s'", name, view->format ? view->format : "?");
    return NULL;
}

/* Returns the value of a sum of products of digits and letters, such as 2mn+m. */
static double sum_of(const Arguments *a, const char *at) {
    double sum = 0.0, product = 1.0;
    for (;; at++)
        if (*at >= '0' && *at <= '9')
            product *= *at - '0';
        else if (*at >= 'a' && *at <= 'z')
            product *= a->size[*at - 'a'];
        else {
            sum += product, product = 1.0;
            if (*at != '+') return sum;
        }
}

/* Puts the name of argument number `place` of a signature "f(first, second, ...)..." before the present error; returns 0. */
static int refuse(const char *signature, int place) {
    const char *name = strchr(signature, '(');
    for (int i = 0; name && i < place; i++) name = strchr(name + 1, ',');
    if (name) name += 1 + (name[1] == ' ');
    PyObject *type, *value, *trace, *own = PyUnicode_FromStringAndSize(name, name ? (Py_ssize_t)strcspn(name, ",)") : 0);
    PyErr_Fetch(&type, &value, &trace);
    if (own) PyErr_Format(type, "%U: %S", own, value ? value : Py_None);
    Py_XDECREF(own);
    Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    return 0;
}

/* Opens and checks the arguments `given` by the words of `takes`; returns 0 and sets an error where one does not fit. */
static int take_arguments(Arguments *a, Opened *opened, PyObject *const *given, Py_ssize_t count, const char *signature, const char *takes) {
    const char *needs[MOST_ARGUMENTS];
    int exact[MOST_ARGUMENTS], places[MOST_ARGUMENTS], arrays = 0, integers = 0, numbers = 0, objects = 0, place = 0;
    int wanted = *takes != 0;
    for (const char *at = takes; *at; at++) wanted += *at == ' ';
    if (count != wanted) {
        PyObject *name = PyUnicode_FromStringAndSize(signature, (Py_ssize_t)strcspn(signature, "("));
        if (name) PyErr_Format(PyExc_TypeError, "%U takes %d arguments, got %zd", name, wanted, count);
        Py_XDECREF(name);
        return 0;
    }
    a->opened = opened;
    for (int i = 0; i < 26; i++) a->size[i] = NAN;
    for (const char *at = takes; *at; place++) {
        PyObject *object = given[place];
        if (*at == '%') {
            a->number[numbers++] = PyFloat_AsDouble(object), at++;
        } else if (*at == '?') {
            a->integer[integers++] = PyObject_IsTrue(object), at++;
        } else if (*at == '#') {
            a->integer[integers++] = PyLong_AsLongLong(object), at++;
        } else if (*at == '@' || *at == '(') {
            if (*at == '(' && !PyTuple_Check(object)) PyErr_SetString(PyExc_TypeError, "must be a tuple");
            a->object[objects++] = object, at += *at == '(' ? 2 : 1;
        } else if (at[1] == ':') {
            const long long size = PyLong_AsLongLong(object);
            if (!PyErr_Occurred() && (size < 0 || size > INT32_MAX)) PyErr_Format(PyExc_ValueError, "is %lld, must be 0 to %d", size, INT32_MAX);
            a->size[*at - 'a'] = (double)size, at += 2;
        } else {
            int flags = 0, optional = 0;
            char kind = 'd';
            for (exact[arrays] = 0; !(*at >= 'a' && *at <= 'z') && !(*at >= '0' && *at <= '9'); at++)
                if (*at == '!')
                    flags = PyBUF_WRITABLE;
                else if (*at == '~')
                    optional = 1;
                else if (*at == '=')
                    exact[arrays] = 1;
                else
                    kind = *at;
            needs[arrays] = at, places[arrays] = place;
            a->array[arrays] = NULL, a->length[arrays] = 0;
            if (!optional || object != Py_None) {
                const Py_buffer *view = a->view[arrays] = open_buffer(opened, object, kind, flags);
                if (!view) return refuse(signature, place);
                a->array[arrays] = view->buf, a->length[arrays] = view->len / view->itemsize;
                double *size = &a->size[*at - 'a'];
                if (*at >= 'a' && (at[1] == ' ' || !at[1]) && isnan(*size)) *size = (double)a->length[arrays];
            }
            arrays++, at += strcspn(at, " ");
        }
        if (PyErr_Occurred()) return refuse(signature, place);
        at += *at == ' ';
    }
    for (int i = 0; i < arrays; i++) {
        const double need = sum_of(a, needs[i]);
        if (!a->array[i] || (exact[i] ? a->length[i] == need : a->length[i] >= need)) continue;
        PyErr_Format(PyExc_ValueError, "holds %zd numbers, needs %zd", a->length[i], (ptrdiff_t)need);
        return refuse(signature, places[i]);
    }
    return 1;
}

/* Opens and checks the items of a tuple as arguments; returns 0 and sets an error where one does not fit. */
UNUSED int take_tuple(Arguments *a, PyObject *tuple, Arguments *part, const char *signature, const char *takes) {
    if (!PyTuple_Check(tuple)) return PyErr_Format(PyExc_TypeError, "%s is not a tuple", signature), 0;
    return take_arguments(part, a->opened, &PyTuple_GET_ITEM(tuple, 0), PyTuple_GET_SIZE(tuple), signature, takes);
}

/* Returns `fit`, whether the arguments that `what` names fit together; sets an error where they do not. */
UNUSED int fits(int fit, const char *what) {
    if (!fit) PyErr_Format(PyExc_ValueError, "%s do not fit", what);
    return fit;
}

/* Defines a Python function: FUNCTION(name, words of its arguments, its docstring) { body with `self` and arguments `a` }. */
#define FUNCTION(name, takes, doc)                                                                                             \
    PyDoc_STRVAR(name##_doc, doc);                                                                                             \
    static PyObject *name##_inside(void *self, Arguments *a);                                                                  \
    static PyObject *name##_call(PyObject *self, PyObject *const *given, Py_ssize_t count) {                                   \
        Opened opened;                                                                                                         \
        Arguments a;                                                                                                           \
        opened.n_views = opened.n_scratch = 0;                                                                                 \
        PyObject *result = take_arguments(&a, &opened, given, count, name##_doc, takes) ? name##_inside(self, &a) : NULL;      \
        give_back(&opened, 0);                                                                                                 \
        while (opened.n_scratch) PyMem_RawFree(opened.scratch[--opened.n_scratch]);                                            \
        return result;                                                                                                         \
    }                                                                                                                          \
    static PyObject *name##_inside(void *self, Arguments *a)

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))name##_call, METH_FASTCALL, name##_doc}

/* Defines a module of this name from its METHODs. `failed` is an expression of the module `self`, not 0 if an error was set. */
#define PREPARED_MODULE(name, doc, failed, ...)                                                                                \
    static PyMethodDef methods[] = {__VA_ARGS__, {NULL, NULL, 0, NULL}};                                                       \
    static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, #name, doc, -1, methods, NULL, NULL, NULL, NULL};               \
    PyMODINIT_FUNC PyInit_##name(void) {                                                                                       \
        PyObject *self = PyModule_Create(&module);                                                                             \
        if (self && (failed)) Py_CLEAR(self);                                                                                  \
        return self;                                                                                                           \
    }
#define PLAIN_MODULE(name, doc, ...) PREPARED_MODULE(name, doc, 0, __VA_ARGS__)
