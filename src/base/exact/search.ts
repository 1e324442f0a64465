/** First index below `length` that passes a test which all later ones pass as well; `length` if none does. */
export function firstWhere(length: number, passes: (k: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
