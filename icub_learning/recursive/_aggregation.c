/* One step of Bernstein online aggregation: a dozen experts and outputs, too few for NumPy's calls to pay. */
#include "_buffers.h"
#include <math.h>

#define FEWEST 1e-150   /* a regret below it is none */
#define NARROWEST 1e-9  /* least scale, relative to the largest one of the output */
#define SCALES_FADE 0.9 /* power of the factor by which scales fade: below 1, see the proof */
#define HOPELESS 25.0    /* times the best expert's faded loss: who has more sleeps */
#define LARGEST 1e60    /* larger errors count as this large: no square of a square overflows */

static double bounded(double error) { return error > LARGEST ? LARGEST : error < -LARGEST ? -LARGEST : error; }

static double rate(double scale, double square, double spread) {
    const double first = 0.5 / scale, second = sqrt(spread / square); /* infinite where nothing was learned yet */
    return first < second ? first : second;
}

/* The faded loss above which an expert sleeps. */
static double awake_up_to(const double *loss, ptrdiff_t experts, ptrdiff_t step) {
    double best = loss[0];
    for (ptrdiff_t i = 1; i < experts; i++)
        if (loss[i * step] < best) best = loss[i * step];
    return HOPELESS * best;
}

/* One output; arrays of one entry an expert, `step` apart; errors count `factor` times. `regret` has room for one number an expert. */
static void learn_output(double *weight, double *exponent, double *scale, double *square, double *loss, const double *error, double factor,
                         double *regret, ptrdiff_t ages, ptrdiff_t experts, ptrdiff_t step, double fade, double spread) {
    const double hopeless = awake_up_to(loss, experts, step);
    for (ptrdiff_t i = 0; i < experts; i++) regret[i] = 0.0;
    for (ptrdiff_t age = 0; age < ages; age++) {
        const double *of_age = error + age * experts * step;
        double combined = 0.0;
        for (ptrdiff_t i = 0; i < experts; i++) combined += weight[i * step] * factor * bounded(of_age[i * step]);
        for (ptrdiff_t i = 0; i < experts; i++)
            if (loss[i * step] <= hopeless) regret[i] += 2.0 / ages * combined * (combined - factor * bounded(of_age[i * step]));
    }
    for (ptrdiff_t i = 0; i < experts; i++) {
        double sum = 0.0;
        for (ptrdiff_t age = 0; age < ages; age++) {
            const double e = factor * bounded(error[(age * experts + i) * step]);
            sum += e * e;
        }
        loss[i * step] = fade * loss[i * step] + sum / ages;
    }
    const double slower = pow(fade, SCALES_FADE);
    double share = 1.0, widest = 0.0;
    for (ptrdiff_t i = 0; i < experts; i++) {
        const double size = fabs(regret[i]);
        if (size > FEWEST && scale[i * step] < share * size) share = scale[i * step] / size;
        const double faded = slower * scale[i * step];
        const double next = size > FEWEST && size > faded ? size : faded;
        if (next > widest) widest = next;
    }
    if (widest == 0.0) return;
    const double next_hopeless = awake_up_to(loss, experts, step);
    double highest = -INFINITY, sum = 0.0;
    for (ptrdiff_t i = 0; i < experts; i++) {
        const double size = fabs(regret[i]), old_scale = scale[i * step], before = rate(old_scale, square[i * step], spread);
        double next = slower * old_scale;
        if (size > FEWEST && size > next) next = size;
        if (next < NARROWEST * widest) next = NARROWEST * widest;
        if (next < FEWEST) next = FEWEST; /* while one expert has all weight there are no regrets, and scales only fade */
        const double r = share * regret[i];
        scale[i * step] = next;
        square[i * step] = fade * square[i * step] + r * r;
        const double after = rate(next, square[i * step], spread);
        if (old_scale > 0.0) {
            const double x = before * r;
            exponent[i * step] = fade * (after / before) * (exponent[i * step] + x - x * x);
        }
        regret[i] = loss[i * step] <= next_hopeless ? exponent[i * step] + log(after) : -INFINITY;
        if (regret[i] > highest) highest = regret[i];
    }
    for (ptrdiff_t i = 0; i < experts; i++) sum += regret[i] = exp(regret[i] - highest);
    for (ptrdiff_t i = 0; i < experts; i++) weight[i * step] = regret[i] / sum;
}

