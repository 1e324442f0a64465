/** The non-decreasing sequence nearest to the values in least squares: neighbours that are out of order are pooled (Ayer et al. 1955). */
export function isotonic(values: Iterable<number>): number[] {
  const level: number[] = [];
  const size: number[] = [];
  for (const value of values) {
    let mean = value;
    let many = 1;
    while (level.length > 0 && level.at(-1)! >= mean) {
      const before = size.pop()!;
      mean = (mean * many + level.pop()! * before) / (many + before);
      many += before;
    }
    level.push(mean);
    size.push(many);
  }
  return level.flatMap((mean, i) => new Array<number>(size[i]!).fill(mean));
}
