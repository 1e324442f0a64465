/** The known name a misspelt one was probably meant to be, if any is close. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  // A word of one letter is one edit from every other.
  let least = Math.min(Math.max(1, Math.floor(word.length / 3)) + 1, Math.max(1, word.length));
  for (const name of known) {
    const d = distance(wanted, name.toLowerCase(), least);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}

/** "Did you mean …?", or the list when nothing is close and the list is short. */
export function didYouMean(word: string, known: readonly string[], what = 'Known names'): string {
  const near = suggest(word, known);
  if (near !== undefined) return `Did you mean "${near}"?`;
  if (known.length === 0) return `${what}: none.`;
  const shown = known.slice(0, 12).join(', ');
  return `${what}: ${shown}${known.length > 12 ? `, and ${known.length - 12} more` : ''}.`;
}

/** Edits (insert, delete, replace, swap neighbours) between two words; gives up at `limit`. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let d = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d = Math.min(d, before[j - 2]! + 1);
      row.push(d);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
