import type { Asking } from '../api/shapes.ts';

export interface Code {
  readonly name: string;
  readonly text: string;
}

const single = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;
const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);
const isSql = (question: unknown): question is { readonly sql: string } =>
  typeof question === 'object' && question !== null && 'sql' in question;

/** The same request in every language it can be sent from. Numbers are texts, so that a fraction stays one. */
export function codeFor(policy: string, { question, epsilon }: Asking, origin: string): readonly Code[] {
  const json = JSON.stringify(question);
  const body = JSON.stringify({ question, epsilon });
  const words = isSql(question) ? `--sql ${single(question.sql)}` : surveyed(question) ? '--survey' : `--query ${single(json)}`;
  const python = isSql(question)
    ? `sql=${JSON.stringify(question.sql)}`
    : surveyed(question)
      ? 'survey=True'
      : `query=${pythonic(question)}`;
  const r = isSql(question)
    ? `sql = ${JSON.stringify(question.sql)}`
    : surveyed(question)
      ? 'survey = TRUE'
      : `query = ${listOf(question)}`;
  const file = `${policy}.yaml`;
  return [
    {
      name: 'Command line',
      text: `fugu plan ${file} ${words} --epsilon ${epsilon}      # free\nfugu release ${file} ${words} --epsilon ${epsilon}   # pays`,
    },
    {
      name: 'curl',
      text: `curl -s ${origin}/v1/policies/${encodeURIComponent(policy)}/release \\\n  -H "authorization: Bearer $FUGU_TOKEN" \\\n  -H "content-type: application/json" \\\n  -d ${single(body)}`,
    },
    {
      name: 'TypeScript',
      text: `import { open } from 'fugu';\n\nconst fugu = await open('${file}');\nconst question = ${indented(JSON.stringify(question, null, 2), '')};\nconst plan = await fugu.plan(question, { epsilon: '${epsilon}' });      // free\nconst { tables, receipt } = await fugu.release(question, { epsilon: '${epsilon}' });\nawait fugu.close();`,
    },
    {
      name: 'Python',
      text: `import fugu\n\npolicy = fugu.open("${file}")\nprint(policy.plan(${python}, epsilon="${epsilon}")["errors"])   # free\nprint(policy.release(${python}, epsilon="${epsilon}"))`,
    },
    {
      name: 'R',
      text: `library(fugu)\n\npolicy <- fugu_open("${file}")\nfugu_plan(policy, ${r}, epsilon = "${epsilon}")      # free\nfugu_release(policy, ${r}, epsilon = "${epsilon}")`,
    },
  ];
}

const surveyed = (question: unknown): boolean => typeof question === 'object' && question !== null && 'survey' in question;

/** A value as Python writes it. */
function pythonic(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonic).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([k, v]) => `${JSON.stringify(k)}: ${pythonic(v)}`)
      .join(', ')}}`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

/** A value as R writes it; a list of JSON stays a list. */
function listOf(value: unknown): string {
  if (Array.isArray(value)) return `list(${value.map(listOf).join(', ')})`;
  if (typeof value === 'object' && value !== null)
    return `list(${Object.entries(value)
      .map(([k, v]) => `${k} = ${listOf(v)}`)
      .join(', ')})`;
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  return value === null ? 'NULL' : JSON.stringify(value);
}
