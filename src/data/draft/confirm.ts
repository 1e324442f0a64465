import { isScalar, isSeq, type YAMLSeq } from 'yaml';
import { nameOf, sectionAt, yamlName } from './enter-entry.js';

/**
 * The policy text with these columns taken off its `unconfirmed` list. Only that list is touched: everything else stays byte for byte, comments too.
 */
export function confirmColumns(text: string, confirmed: ReadonlySet<string>): string {
  const pair = entryAt(text, 'unconfirmed');
  const list = pair?.value;
  if (!pair || !isScalar(pair.key) || !isSeq(list)) return text;
  const names = list.items.map((item) => (isScalar(item) ? String(item.value) : ''));
  const left = names.filter((name) => !confirmed.has(name));
  const [start, end] = [pair.key.range![0], list.range![1]];
  if (left.length === 0) return removeLines(text, start, end);
  if (list.flow) return splice(text, list.range![0], end, `[${left.map(yamlName).join(', ')}]`);
  return removeItems(text, list, names, confirmed);
}

/** The policy text with a decision in place of `dependence: undecided`; unchanged if something else was decided already. */
export function decideDependence(text: string, decision: string): string {
  const value = entryAt(text, 'dependence')?.value;
  return isScalar(value) && value.value === 'undecided' ? splice(text, value.range![0], value.range![1], decision) : text;
}

const splice = (text: string, start: number, end: number, put: string) => text.slice(0, start) + put + text.slice(end);
const entryAt = (text: string, key: string) => sectionAt(text, [])?.items.find((item) => nameOf(item) === key);

/** Whole lines, and a comment that stands directly above them. */
function removeLines(text: string, start: number, end: number): string {
  let from = text.lastIndexOf('\n', start - 1) + 1;
  for (;;) {
    const above = from === 0 ? -1 : text.lastIndexOf('\n', from - 2) + 1;
    if (above < 0 || !text.slice(above, from).trimStart().startsWith('#')) break;
    from = above;
  }
  const next = text.indexOf('\n', Math.max(start, end - 1));
  return splice(text, from, next < 0 ? text.length : next + 1, '');
}

function removeItems(text: string, list: YAMLSeq, names: readonly string[], confirmed: ReadonlySet<string>): string {
  let result = text;
  for (let i = names.length - 1; i >= 0; i--) {
    const item = list.items[i];
    if (!confirmed.has(names[i]!) || !isScalar(item)) continue;
    const from = result.lastIndexOf('\n', item.range![0] - 1) + 1;
    const next = result.indexOf('\n', item.range![1]);
    result = splice(result, from, next < 0 ? result.length : next + 1, '');
  }
  return result;
}