PyDoc_STRVAR(learn_doc, "learn(weights, exponents, scales, squares, losses, work, errors, factors, fades, ages, experts, outputs, spread)\n\n"
             "One step of ConvexAggregation on its tables (experts, outputs), from errors (ages, experts, outputs) times factors (outputs,);\n"
             "the past fades by fades (outputs,); work (experts,).");
static PyObject *learn(PyObject *self, PyObject *args) {
    PyObject *objects[9];
    Py_ssize_t ages, experts, outputs;
    double spread;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOnnnd", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &objects[5],
                          &objects[6], &objects[7], &objects[8], &ages, &experts, &outputs, &spread))
        return NULL;
    if (ages < 1 || experts < 1 || outputs < 1 || experts > PY_SSIZE_T_MAX / 64 / outputs / ages) {
        PyErr_Format(PyExc_ValueError, "(ages, experts, outputs) is (%zd, %zd, %zd)", ages, experts, outputs);
        return NULL;
    }
    Py_buffer views[9];
    static const char *names[] = {"weights", "exponents", "scales", "squares", "losses", "work", "errors", "factors", "fades"};
    const ptrdiff_t table = experts * outputs, least[] = {table, table, table, table, table, experts, ages * table, outputs, outputs};
    if (!take_all(objects, views, names, least, 9, 6)) return NULL;
    for (Py_ssize_t j = 0; j < outputs; j++)
        learn_output((double *)views[0].buf + j, (double *)views[1].buf + j, (double *)views[2].buf + j, (double *)views[3].buf + j,
                     (double *)views[4].buf + j, (const double *)views[6].buf + j, ((const double *)views[7].buf)[j], views[5].buf, ages,
                     experts, outputs, ((const double *)views[8].buf)[j], spread);
    release_all(views, 9);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(cap_doc, "cap(factors, usual, errors, ages, rows, outputs, highest, weight)\n\n"
             "factors (outputs,): by what errors are to be multiplied so that the mean square of those of the first row is at most `highest`\n"
             "times the usual one; usual (outputs,) follows it as a mean in which this sample counts 1 / weight. errors (ages, rows, outputs).");
static PyObject *cap(PyObject *self, PyObject *args) {
    PyObject *objects[3];
    Py_ssize_t ages, rows, outputs;
    double highest, weight;
    if (!PyArg_ParseTuple(args, "OOOnnndd", &objects[0], &objects[1], &objects[2], &ages, &rows, &outputs, &highest, &weight)) return NULL;
    if (ages < 1 || rows < 1 || outputs < 1 || rows > PY_SSIZE_T_MAX / 64 / outputs / ages) {
        PyErr_Format(PyExc_ValueError, "(ages, rows, outputs) is (%zd, %zd, %zd)", ages, rows, outputs);
        return NULL;
    }
    Py_buffer views[3];
    static const char *names[] = {"factors", "usual", "errors"};
    const ptrdiff_t least[] = {outputs, outputs, ages * rows * outputs};
    if (!take_all(objects, views, names, least, 3, 2)) return NULL;
    double *factors = views[0].buf, *usual = views[1].buf;
    const double *errors = views[2].buf;
    for (Py_ssize_t j = 0; j < outputs; j++) {
        double loss = 0.0;
        for (Py_ssize_t age = 0; age < ages; age++) {
            const double e = bounded(errors[age * rows * outputs + j]);
            loss += e * e / ages;
        }
        /* Nothing is unusual as long as there were no errors at all. */
        const double share = usual[j] > 0.0 && loss > highest * usual[j] ? highest * usual[j] / loss : 1.0;
        factors[j] = sqrt(share);
        usual[j] += (share * loss - usual[j]) / weight;
    }
    release_all(views, 3);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"learn", learn, METH_VARARGS, learn_doc}, {"cap", cap, METH_VARARGS, cap_doc}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_aggregation", "Compiled on-line aggregation.", -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__aggregation(void) { return PyModule_Create(&module); }
