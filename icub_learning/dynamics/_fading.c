/* Fading means of a few outputs, updated at each judged sample: calls of NumPy would take ten times as long as the arithmetic. */
#include "_arguments.h"

static double within(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

FUNCTION(calibrate, "!m !m m m m: ? % % % % %",
         "calibrate(mean_square, factor, errors, added, m, known, weight, inside, outside, low, high)\n\n"
         "One step of CalibratedVariance of m outputs, from errors (m,) and what novelty adds to their variance (m,): mean_square\n"
         "(m,) in which this sample counts 1 / weight; factor (m,), in [low, high], is multiplied by `outside` where an error is\n"
         "beyond two standard deviations, by `inside` elsewhere. Not known: of the first sample there is nothing to compare with.") {
    double *mean_square = a->array[0], *factor = a->array[1];
    const double *errors = a->array[2], *added = a->array[3], *number = a->number;
    for (ptrdiff_t j = 0; j < SIZE('m'); j++) {
        double square = errors[j] * errors[j];
        const double noise = mean_square[j] * factor[j], variance = noise + factor[j] * added[j];
        if (a->integer[0]) {
            factor[j] = within(factor[j] * (square > 4.0 * variance ? number[2] : number[1]), number[3], number[4]);
            if (noise > 0.0) square *= noise / variance; /* from 0, all of an error is noise */
        } else
            mean_square[j] = 0.0;
        mean_square[j] += (square - mean_square[j]) / number[0];
    }
    Py_RETURN_NONE;
}

FUNCTION(correlate, "!m !m !m m m: % % %",
         "correlate(mean, long_run, variance, errors, m, kept, white, weight)\n\n"
         "One step of SerialCorrelation from errors (m,): mean (m,) keeps the share `kept`; long_run and variance (m,) are means, in\n"
         "which this sample counts 1 / weight, of the square of that mean over `white` and of squared errors.") {
    double *mean = a->array[0], *long_run = a->array[1], *variance = a->array[2];
    const double *errors = a->array[3], kept = a->number[0], white = a->number[1], weight = a->number[2];
    for (ptrdiff_t j = 0; j < SIZE('m'); j++) {
        mean[j] = kept * mean[j] + (1.0 - kept) * errors[j];
        long_run[j] += (mean[j] * mean[j] / white - long_run[j]) / weight;
        variance[j] += (errors[j] * errors[j] - variance[j]) / weight;
    }
    Py_RETURN_NONE;
}

PLAIN_MODULE(_fading, "Compiled means that fade.", METHOD(calibrate), METHOD(correlate))
