import { codeText } from '../../policy/code.js';
import type { Codebook, CodebookEntry } from '../../policy/codebook.js';
import { openStatFile, type StatVariable } from '../statfile/statfile.js';

/** The codebook that a survey file carries in its dictionary. Its rows are not read. */
export async function readStatCodebook(file: string): Promise<Codebook> {
  const opened = await openStatFile(file);
  await opened.close();
  return codebookOf(opened.variables);
}

/** Codebook entries of the variables that describe themselves. Codes with a label that are not declared missing are the answers. */
export function codebookOf(variables: readonly StatVariable[]): Codebook {
  return new Map(variables.flatMap((v) => (isDescribed(v) ? [[v.name, entryOf(v)] as const] : [])));
}

const isDescribed = ({ label, question, labels, missing }: StatVariable): boolean =>
  label !== undefined || question !== undefined || labels.size > 0 || missing.length > 0;

function entryOf({ label, question, labels, missing, missingRanges = [], kind }: StatVariable): CodebookEntry {
  const codeLabels = new Map(
    [...labels].map(([code, words]) => [codeText(code), words.trim()] as const).filter(([code]) => code !== ''),
  );
  const inRange = (code: string): boolean => missingRanges.some(({ low, high }) => Number(code) >= low && Number(code) <= high);
  const none = new Set([...missing.map(codeText), ...[...codeLabels.keys()].filter(inRange)].filter((code) => code !== ''));
  const text = question ?? label;
  return {
    ...(text !== undefined && text !== '' && { label: text }),
    values: kind === 'text' || kind === 'number' ? [...codeLabels.keys()].filter((code) => !none.has(code)) : [],
    labels: new Map([...codeLabels].filter(([, words]) => words !== '')),
    missing: [...none],
  };
}
