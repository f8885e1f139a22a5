#!/usr/bin/env python3
"""Finds the polynomials of heed/kernels/ and prints them with their largest error.

Each is a minimax fit: of all polynomials of that degree, the one with the smallest largest weighted error
on the interval. Lawson's iteration finds it (repeated least squares, with more weight where the error was
large). The weight turns an error of the polynomial into a relative error of the function that it is part
of. Only double precision and the standard library are needed.
"""

import math
import struct

POINTS = 400
ITERATIONS = 60


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def least_squares(columns, target):
    """Coefficients of the columns that come closest to the target, by Gram-Schmidt."""
    basis, rows = [], []
    for column in columns:
        row = [0.0] * len(basis)
        for _ in range(2):  # twice, because once leaves rounding errors
            for k, q in enumerate(basis):
                part = dot(q, column)
                row[k] += part
                column = [c - part * x for c, x in zip(column, q)]
        length = math.sqrt(dot(column, column))
        basis.append([c / length for c in column])
        rows.append(row + [length])
    x = [dot(q, target) for q in basis]
    for i in reversed(range(len(x))):
        x[i] = (x[i] - sum(rows[k][i] * x[k] for k in range(i + 1, len(x)))) / rows[i][i]
    return x


def horner(coefficients, x):
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


def minimax(function, weight, low, high, degree):
    """Coefficients, constant first."""
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * math.cos(math.pi * (i + 0.5) / POINTS) for i in range(POINTS)]
    values = [function(x) for x in grid]
    weights = [weight(x) for x in grid]
    emphasis = [1.0] * POINTS
    best, best_error = None, math.inf
    for _ in range(ITERATIONS):
        scale = [math.sqrt(e) * w for e, w in zip(emphasis, weights)]
        columns = [[s * x**k for s, x in zip(scale, grid)] for k in range(degree + 1)]
        coefficients = least_squares(columns, [s * v for s, v in zip(scale, values)])
        errors = [abs(w * (horner(coefficients, x) - v)) for x, v, w in zip(grid, values, weights)]
        if max(errors) < best_error:
            best, best_error = coefficients, max(errors)
        emphasis = [e * error for e, error in zip(emphasis, errors)]
        total = sum(emphasis)
        emphasis = [POINTS * e / total for e in emphasis]
    return best


def to_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def rounded_fit(function, weight, low, high, degree):
    """Float coefficients: each is rounded in turn, and the later ones compensate its rounding."""
    first = to_float(minimax(function, weight, low, high, degree)[0])
    if degree == 0:
        return [first]
    return [first] + rounded_fit(lambda x: (function(x) - first) / x, lambda x: weight(x) * abs(x),
                                 low, high, degree - 1)


def fit(name, function, weight, low, high, degree, single=True):
    coefficients = (rounded_fit if single else minimax)(function, weight, low, high, degree)
    grid = [low + (high - low) * (i + 0.5) / 20000 for i in range(20000)]
    error = max(abs(weight(x) * (horner(coefficients, x) - function(x))) for x in grid)
    report(name, error, "%.9gf" if single else "%.17g", coefficients)


def ratio(function, weight, low, high, degrees):
    """Coefficients of two polynomials whose quotient approximates the function; the constant of the second is 1.

    Lawson's iteration again, on (p - function q) / q with the q of the previous round.
    """
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * math.cos(math.pi * (i + 0.5) / POINTS) for i in range(POINTS)]
    values = [function(x) for x in grid]
    weights = [weight(x) for x in grid]
    emphasis, below = [1.0] * POINTS, [1.0] * POINTS
    best, best_error = None, math.inf
    for _ in range(ITERATIONS):
        scale = [math.sqrt(e) * w / b for e, w, b in zip(emphasis, weights, below)]
        columns = [[s * x**k for s, x in zip(scale, grid)] for k in range(degrees[0] + 1)]
        columns += [[-s * v * x**k for s, v, x in zip(scale, values, grid)]
                    for k in range(1, degrees[1] + 1)]
        found = least_squares(columns, [s * v for s, v in zip(scale, values)])
        p, q = found[:degrees[0] + 1], [1.0] + found[degrees[0] + 1:]
        below = [horner(q, x) for x in grid]
        errors = [abs(w * (horner(p, x) / b - v))
                  for x, v, w, b in zip(grid, values, weights, below)]
        if min(below) > 0 and max(errors) < best_error:
            best, best_error = (p, q), max(errors)
        emphasis = [e * error for e, error in zip(emphasis, errors)]
        total = sum(emphasis)
        emphasis = [POINTS * e / total for e in emphasis]
    return best


