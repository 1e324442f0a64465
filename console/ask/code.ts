import type { Asking } from '../api/shapes.ts';

export interface Code {
  readonly name: string;
  readonly text: string;
}

const single = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;

const words = ['sql', 'pattern', 'survey', 'workload', 'synth', 'kmeans', 'classify', 'network', 'stream'] as const;
type Word = (typeof words)[number] | 'query';

/** The word that a question is asked by, the same in every language; what has none is a query. */
function asked(question: unknown): { readonly word: Word; readonly value: unknown } {
  if (typeof question === 'object' && question !== null)
    for (const word of words) if (word in question) return { word, value: (question as Record<string, unknown>)[word] };
  return { word: 'query', value: question };
}

/** The same request in every language it can be sent from. Numbers are texts, so that a fraction stays one. */
export function codeFor(policy: string, { question, epsilon }: Asking, origin: string): readonly Code[] {
  const { word, value } = asked(question);
  const said = value === true ? `--${word}` : `--${word} ${single(typeof value === 'string' ? value : JSON.stringify(value))}`;
  const python = `${word === 'query' ? '' : `${word}=`}${pythonic(value)}, epsilon="${epsilon}"`;
  const r = `${word} = ${listOf(value)}, epsilon = "${epsilon}"`;
  const file = `${policy}.yaml`;
  return [
    {
      name: 'Command line',
      text: `fugu plan ${file} ${said} --epsilon ${epsilon}      # free\nfugu release ${file} ${said} --epsilon ${epsilon}   # pays`,
    },
    {
      name: 'curl',
      text: `curl -s ${origin}/v1/policies/${encodeURIComponent(policy)}/release \\\n  -H "authorization: Bearer $FUGU_TOKEN" \\\n  -H "content-type: application/json" \\\n  -d ${single(JSON.stringify({ question, epsilon }))}`,
    },
    {
      name: 'TypeScript',
      text: `import { FuguClient } from 'fugu/client';\n\nconst fugu = new FuguClient({ url: '${origin}', token: process.env.FUGU_TOKEN });\nconst asking = ${JSON.stringify({ question, epsilon }, null, 2)};\nconst plan = await fugu.plan('${policy}', asking);      // free\nconst answer = await fugu.release('${policy}', asking); // pays`,
    },
    {
      name: 'Python',
      text: `import os\nimport fugu\n\npolicy = fugu.connect("${origin}", os.environ["FUGU_TOKEN"]).policy("${policy}")\nprint(policy.plan(${python})["errors"])   # free\nprint(policy.release(${python}))          # pays`,
    },
    {
      name: 'R',
      text: `library(fugu)\n\npolicy <- fugu_connect("${origin}", Sys.getenv("FUGU_TOKEN"), "${policy}")\nfugu_plan(policy, ${r})      # free\nfugu_release(policy, ${r})   # pays`,
    },
  ];
}

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
