/**
 * The summary of an account's terms is a head (epsilon, delta, secret, adversary) separated by commas,
 * then the other lines separated by semicolons. Accounts from before those lines were kept have the head alone.
 */
const parts = (summary: string) => {
  const [head = '', ...lines] = summary.split('; ');
  return { head: head.split(', '), lines };
};

/** Difference between two summaries, in words; undefined where too little is known. */
export function changedTerms(known: string, declared: string): string | undefined {
  const [before, after] = [parts(known), parts(declared)];
  const both = before.lines.length > 0 && after.lines.length > 0;
  const [was, is] = [before, after].map(({ head, lines }) => (both ? [...head, ...lines] : head));
  const gone = was!.filter((line) => !is!.includes(line));
  const come = is!.filter((line) => !was!.includes(line));
  const keys = [...new Set([...gone, ...come].map(keyOf))];
  const linesOf = (lines: readonly string[], key: string) =>
    lines
      .filter((line) => keyOf(line) === key)
      .map((line) => line.slice(key.length + 1))
      .join(' and ');
  return keys.length === 0 ? undefined : keys.map((key) => changeText(key, linesOf(gone, key), linesOf(come, key))).join('; ');
}

/** Under `open` a summary lists what is public, as JSON. */
function changeText(key: string, was: string, is: string): string {
  const isList = key === 'open';
  const [before, after] = isList ? [was, is].map((text) => text.replace(/[[\]"]/g, '')) : [was, is];
  const name = isList ? 'what is public' : key;
  if (was === '') return isList ? `${after} is public now, and was not when the budget was opened` : `${name} ${after} is new`;
  if (is === '')
    return isList ? `${before} was public when the budget was opened, and is not now` : `${name} ${before} is no longer declared`;
  return `${name} was ${before} and is ${after}`;
}

const keyOf = (line: string): string => line.split(' ', 1)[0]!;
