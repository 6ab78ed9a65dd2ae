/* A matrix of numbers between 0 and 1, stored as integers of 24 bits in two parts, and products with it.
 *
 * A number is (256 high + low) / WHOLE, with high of 16 bits and low, signed, of 8. The speed of memory limits the products: high
 * alone, which is the number to 16 bits, is read in half the time of single precision, both parts in three quarters. Both parts
 * are summed in double precision, so that only the fixed point rounds; high alone is summed in single precision.
 */
#include "_arguments.h"
#include "_vectors.h"

#define WHOLE 16776960.0 /* integer that stands for 1, 256 * 65535: 1 is stored exactly, and high alone counts 65535ths */
#define GROUP 8          /* number of rows taken together, which stay in the first-level cache between their two products */
#define STRETCH 64       /* columns taken at once, a cache line of low; lines of the next group are prefetched in between */

#define LOWEST -100.0                  /* least logarithm of a number: smaller ones give the same 24 bits, zeros */
#define LN2 0.69314718055994530942     /* ln(2), whose product with an integer above -145 is wrong by less than 2e-15 */
#define ROUNDING 6755399441055744.0    /* 1.5 * 2^52: a sum with it has the nearest integer in its low bits */

/* The polynomial that interpolates exp at the Chebyshev nodes of +-ln(2) / 2. */
static const double EXPONENTIAL[] = {2.76326556922265892949e-06, 2.48844763547553618781e-05, 1.98411906161361883787e-04,
                                     1.38888017147542359303e-03, 8.33333336733160096044e-03, 4.16666670407765116213e-02,
                                     1.66666666666156093601e-01, 4.99999999994381383317e-01, 1.00000000000000133227e+00,
                                     1.00000000000001354472e+00};

#define LOOPS "_stored_loops.h"
#include "_versions.h"

FUNCTION(keep, "!Hrc !Brc !rc r: c: ?",
         "keep(high, low, numbers, rows, columns, decay)\n--\n\n"
         "Write the float64 numbers (rows, columns), which lie between 0 and 1, into their parts high (uint16) and low (int8). Where\n"
         "decay is true, replace them by exp(min(number, 0)) first, with an error below 2e-14 of it or, where it is tiny, below 1e-43.") {
    Py_BEGIN_ALLOW_THREADS
    if (a->integer[0]) CHOSEN(split_decay)(a->array[0], a->array[1], a->array[2], SIZE('r') * SIZE('c'));
    else CHOSEN(split)(a->array[0], a->array[1], a->array[2], SIZE('r') * SIZE('c'));
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

FUNCTION(expand, "!rc Hrc ~Brc r: c:",
         "expand(out, high, low, rows, columns)\n--\n\n"
         "Write the numbers of the given parts into out, float64 (rows, columns); low may be None.") {
    Py_BEGIN_ALLOW_THREADS
    CHOSEN(join)(a->array[0], a->array[1], a->array[2], SIZE('r') * SIZE('c'));
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

FUNCTION(add_product, "!c c !c Hrc ~Brc r: c:",
         "add_product(total, vector, work, high, low, rows, columns)\n--\n\n"
         "Add K^T (K vector) to total, float64 (columns,) both, for the matrix K (rows, columns) of the given parts. Where low\n"
         "is None, sums of eight rows are in single precision. work: `columns` numbers.") {
    const double *vector = a->array[1];
    float *single = a->array[2];
    Py_BEGIN_ALLOW_THREADS
    if (a->array[4]) {
        CHOSEN(add_rows)(a->array[0], vector, a->array[3], a->array[4], SIZE('r'), SIZE('c'), 1.0 / (WHOLE * WHOLE));
    } else {
        for (ptrdiff_t j = 0; j < SIZE('c'); j++) single[j] = (float)(vector[j] * (256.0 / WHOLE));
        CHOSEN(add_high_rows)(a->array[0], single, a->array[3], NULL, SIZE('r'), SIZE('c'), (float)(256.0 / WHOLE));
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

MODULE(_stored, "Compiled products with a matrix in fixed point.", METHOD(keep), METHOD(expand), METHOD(add_product))
