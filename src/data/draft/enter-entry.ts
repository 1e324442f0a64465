import { isMap, isPair, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';

/**
 * The policy text with `key: value` in the section at `path`, in the place of what stood there. Everything else stays byte for byte, comments too. `value` is written as it
 * stands, on one line.
 */
export function enterEntry(text: string, path: readonly string[], key: string, value: string): string {
  const section = sectionAt(text, path);
  if (!section) {
    const inner = `{ ${yamlName(key)}: ${value} }`;
    if (path.length === 0) return `${yamlName(key)}: ${value}\n`;
    return enterEntry(text, path.slice(0, -1), path.at(-1)!, inner);
  }
  const found = section.items.find((item) => nameOf(item) === key);
  if (found) return replaced(text, found, value);
  return section.flow
    ? intoFlow(text, section, `${yamlName(key)}: ${value}`)
    : intoBlock(text, section, `${yamlName(key)}: ${value}`);
}

export const nameOf = (item: Pair): string | undefined =>
  isPair(item) && isScalar(item.key) ? String(item.key.value) : undefined;
export const yamlName = (name: string): string => (/^[A-Za-z_][\w.-]*$/.test(name) ? name : JSON.stringify(name));

export function sectionAt(text: string, path: readonly string[]): YAMLMap<unknown, unknown> | undefined {
  let node: unknown = parseDocument(text, { schema: 'failsafe' }).contents;
  for (const step of path) {
    if (!isMap(node)) return undefined;
    node = node.items.find((item) => nameOf(item) === step)?.value;
  }
  return isMap(node) ? node : undefined;
}

type Ranged = { readonly range?: readonly [number, number, number] | null };
const ends = (node: unknown): readonly [number, number] => {
  const range = (node as Ranged | null)?.range;
  return range ? [range[0], range[1]] : [0, 0];
};

function replaced(text: string, { key, value: old }: Pair, value: string): string {
  const [, after] = ends(key);
  const [start, end] = ends(old);
  if (end === 0 || start === end) return `${text.slice(0, after)}: ${value}${text.slice(after).replace(/^\s*:/, '')}`;
  const nested = isMap(old) && !old.flow;
  // A block stands on lines of its own.
  const from = nested ? text.indexOf(':', after) + 1 : start;
  const rest = text.slice(end);
  return `${text.slice(0, from)}${nested ? ' ' : ''}${value}${nested && !rest.startsWith('\n') ? '\n' : ''}${rest}`;
}

function intoFlow(text: string, section: YAMLMap<unknown, unknown>, entry: string): string {
  const close = ends(section)[1] - 1;
  const before = text.slice(0, close).trimEnd();
  const comma = section.items.length > 0 && !before.endsWith(',') ? ',' : '';
  return `${before}${comma} ${entry} ${text.slice(close)}`;
}

function intoBlock(text: string, section: YAMLMap<unknown, unknown>, entry: string): string {
  const [first] = ends(section.items[0]!.key);
  const indent = text.slice(text.lastIndexOf('\n', first - 1) + 1, first);
  const last = section.items.at(-1)!;
  const end = Math.max(ends(last.value)[1], ends(last.key)[1]);
  const line = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1;
  const [head, tail] = line === 0 ? [`${text}\n`, ''] : [text.slice(0, line), text.slice(line)];
  return `${head}${indent}${entry}\n${tail}`;
}
