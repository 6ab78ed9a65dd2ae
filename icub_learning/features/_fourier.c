/* Cosines and sines of many phases at once, in vectors, where NumPy would call the C library for each number. */
#include "_arguments.h"
#include "_vectors.h"

#define LARGEST_PHASE 1e5 /* largest phase [rad] from which multiples of pi / 2 are subtracted exactly, in three parts */

/* pi / 2 in parts of 33 bits each, and the polynomials for sine and cosine on [-pi/4, pi/4], from fdlibm (Sun, 1993). */
static const double PART_1 = 1.57079632673412561417e+00, PART_2 = 6.07710050630396597660e-11,
                    PART_3 = 2.02226624879595063154e-21, TWO_OVER_PI = 6.36619772367581382433e-01;
static const double SINE[] = {1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                              -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01};
static const double COSINE[] = {-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
                                2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02};

#define LOOPS "_fourier_loops.h"
#include "_versions.h"

FUNCTION(waves, "!2rh rh r: h: %",
         "waves(out, phase, rows, half, scale)\n\n"
         "Write scale * cos and scale * sin of each row of phase (rows, half) into that of out (rows, 2 half). Returns whether\n"
         "all phases are finite.") {
    const ptrdiff_t half = SIZE('h');
    if (!fits(half > 0, "rows and half")) return NULL;
    double *out = a->array[0];
    const double *phase = a->array[1];
    int finite = 1;
    for (ptrdiff_t row = 0; row < SIZE('r'); row++) finite &= CHOSEN(fill_row)(out + 2 * half * row, phase + half * row, half, a->number[0]);
    return PyBool_FromLong(finite);
}

FUNCTION(row, "!2h !h+n n n n hn h: n: %",
         "row(out, work, x, mean, scale, frequencies, half, inputs, amplitude)\n\n"
         "Write the features of the standardized input (x - mean) / scale, all of (inputs,), into out (2 half,), each times\n"
         "amplitude; frequencies (half, inputs), work (half + inputs,). Returns whether all phases are finite.") {
    const ptrdiff_t half = SIZE('h');
    double *work = a->array[1];
    CHOSEN(fill_phases)(work, work + half, a->array[2], a->array[3], a->array[4], a->array[5], half, SIZE('n'));
    return PyBool_FromLong(CHOSEN(fill_row)(a->array[0], work, half, a->number[0]));
}

MODULE(_fourier, "Compiled random Fourier features.", METHOD(row), METHOD(waves))
