/* Loops compiled for several instruction sets; the best one that the processor has is taken when the module is imported.
 *
 * Included once, after LOOPS was defined as the name of a header with the loops. That header is compiled for each
 * instruction set, with TARGET (function attribute), LANES (doubles in a vector) and NAME (makes the name of a function
 * that of its version); what it defines is called as CHOSEN(function)(...). A build made on one machine runs on another, and
 * Python's `available` and `use` (VERSION_METHODS) let tests and benchmarks run every version.
 */
#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(name) JOIN(name, VERSION)

enum { PORTABLE, AVX2, AVX512, N_VERSIONS };
static const char *const version_names[] = {"portable", "avx2", "avx512"};
static int version_in_use = PORTABLE;

#define VERSION portable
#define LANES 2
#define TARGET
#include LOOPS
#undef VERSION
#undef LANES
#undef TARGET
#define CHOSEN(name) name##_portable

#if defined(__x86_64__)
#define VERSION avx2
#define LANES 4
#define TARGET __attribute__((target("avx2,fma")))
#include LOOPS
#undef VERSION
#undef LANES
#undef TARGET

#define VERSION avx512
#define LANES 8
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#include LOOPS
#undef VERSION
#undef LANES
#undef TARGET
#undef CHOSEN
#define CHOSEN(name) (version_in_use == AVX512 ? name##_avx512 : version_in_use == AVX2 ? name##_avx2 : name##_portable)
#endif

static int is_supported(int version) {
#if defined(__x86_64__)
    const int fma = __builtin_cpu_supports("fma");
    if (version == AVX512)
        return fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (version == AVX2) return fma && __builtin_cpu_supports("avx2");
#endif
    return version == PORTABLE;
}

/* To be called when the module is imported. */
static void use_best_version(void) {
    for (int version = PORTABLE; version < N_VERSIONS; version++)
        if (is_supported(version)) version_in_use = version;
}

PyDoc_STRVAR(available_doc, "available()\n--\n\nReturn the names of the versions that this processor can run, plainest first.");
static PyObject *available(PyObject *self, PyObject *args) {
    PyObject *names = PyList_New(0);
    for (int version = PORTABLE; names && version < N_VERSIONS; version++) {
        if (!is_supported(version)) continue;
        PyObject *name = PyUnicode_FromString(version_names[version]);
        if (!name || PyList_Append(names, name)) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

PyDoc_STRVAR(use_doc, "use(name)\n--\n\nRun the named version from now on, in this process; return the name of the one used before.");
static PyObject *use(PyObject *self, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    for (int version = PORTABLE; version < N_VERSIONS; version++)
        if (!strcmp(version_names[version], name) && is_supported(version)) {
            PyObject *before = PyUnicode_FromString(version_names[version_in_use]);
            version_in_use = version;
            return before;
        }
    return PyErr_Format(PyExc_ValueError, "version '%s' is unknown or this processor lacks its instructions", name);
}

#define VERSION_METHODS {"available", available, METH_NOARGS, available_doc}, {"use", use, METH_VARARGS, use_doc}

/* Defines a module of this name from its PyMethodDefs. */
#define MODULE(name, doc, ...)                                                                                     \
    static PyMethodDef methods[] = {__VA_ARGS__, VERSION_METHODS, {NULL, NULL, 0, NULL}};                          \
    static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, #name, doc, -1, methods, NULL, NULL, NULL, NULL};   \
    PyMODINIT_FUNC PyInit_##name(void) {                                                                           \
        use_best_version();                                                                                        \
        return PyModule_Create(&module);                                                                           \
    }
