import { isAlias, isMap, isNode, isPair, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { Fault, type FaultPlace } from '../errors.js';

export type Path = readonly (string | number)[];

/** A YAML file as text values (0.1 stays "0.1", so it can be read exactly) that remembers where each came from. */
export interface YamlFile {
  readonly file: string;
  readonly value: unknown;
  /** Where the entry at `path` stands; the nearest enclosing entry when there is none. */
  place(path: Path): FaultPlace;
  /** Where the key itself stands (for keys that should not be there). */
  placeOfKey(path: Path): FaultPlace;
  places(): ReadonlyMap<string, FaultPlace>;
}

export function parseYaml(text: string, file: string): YamlFile {
  const counter = new LineCounter();
  const document = parseDocument(text, { schema: 'failsafe', lineCounter: counter, prettyErrors: false });
  const at = (offset: number): FaultPlace => {
    const { line, col } = counter.linePos(offset);
    return line === 0 ? { file, line: 1, column: 1 } : { file, line, column: col };
  };
  const error = document.errors[0];
  if (error)
    throw new Fault('POLICY_SYNTAX', `The policy is not valid YAML: ${lower(error.message)}.`, syntaxHint(error.code), {
      place: at(error.pos[0]),
    });
  if (document.contents === null || !isMap(document.contents))
    throw new Fault(
      'POLICY_SYNTAX',
      'The policy is empty or not a list of sections.',
      'A policy starts with the four lines data:, protect:, budget:, dependence:. `fugu init DATA` drafts one.',
      { place: { file, line: 1, column: 1 } },
    );

  const find = (path: Path, wantKey: boolean): number => {
    let node: Node = document.contents!;
    let offset = node.range?.[0] ?? 0;
    for (const [depth, step] of path.entries()) {
      const target: Node | undefined = isAlias(node) ? node.resolve(document) : node;
      const pair: Pair | undefined = isMap(target)
        ? target.items.find((item) => String(keyText(item)) === String(step))
        : undefined;
      const key = pair && isNode(pair.key) ? pair.key : undefined;
      const child: unknown = pair ? pair.value : isSeq(target) ? target.items[Number(step)] : undefined;
      if (!isNode(child)) return key?.range?.[0] ?? offset;
      offset = (wantKey && depth === path.length - 1 ? key?.range?.[0] : undefined) ?? child.range?.[0] ?? offset;
      node = child;
    }
    return offset;
  };

  const collect = (node: unknown, path: string, into: Map<string, FaultPlace>): void => {
    if (isMap(node))
      for (const item of node.items) {
        const name = `${path}${path && '.'}${keyText(item)}`;
        if (isNode(item.key)) into.set(name, at(item.key.range?.[0] ?? 0));
        collect(item.value, name, into);
      }
    else if (isSeq(node))
      for (const [index, item] of node.items.entries()) {
        const name = `${path}.${index}`;
        if (isNode(item)) into.set(name, at(item.range?.[0] ?? 0));
        collect(item, name, into);
      }
  };

  return {
    file,
    value: toPlain(document, file),
    place: (path) => at(find(path, false)),
    placeOfKey: (path) => at(find(path, true)),
    places: () => {
      const into = new Map<string, FaultPlace>();
      collect(document.contents, '', into);
      return into;
    },
  };
}

/** Aliases are resolved with a limit, so a small file cannot unfold into a huge one. */
function toPlain(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new Fault('POLICY_SYNTAX', 'The policy uses YAML aliases that cannot be resolved.', 'Write the values out.', {
      place: { file },
    });
  }
}

const keyText = (item: unknown): unknown => {
  const key = isPair(item) ? item.key : undefined;
  return key !== null && typeof key === 'object' && 'value' in key ? key.value : key;
};
const lower = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '');

const syntaxHint = (code: string): string =>
  code === 'DUPLICATE_KEY'
    ? 'Each name may appear once in its section; remove or merge the second one.'
    : code === 'TAB_AS_INDENT'
      ? 'Indent with spaces.'
      : 'Check indentation, brackets and quotes around this place.';
