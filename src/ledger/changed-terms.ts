/** The terms of an account are told as a summary: what most people ask for first, then every line they were made of. */
const linesOf = (summary: string): readonly string[] => summary.split('; ').slice(1);
const headOf = (summary: string): string => summary.split('; ')[0]!;

/** What is different between two summaries, in words; undefined where an older account kept too little to tell. */
export function changedTerms(known: string, asked: string): string | undefined {
  const [before, after] = [linesOf(known), linesOf(asked)];
  if (before.length === 0 || after.length === 0) return undefined;
  const gone = before.filter((line) => !after.includes(line));
  const come = after.filter((line) => !before.includes(line));
  const keys = [...new Set([...gone, ...come].map(keyOf))];
  const told = (lines: readonly string[], key: string) =>
    lines
      .filter((line) => keyOf(line) === key)
      .map((line) => line.slice(key.length + 1))
      .join(' and ') || 'not there';
  return keys.length === 0 ? undefined : keys.map((key) => `${key} was ${told(gone, key)} and is ${told(come, key)}`).join('; ');
}

const keyOf = (line: string): string => line.split(' ', 1)[0]!;

/** For people: without what the head says already. */
export const briefly = (summary: string): string =>
  [headOf(summary), ...linesOf(summary).filter((line) => !/^(epsilon|delta|secret|adversary|unit|maxRows 1$)/.test(line))].join(
    '; ',
  );
