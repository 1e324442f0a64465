import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Parser,
} from 'yaml';
import { Fault, type FaultPlace } from '../base/errors.js';
import { exceeded, limits, within } from '../base/input/limits.js';

export type Path = readonly (string | number)[];

/** YAML file as text values (0.1 stays "0.1", to be read exactly) with the place of each. */
export interface YamlFile {
  readonly file: string;
  readonly value: unknown;
  /** Place of the entry at `path`, or of the nearest enclosing entry. */
  place(path: Path): FaultPlace;
  /** Place of the key itself, for unexpected keys. */
  placeOfKey(path: Path): FaultPlace;
  /** Places of the entries of the first three levels, named like columns.age.bounds. */
  places(): ReadonlyMap<string, FaultPlace>;
}

/** Name of this kind of YAML file in faults, and an explanation of its beginning. */
export interface YamlKind {
  readonly name: string;
  readonly starts: string;
}
const policyKind: YamlKind = {
  name: 'The policy',
  starts: 'A policy starts with the four lines data:, protect:, budget:, dependence:. `fugu init DATA` drafts one.',
};

export function parseYaml(text: string, file: string, kind: YamlKind = policyKind): YamlFile {
  within('policyBytes', text.length, { file });
  const counter = new LineCounter();
  const tokens = tokensOf(text, file, counter);
  within('policyDepth', depthOf(tokens), { file });
  // Duplicate names are checked below, because the parser compares every pair of names.
  const [document, second] = new Composer({ schema: 'failsafe', prettyErrors: false, uniqueKeys: false }).compose(
    tokens,
    true,
    text.length,
  );
  const at = (offset: number): FaultPlace => {
    const { line, col } = counter.linePos(offset);
    return line === 0 ? { file, line: 1, column: 1 } : { file, line, column: col };
  };
  const error = document!.errors[0];
  if (second)
    throw new Fault('POLICY_SYNTAX', `${kind.name} holds several YAML documents.`, 'Remove the lines that hold only ---.', {
      place: at(second.range[0]),
    });
  if (error)
    throw new Fault('POLICY_SYNTAX', `${kind.name} is not valid YAML: ${lower(error.message)}.`, syntaxHint(error.code), {
      place: at(error.pos[0]),
    });
  if (!document || document.contents === null || !isMap(document.contents))
    throw new Fault('POLICY_SYNTAX', `${kind.name} is empty or not a list of sections.`, kind.starts, {
      place: { file, line: 1, column: 1 },
    });
  checkNodes(document.contents, file, at);

  return {
    file,
    value: toPlain(document, file),
    ...placesIn(document, document.contents, at),
  };
}

/** Looks places up by path in a document that was checked. */
function placesIn(
  document: Document.Parsed,
  top: Node,
  at: (offset: number) => FaultPlace,
): Pick<YamlFile, 'place' | 'placeOfKey' | 'places'> {
  const find = (path: Path, wantKey: boolean): number => {
    let node = top;
    let offset = node.range?.[0] ?? 0;
    for (const [depth, step] of path.entries()) {
      const target: Node | undefined = isAlias(node) ? node.resolve(document) : node;
      const pair: Pair | undefined = isMap(target)
        ? target.items.find((item) => String(keyText(item)) === String(step))
        : undefined;
      const key = pair && isNode(pair.key) ? pair.key : undefined;
      const item = isSeq(target) ? target.items[Number(step)] : undefined;
      const child: unknown = pair ? pair.value : item;
      if (!isNode(child)) return key?.range?.[0] ?? offset;
      offset = (wantKey && depth === path.length - 1 ? key?.range?.[0] : undefined) ?? child.range?.[0] ?? offset;
      node = child;
    }
    return offset;
  };

  const collect = (node: unknown, path: string, into: Map<string, FaultPlace>, levels = 3): void => {
    if (levels === 0) return;
    if (isMap(node))
      for (const item of node.items) {
        const name = `${path}${path && '.'}${keyText(item)}`;
        if (isNode(item.key)) into.set(name, at(item.key.range?.[0] ?? 0));
        collect(item.value, name, into, levels - 1);
      }
    else if (isSeq(node))
      for (const [index, item] of node.items.entries()) {
        const name = `${path}.${index}`;
        if (isNode(item)) into.set(name, at(item.range?.[0] ?? 0));
        collect(item, name, into, levels - 1);
      }
  };

  return {
    place: (path) => at(find(path, false)),
    placeOfKey: (path) => at(find(path, true)),
    places: () => {
      const into = new Map<string, FaultPlace>();
      collect(top, '', into);
      return into;
    },
  };
}

