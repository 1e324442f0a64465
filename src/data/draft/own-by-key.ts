import { codeText } from '../../policy/code.js';
import { isOfFew } from './free-text.js';
import { foundGroups } from './groups.js';
import type { ColumnSummary } from './guess.js';
import type { FoundPanel } from './panel.js';

/** Limits: number of keys, rows per member of a household, and rows per member of a declared group such as a class. */
const [mostKeys, mostTogether, maxDeclared] = [4, 8, 40];

/** Declared owner of the rows: a person or a group. */
export interface DeclaredKeys {
  readonly unit?: string | undefined;
  readonly group?: string | undefined;
}

/**
 * Columns that identify the owner of a row: a person, or a few people who live together.
 * People are counted, not rows: a household interviewed in five waves has five times the rows.
 */
export function keysIn(
  columns: readonly ColumnSummary[],
  panels: readonly FoundPanel[],
  stated: DeclaredKeys = {},
): readonly string[] {
  const named = (name: string | undefined) => columns.find((column) => column.name === name);
  const person = named(stated.unit ?? panels[0]?.unit);
  const rowsOfOne = person ? person.filled / Math.max(1, person.distinct) : 1;
  const areFew = (rowsEach: number, most: number) => rowsEach <= most * rowsOfOne;
  const group = named(stated.group);
  const small = columns.flatMap((column) => foundGroups(column) ?? []).filter(({ rowsEach }) => areFew(rowsEach, mostTogether));
  const names = [
    person?.name,
    panels[0]?.unit,
    ...(group && areFew(group.filled / Math.max(1, group.distinct), maxDeclared) ? [group.name] : []),
    ...small.sort((a, b) => Number(b.sure) - Number(a.sure)).map(({ name }) => name),
  ].filter((name) => name !== undefined);
  return [...new Set(names)].slice(0, mostKeys);
}

/** Number of different keys that share a text, counted up to where they are no longer few. */
interface KeyCounts {
  cells: number;
  readonly by: readonly Set<string>[];
}

/**
 * Texts by the number of people who share them, where a column identifies the owners of
 * rows: one person's answer in every wave fills many rows and is still that person's own.
 */
export class OwnByKey {
  readonly #columns: readonly ColumnSummary[];
  readonly #keys: readonly ColumnSummary[];
  readonly #held = new Map<string, Map<string, KeyCounts>>();

  constructor(columns: readonly ColumnSummary[], keys: readonly string[]) {
    this.#columns = columns;
    this.#keys = keys.flatMap((key) => columns.find(({ name }) => name === key) ?? []);
    for (const { name, texts, optionTexts, codes = [], options = [] } of columns) {
      if (!((texts?.distinct ?? 0) + (optionTexts?.distinct ?? 0) > 0) || keys.includes(name)) continue;
      const none = (): KeyCounts => ({ cells: 0, by: this.#keys.map(() => new Set()) });
      this.#held.set(name, new Map([...codes, ...options].map((code) => [codeText(code), none()])));
    }
  }

  get columns(): readonly string[] {
    return this.#keys.length === 0 || this.#held.size === 0 ? [] : [...this.#keys.map(({ name }) => name), ...this.#held.keys()];
  }

  see(cell: (column: string) => unknown): void {
    const keys = this.#keys.map(({ name }) => cell(name));
    for (const { name, separator } of this.#columns) {
      const held = this.#held.get(name);
      const stated = held && cell(name);
      if (!held || stated === null || stated === undefined) continue;
      const parts = separator === undefined ? [] : String(stated).split(separator);
      for (const text of new Set([codeText(String(stated)), ...parts.map((part) => codeText(part.trim()))])) {
        const found = held.get(text);
        if (!found) continue;
        found.cells++;
        for (const [k, key] of keys.entries()) {
          const by = found.by[k]!;
          if (by.size < enough && key !== null) by.add(String(key));
        }
      }
    }
  }

  /** The columns, with the texts shared by only a few people marked. */
  get found(): readonly ColumnSummary[] {
    return this.#columns.map((column) => {
      const held = this.#held.get(column.name);
      if (!held) return column;
      const { texts, optionTexts } = column;
      return {
        ...column,
        ...(texts && { texts: this.#without(texts, held, column.codes ?? []) }),
        ...(optionTexts && { optionTexts: this.#without(optionTexts, held, column.options ?? []) }),
      };
    });
  }

  #without<T extends { readonly own?: readonly string[]; readonly ownCells?: number }>(
    texts: T,
    held: ReadonlyMap<string, KeyCounts>,
    listed: readonly string[],
  ): T {
    const before = new Set(texts.own);
    const own = [...new Set(listed.map(codeText))].filter((text) => {
      const by = held.get(text)?.by ?? [];
      return !before.has(text) && this.#keys.some(({ distinct }, k) => by[k] && isOfFew(text, by[k].size, distinct));
    });
    if (own.length === 0) return texts;
    const cells = own.reduce((sum, text) => sum + held.get(text)!.cells, texts.ownCells ?? 0);
    return { ...texts, own: [...before, ...own], ownCells: cells };
  }
}
const enough = 5;
