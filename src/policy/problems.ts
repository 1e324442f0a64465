import type { z } from 'zod';
import { Fault } from '../base/errors.js';
import { usageAt } from './usage.js';
import type { Path, YamlFile } from './yaml-file.js';

type Issue = z.core.$ZodIssue;

/** A fault at one place of the policy file. */
export const invalid = (yaml: YamlFile, path: Path, message: string, hint: string): Fault =>
  new Fault('POLICY_INVALID', message, hint, { place: yaml.place(path) });

/** First fault in file order, in words. */
export function firstProblem(issues: readonly Issue[], yaml: YamlFile, shape: z.core.$ZodType): Fault {
  const found = issues
    .map((issue) => innermost(issue))
    .map(({ issue, path }) => ({ issue, path, place: placeOf(issue, path, yaml) }));
  // A misspelt key also makes the right key missing: of the two issues, the unknown key is the more useful message.
  const rank = (issue: Issue) => (issue.code === 'unrecognized_keys' ? 0 : 1);
  const [first] = found.sort(
    (a, b) => a.place.line! - b.place.line! || rank(a.issue) - rank(b.issue) || a.place.column! - b.place.column!,
  );
  const [message, hint] = words(
    first!.issue,
    first!.path,
    usageAt(shape, first!.path) ?? 'See docs/reference/policy.md, or policy.schema.json in an editor.',
  );
  // A limit is refused by its own code, at the place where it was found.
  const limit = first!.issue.code === 'custom' ? (first!.issue.params as Fault['details'] | undefined) : undefined;
  return new Fault(limit ? 'LIMIT_EXCEEDED' : 'POLICY_INVALID', message, hint, {
    place: first!.place,
    details: { problems: found.length, ...limit },
  });
}

function placeOf(issue: Issue, path: Path, yaml: YamlFile) {
  if (issue.code === 'unrecognized_keys') return yaml.placeOfKey([...path, issue.keys[0]!]);
  return issue.code === 'invalid_key' ? yaml.placeOfKey(path) : yaml.place(path);
}

/** Issue of the alternative that came closest: the one with the deepest path. */
function innermost(issue: Issue, before: Path = []): { issue: Issue; path: Path } {
  const path = [...before, ...(issue.path as (string | number)[])];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return { issue, path };
  const inner = issue.errors.flatMap((alternative) => alternative.map((one) => innermost(one, path)));
  const deepest = inner.reduce((a, b) => (b.path.length > a.path.length ? b : a));
  return deepest.path.length > path.length ? deepest : (unknownKey(issue, path) ?? { issue, path });
}

/** An unknown key inside an alternative has no deeper path, but is a better message than the failed alternative. */
function unknownKey(issue: Issue & { code: 'invalid_union' }, path: Path) {
  const found = issue.errors.flat().find((one) => one.code === 'unrecognized_keys');
  return found && { issue: found, path };
}

function words(issue: Issue, path: Path, usage: string): [string, string] {
  const name = path.length > 0 ? `"${path.join('.')}"` : 'the policy';
  // A general message about lists would only describe their form.
  if (issue.code === 'invalid_key')
    return [
      `The name "${path.at(-1)}" cannot be used.`,
      'Use letters without accents, digits and underscores, not starting with a digit.',
    ];
  const [message, hint] = issue.message.split('\n');
  if (message && !message.startsWith('Invalid') && !message.startsWith('Too '))
    return [message.replace('This section', `The section ${name}`), hint || usage];
  if (issue.code === 'too_small') return [`${name} has too few entries.`, usage];
  if (issue.code === 'too_big') return [`${name} has too many entries.`, usage];
  return [`${name} is missing or not in the form expected.`, usage];
}
