/** Small dense square matrices, rows one after the other. */
export interface SquareMatrix {
  readonly size: number;
  readonly cells: Float64Array;
}

export const matrix = (rows: readonly (readonly number[])[]): SquareMatrix => ({
  size: rows.length,
  cells: Float64Array.from(rows.flat()),
});

export function multiplyMatrices(a: SquareMatrix, b: SquareMatrix): SquareMatrix {
  const n = a.size;
  const cells = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < n; k++) {
      const x = a.cells[i * n + k]!;
      if (x !== 0) for (let j = 0; j < n; j++) cells[i * n + j]! += x * b.cells[k * n + j]!;
    }
  return { size: n, cells };
}

/** Solves A x = b by elimination with row exchanges; undefined when A is singular. */
export function solve(a: readonly (readonly number[])[], b: readonly number[]): number[] | undefined {
  const n = b.length;
  const rows = a.map((row, i) => [...row, b[i]!]);
  for (let c = 0; c < n; c++) {
    const pivot = rows.slice(c).reduce((best, row, k) => (Math.abs(row[c]!) > Math.abs(rows[best]![c]!) ? c + k : best), c);
    if (Math.abs(rows[pivot]![c]!) < 1e-300) return undefined;
    [rows[c], rows[pivot]] = [rows[pivot]!, rows[c]!];
    for (let r = c + 1; r < n; r++) {
      const f = rows[r]![c]! / rows[c]![c]!;
      if (f !== 0) for (let k = c; k <= n; k++) rows[r]![k]! -= f * rows[c]![k]!;
    }
  }
  const x = new Array<number>(n).fill(0);
  for (let r = n - 1; r >= 0; r--) {
    let rest = rows[r]![n]!;
    for (let k = r + 1; k < n; k++) rest -= rows[r]![k]! * x[k]!;
    x[r] = rest / rows[r]![r]!;
  }
  return x;
}

export function inverse(a: readonly (readonly number[])[]): number[][] | undefined {
  const columns = a.map((_, j) =>
    solve(
      a,
      a.map((_, i) => (i === j ? 1 : 0)),
    ),
  );
  if (columns.some((c) => c === undefined)) return undefined;
  return a.map((_, i) => columns.map((c) => c![i]!));
}

/** Eigenvalues of a symmetric matrix by Jacobi rotations, largest first. */
export function symmetricEigenvalues(m: SquareMatrix): number[] {
  const n = m.size;
  const a = m.cells.slice();
  const at = (i: number, j: number) => i * n + j;
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) off += a[at(i, j)]! ** 2;
    if (off < 1e-26) break;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        if (Math.abs(a[at(p, q)]!) < 1e-300) continue;
        const theta = (a[at(q, q)]! - a[at(p, p)]!) / (2 * a[at(p, q)]!);
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
        const c = 1 / Math.hypot(t, 1);
        const s = t * c;
        for (let k = 0; k < n; k++) {
          const [x, y] = [a[at(k, p)]!, a[at(k, q)]!];
          a[at(k, p)] = c * x - s * y;
          a[at(k, q)] = s * x + c * y;
        }
        for (let k = 0; k < n; k++) {
          const [x, y] = [a[at(p, k)]!, a[at(q, k)]!];
          a[at(p, k)] = c * x - s * y;
          a[at(q, k)] = s * x + c * y;
        }
      }
  }
  return Array.from({ length: n }, (_, i) => a[at(i, i)]!).sort((x, y) => y - x);
}

/** The row vector pi with pi P = pi and sum one, for a chain that has exactly one. */
export function stationaryVector(p: SquareMatrix): Float64Array | undefined {
  const n = p.size;
  const rows = Array.from({ length: n }, (_, j) =>
    Array.from({ length: n }, (_, i) => (j === n - 1 ? 1 : p.cells[i * n + j]! - (i === j ? 1 : 0))),
  );
  const pi = solve(
    rows,
    rows.map((_, j) => (j === n - 1 ? 1 : 0)),
  );
  return pi?.every((x) => x > -1e-12) ? Float64Array.from(pi, (x) => Math.max(0, x)) : undefined;
}