def fit_ratio(name, function, weight, low, high, degrees):
    p, q = ([to_float(c) for c in part] for part in ratio(function, weight, low, high, degrees))
    grid = [low + (high - low) * (i + 0.5) / 20000 for i in range(20000)]
    error = max(abs(weight(x) * (horner(p, x) / horner(q, x) - function(x))) for x in grid)
    report(name, error, "%.9gf", p, q)


def report(name, error, digits, *polynomials):
    print(f"{name}: weighted error {error:.1e}")
    for coefficients in polynomials:
        print("  " + ", ".join(digits % c for c in coefficients))


def main():
    # e^f = 1 + f + f^2 q(f)
    ln2 = math.log(2)
    fit("exp", lambda f: (math.expm1(f) - f) / f**2, lambda f: f**2 / math.exp(f), -ln2 / 2, ln2 / 2, 4)
    # 2^f = 1 + f q(f)
    fit("exp2", lambda f: math.expm1(f * ln2) / f, lambda f: abs(f) / 2**f, -0.5, 0.5, 5)
    # the same with only seven digits
    fit("exp2, short", lambda f: math.expm1(f * ln2) / f, lambda f: abs(f) / 2**f, -0.5, 0.5, 4)
    # log(1 + f) = f - f^2/2 + f^3 q(f)
    fit("log", lambda f: (math.log1p(f) - f + f**2 / 2) / f**3, lambda f: f**3 / math.log1p(f),
        math.sqrt(0.5) - 1, math.sqrt(2) - 1, 7)
    # erf(x) = x + x q(x^2) up to the border, 1 - e^-q(x) from there to where it rounds to 1
    border, last = 0.8, 4.0
    fit("erf near", lambda t: math.erf(math.sqrt(t)) / math.sqrt(t) - 1,
        lambda t: math.sqrt(t) / math.erf(math.sqrt(t)), 1e-12, border**2, 5)
    fit("erf far", lambda x: -math.log(math.erfc(x)), lambda x: math.erfc(x) / math.erf(x), border, last, 6)
    # Phi(-a) = 2^(-k a^2) p(a) / q(a) with k = log2(e) / 2 as a float. Down to 1e-30, the relative
    # error of Phi is below 4e-7, and the error of a Phi below 4e-8.
    k = to_float(math.log2(math.e) / 2)
    tail = lambda a: 2 ** (k * a**2) * math.erfc(a / math.sqrt(2)) / 2
    fit_ratio("normal tail", tail, lambda a: max(1 / tail(a), 10 * max(a, 0.5) / 2 ** (k * a**2)),
              0, 11.8, (3, 4))
    # tanh x = x p(x^2) / q(x^2), for kernels/attention/stages/soft_cap.cpp
    shrink = lambda t: math.tanh(math.sqrt(t)) / math.sqrt(t) if t > 1e-9 else 1 - t / 3
    fit_ratio("tanh", shrink, lambda t: 1 / shrink(t), 0, 8.2**2, (4, 4))
    # sin r = r + r^3 q(r^2), cos r = 1 - r^2/2 + r^4 q(r^2), on a quarter of pi and in double
    quarter = math.pi / 4
    fit("sin", lambda t: (math.sin(math.sqrt(t)) - math.sqrt(t)) / math.sqrt(t) ** 3,
        lambda t: math.sqrt(t) ** 3 / math.sin(math.sqrt(t)), 1e-6, quarter**2, 3, single=False)
    fit("cos", lambda t: (-2 * math.sin(math.sqrt(t) / 2) ** 2 + t / 2) / t**2,
        lambda t: t**2 / math.cos(math.sqrt(t)), 1e-6, quarter**2, 3, single=False)


if __name__ == "__main__":
    main()