/** Limit on unclosed brackets, which cost the parser more than quadratic time; strings and comments may hold some. */
const mostOpen = 1000;
function openBrackets(text: string): number {
  let [open, most] = [0, 0];
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open += bracket === '[' || bracket === '{' ? 1 : -1;
    most = Math.max(most, open);
  }
  return most;
}

/** The parser recurses when a line opens several entries. */
function tokensOf(text: string, file: string, counter: LineCounter) {
  const open = openBrackets(text);
  if (open > mostOpen) throw exceeded('policyDepth', open, { file });
  try {
    return [...new Parser(counter.addNewLine).parse(text)];
  } catch (error) {
    if (error instanceof RangeError) throw exceeded('policyDepth', Number.POSITIVE_INFINITY, { file });
    throw error;
  }
}

/** Nesting depth of the tokens, computed without recursion before recursive code visits them. */
function depthOf(tokens: readonly object[]): number {
  let level = tokens as readonly Nested[];
  let depth = -1;
  while (level.length > 0) {
    const inner: Nested[] = [];
    for (const { items, value } of level) {
      if (typeof value === 'object') inner.push(value);
      if (items === undefined) continue;
      for (const item of items) {
        if (isHolder(item.key)) inner.push(item.key);
        if (isHolder(item.value)) inner.push(item.value);
      }
    }
    level = inner;
    depth++;
  }
  return Math.max(0, depth - 1);
}
/** Parser token, as far as it contains other tokens. */
interface Nested {
  readonly items?: readonly { readonly key?: Nested | null; readonly value?: Nested }[];
  readonly value?: Nested;
}
const isHolder = (token: Nested | null | undefined): token is Nested => token?.items !== undefined;

/** Checks that every name is a text and unique in its section, and that entries and aliases are within the limits. */
function checkNodes(top: Node, file: string, at: (offset: number) => FaultPlace): void {
  let aliases = 0;
  let entries = 0;
  const waiting: unknown[] = [top];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (isAlias(node)) aliases++;
    entries++;
    if (isSeq(node)) for (const item of node.items) waiting.push(item);
    if (!isMap(node)) continue;
    const names = new Set<string>();
    for (const { key, value } of node.items) {
      const place = at((isNode(key) ? key.range?.[0] : undefined) ?? node.range?.[0] ?? 0);
      if (!isScalar(key)) throw new Fault('POLICY_SYNTAX', 'A name in the policy is not a text.', syntaxHint(''), { place });
      const name = String(key.value);
      within('nameLength', name.length, place);
      if (names.has(name))
        throw new Fault('POLICY_SYNTAX', 'The policy is not valid YAML: map keys must be unique.', syntaxHint('DUPLICATE_KEY'), {
          place,
        });
      // The schema check would drop this key silently.
      if (name === '__proto__')
        throw new Fault('POLICY_INVALID', 'The name "__proto__" cannot be used in a policy.', 'Rename the column or code.', {
          place,
        });
      names.add(name);
      waiting.push(value);
    }
  }
  within('policyEntries', entries, { file });
  within('policyAliases', aliases, { file });
}

/** Aliases are resolved with a limit, so a small file cannot unfold into a huge one. */
function toPlain(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: limits.policyAliases.most });
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

const syntaxHints: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'Each name may appear once in its section; remove or merge the second one.',
  TAB_AS_INDENT: 'Indent with spaces.',
};
const syntaxHint = (code: string): string => syntaxHints[code] ?? 'Check indentation, brackets and quotes around this place.';
