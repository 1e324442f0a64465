/** Small symmetric matrices, row by row. */
export type SymmetricMatrix = readonly Float64Array[];

export const zeroMatrix = (size: number): Float64Array[] => Array.from({ length: size }, () => new Float64Array(size));

/** Cholesky root of a matrix: L L' = A. Undefined where A is not positive definite in doubles. */
export function choleskyRoot(a: SymmetricMatrix): SymmetricMatrix | undefined {
  const root = zeroMatrix(a.length);
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j <= i; j++) {
      let sum = a[i]![j]!;
      for (let k = 0; k < j; k++) sum -= root[i]![k]! * root[j]![k]!;
      if (i !== j) root[i]![j] = sum / root[j]![j]!;
      else if (sum > 1e-12 * Math.abs(a[i]![i]!)) root[i]![i] = Math.sqrt(sum);
      else return undefined;
    }
  return root;
}

/** The x with A x = b, from the root of A. */
export function solveCholesky(root: SymmetricMatrix, b: ArrayLike<number>): Float64Array {
  const x = Float64Array.from(b);
  for (let i = 0; i < x.length; i++) {
    for (let k = 0; k < i; k++) x[i]! -= root[i]![k]! * x[k]!;
    x[i]! /= root[i]![i]!;
  }
  for (let i = x.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < x.length; k++) x[i]! -= root[k]![i]! * x[k]!;
    x[i]! /= root[i]![i]!;
  }
  return x;
}

export const multiplyVector = (a: SymmetricMatrix, x: ArrayLike<number>): Float64Array =>
  Float64Array.from(a, (row) => dot(row, x));
export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
};

/** Eigenvalues and, column by column, eigenvectors, by Jacobi rotations. */
export function eigenDecomposition(of: SymmetricMatrix): { readonly values: Float64Array; readonly vectors: SymmetricMatrix } {
  const n = of.length;
  const a = of.map((row) => Float64Array.from(row));
  const v = zeroMatrix(n);
  for (let i = 0; i < n; i++) v[i]![i] = 1;
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) off += a[i]![j]! ** 2;
    if (off < 1e-26 * (1 + a.reduce((sum, row, i) => sum + row[i]! ** 2, 0))) break;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) turn(a, v, p, q);
  }
  return { values: Float64Array.from(a, (row, i) => row[i]!), vectors: v };
}

function turn(a: Float64Array[], v: Float64Array[], p: number, q: number): void {
  if (a[p]![q] === 0) return;
  const theta = (a[q]![q]! - a[p]![p]!) / (2 * a[p]![q]!);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  const rotate = (row: Float64Array): void => {
    const [x, y] = [row[p]!, row[q]!];
    row[p] = c * x - s * y;
    row[q] = s * x + c * y;
  };
  for (const row of a) rotate(row);
  const [left, right] = [Float64Array.from(a[p]!), Float64Array.from(a[q]!)];
  for (let k = 0; k < a.length; k++) {
    a[p]![k] = c * left[k]! - s * right[k]!;
    a[q]![k] = s * left[k]! + c * right[k]!;
  }
  for (const row of v) rotate(row);
}
