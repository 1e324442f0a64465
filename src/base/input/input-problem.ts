import type * as z from 'zod';

type Issue = z.core.$ZodIssue;
interface Found {
  readonly issue: Issue;
  readonly path: readonly PropertyKey[];
}

/** First fault in the given input: its place, and a sentence about it. */
export interface InputProblem {
  readonly path: readonly PropertyKey[];
  readonly text: string;
  /** Unknown name, if that is the fault. */
  readonly unknown?: string;
}

export function inputProblem({ issues }: z.ZodError): InputProblem {
  const found = issues.map((issue) => innermost(issue));
  // A misspelt name also makes the right one missing: of the two issues, the unknown key is the more useful message.
  const { issue, path } = found.find(({ issue: { code } }) => code === 'unrecognized_keys') ?? found[0]!;
  if (issue.code === 'unrecognized_keys') return { path, text: `there is no "${issue.keys[0]!}" here.`, unknown: issue.keys[0]! };
  if (path.length > 0 && /received undefined$/.test(issue.message)) return { path, text: 'this is missing.' };
  const message = issue.message
    .replace(/^Invalid input: /, '')
    .replace(/^Invalid discriminator value\. Expected/, 'expected one of')
    .replace(/^Too small: expected array to have >=1 items$/, 'the list is empty')
    .replaceAll(' | ', ', ');
  return { path, text: `${message}.`.replace(/\.\.$/, '.') };
}

/** Of several alternatives, the intended one: that which matched furthest before a fault. */
function innermost(issue: Issue, before: readonly PropertyKey[] = []): Found {
  const path = [...before, ...issue.path];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return { issue, path };
  const nobodys = unknownToAll(issue.errors);
  if (nobodys) return { issue: nobodys, path };
  const forms = issue.errors.map(([first]) => innermost(first!, path));
  return forms.reduce((most, next) => (next.path.length > most.path.length ? next : most));
}

/** A name that no alternative has is misspelt, whichever was intended. */
function unknownToAll(forms: readonly (readonly Issue[])[]): Issue | undefined {
  const unknown = forms.map((issues) =>
    issues.flatMap((own) => (own.code === 'unrecognized_keys' && own.path.length === 0 ? [own] : [])),
  );
  const keys = unknown[0]!
    .flatMap((own) => own.keys)
    .filter((key) => unknown.every((all) => all.some((own) => own.keys.includes(key))));
  return keys.length > 0 ? { ...unknown[0]![0]!, keys } : undefined;
}

/** Place in the given input: queries[0].at. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i > 0 ? '.' : ''}${String(step)}`)).join('');
