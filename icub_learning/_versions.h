/* Loops compiled for several instruction sets; the best one that the processor has is selected when the module is imported.
 *
 * A module includes this file once, after it has defined LOOPS as the name of a header with the loops. That header is
 * compiled for each VERSION, with TARGET (function attribute), LANES (doubles in a vector) and NAME (adds the version to the
 * name of a function); its functions are called as CHOSEN(function)(...). A build made on one machine runs on another, and the
 * Python functions `available` and `use` (VERSION_METHODS) let tests and benchmarks run every version.
 */
#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(name) JOIN(name, VERSION)

#define LANES JOIN(LANES, VERSION)
#define TARGET JOIN(TARGET, VERSION)

enum { LANES_portable = 2, LANES_avx2 = 4, LANES_avx512 = 8 };
#define TARGET_portable
#define TARGET_avx2 __attribute__((target("avx2,fma")))
#define TARGET_avx512 __attribute__((target("avx512f,avx512dq,avx512vl,fma")))

enum { PORTABLE, AVX2, AVX512 };
static const char *const version_names[] = {"portable", "avx2", "avx512"};
static int version_in_use = PORTABLE;

#define VERSION portable
#include LOOPS
#undef VERSION

#if defined(__x86_64__)
#define VERSION avx2
#include LOOPS
#undef VERSION
#define VERSION avx512
#include LOOPS
#undef VERSION
#define CHOSEN(name) (version_in_use == AVX512 ? name##_avx512 : version_in_use == AVX2 ? name##_avx2 : name##_portable)
#else
#define CHOSEN(name) name##_portable
#endif

/* Returns the best version that this processor can run. */
static int best_version(void) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return PORTABLE;
    const int wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide ? AVX512 : AVX2;
#else
    return PORTABLE;
#endif
}

/* Selects the best version; called when the module is imported. */
static void use_best_version(void) { version_in_use = best_version(); }

FUNCTION(available, "", "available()\n--\n\nReturn the names of the versions that this processor can run, plainest first.") {
    const char *kinds[] = {"[s]", "[ss]", "[sss]"}, *const *names = version_names;
    return Py_BuildValue(kinds[best_version()], names[PORTABLE], names[AVX2], names[AVX512]);
}

FUNCTION(use, "@", "use(name)\n--\n\nRun the named version from now on, in this process; return the name of the one used before.") {
    const char *name = PyUnicode_AsUTF8(a->object[0]), *before = version_names[version_in_use];
    for (int version = PORTABLE; name && version <= best_version(); version++)
        if (!strcmp(version_names[version], name)) {
            version_in_use = version;
            return PyUnicode_FromString(before);
        }
    return name ? PyErr_Format(PyExc_ValueError, "version '%s' is unknown or this processor lacks its instructions", name) : NULL;
}

#define VERSION_METHODS METHOD(available), METHOD(use)

/* Defines a module of this name from its METHODs. */
#define MODULE(name, doc, ...) PREPARED_MODULE(name, doc, (use_best_version(), 0), __VA_ARGS__, VERSION_METHODS)
