import type { MemoryLimit } from '../../privacy/dependence/graph/memory-limit.js';
import { type NameColumn, nameNumberAt, Spelling } from './spelling.js';
import { compareBytes, TextNames } from './text-names.js';

/** Marks a cell without a name. */
export const noName = 0xffffffff;
/** All names of a column are below it, and it is above 0. */
export const namesBelow = (names: Uint32Array): number =>
  1 + names.reduce((most, own) => (own === noName ? most : Math.max(most, own)), 0);

/** Numbers of names that are texts begin here: those that are numbers lie below. */
const text = 2 ** 31;
/** Slots of the number table per row that is read, and at least. */
const placesPerRow = 4;
const fewPlaces = 2 ** 16;

/**
 * Different names, numbered as they come. Names that are whole numbers, as identifiers mostly are, are found by their place in a table where they are not much larger than the
 * number of rows; all others as texts. Which way a name goes depends on the name alone.
 */
export class NameList {
  readonly #texts: TextNames;
  readonly #grown: MemoryLimit['require'];
  readonly #spelling = new Spelling();
  /** Numbers below it are in the table, each with the number of its name plus one. */
  readonly #below: number;
  #table = new Uint32Array(0);
  #most = -1;
  #size = 0;
  /** Number of names that are numbers. */
  #numbers = 0;
  /** If both kinds occur: for each name its number, or `text` plus its index among texts; and for each text its name. */
  #spelt = new Uint32Array(0);
  #ofText = new Uint32Array(0);

  /** `grown` receives the number of bytes that the list is about to hold; `rows` is the number of names to read. */
  constructor(grown: MemoryLimit['require'] = () => undefined, rows = 0) {
    this.#grown = grown;
    this.#below = Math.min(text, Math.max(fewPlaces, placesPerRow * rows));
    this.#texts = new TextNames((bytes) => grown(bytes + this.#tableBytes));
  }

  get size(): number {
    return this.#size;
  }
  get bytes(): number {
    return this.#texts.bytes + this.#tableBytes;
  }
  get #tableBytes(): number {
    return 4 * (this.#table.length + this.#spelt.length + this.#ofText.length);
  }

  /** The number of a name, which it is given when it is new. */
  add(name: string): number {
    this.#spelling.spell(name);
    return this.#add();
  }
  /** The number of the name in a cell of a column; `noName` where there is none. */
  addAt(names: NameColumn, row: number): number {
    return this.#spelling.take(names, row) ? this.#add() : noName;
  }
  find(name: string): number | undefined {
    this.#spelling.spell(name);
    return this.#find();
  }
  findAt(names: NameColumn, row: number): number | undefined {
    return this.#spelling.take(names, row) ? this.#find() : undefined;
  }

  /** The numbers of the first names of a column, given to those that are new. */
  addAll(names: NameColumn, rows: number, into: Uint32Array, at: number): void {
    const { texts } = names;
    for (let row = 0; row < rows; row++) {
      const number = texts ? nameNumberAt(texts, row) : -1;
      into[at + row] = number >= 0 && number < this.#below ? this.#addNumber(number) : this.addAt(names, row);
    }
  }
  /** The numbers of the first names of a column; `noName` for those that are not known. */
  findAll(names: NameColumn, rows: number, into: Uint32Array): void {
    const { texts } = names;
    const table = this.#table;
    for (let row = 0; row < rows; row++) {
      const number = texts ? nameNumberAt(texts, row) : -1;
      into[row] = number >= 0 && number < table.length ? table[number]! - 1 : (this.findAt(names, row) ?? noName);
    }
  }

  #find(): number | undefined {
    const number = this.#spelling.number();
    if (number >= 0 && number < this.#below) {
      const known = number < this.#table.length ? this.#table[number]! : 0;
      return known === 0 ? undefined : known - 1;
    }
    const known = this.#texts.find(this.#spelling);
    return known === undefined || this.#most < 0 ? known : this.#ofText[known];
  }

  #add(): number {
    const number = this.#spelling.number();
    if (number >= 0 && number < this.#below) return this.#addNumber(number);
    const at = this.#texts.add(this.#spelling);
    if (this.#most < 0) {
      this.#size = this.#texts.size;
      return at;
    }
    if (this.#texts.size + this.#numbers === this.#size) return this.#ofText[at]!;
    const id = this.#size++;
    this.#spell(id, text + at);
    this.#ofText = this.#longer(this.#ofText, at);
    this.#ofText[at] = id;
    return id;
  }

  #addNumber(number: number): number {
    if (number >= this.#table.length) this.#widen(number);
    const known = this.#table[number]!;
    if (known > 0) return known - 1;
    if (this.#most < 0) this.#tellApart();
    if (number > this.#most) this.#most = number;
    const id = this.#size++;
    this.#table[number] = id + 1;
    this.#spell(id, number);
    return id;
  }

  #spell(id: number, as: number): void {
    if (as < text) this.#numbers++;
    this.#spelt = this.#longer(this.#spelt, id);
    this.#spelt[id] = as;
  }

  /** All names so far are texts, and numbers will be among them. */
  #tellApart(): void {
    for (let id = 0; id < this.#size; id++) {
      this.#spelt = this.#longer(this.#spelt, id);
      this.#spelt[id] = text + id;
    }
    this.#ofText = Uint32Array.from({ length: this.#size }, (_, at) => at);
  }

  #widen(number: number): void {
    const length = Math.min(this.#below, Math.max(1024, 2 ** Math.ceil(Math.log2(number + 1))));
    this.#grown(this.bytes + 4 * length);
    const wider = new Uint32Array(Math.max(length, number + 1));
    wider.set(this.#table);
    this.#table = wider;
  }

  #longer(list: Uint32Array, at: number): Uint32Array<ArrayBuffer> {
    if (at < list.length) return list as Uint32Array<ArrayBuffer>;
    this.#grown(this.bytes + 8 * Math.max(512, list.length));
    const longer = new Uint32Array(2 * Math.max(512, list.length));
    longer.set(list);
    return longer;
  }

  text(id: number): string {
    if (this.#most < 0) return this.#texts.text(id);
    const spelt = this.#spelt[id]!;
    return spelt < text ? String(spelt) : this.#texts.text(spelt - text);
  }

  /** The place of each name among all in the order of their UTF-16 units, as JavaScript compares texts. */
  ranks(): Uint32Array {
    this.#grown(this.bytes + 24 * this.#size);
    const numbers = this.#numbersInOrder();
    const texts = this.#texts.order();
    const ranks = new Uint32Array(this.#size);
    let [n, t] = [0, 0];
    for (let rank = 0; rank < this.#size; rank++) {
      const first = t === texts.length || (n < numbers.length && this.#comesFirst(numbers[n]!, texts[t]!));
      const at = first ? numbers[n++]! : texts[t++]!;
      ranks[first || this.#most < 0 ? at : this.#ofText[at]!] = rank;
    }
    return ranks;
  }

  #comesFirst(id: number, at: number): boolean {
    return compareBytes(encoder.encode(this.text(id)), this.#texts.bytesOf(at)) < 0;
  }

  /** Names that are numbers, as their texts are ordered: 1, 10, 100, 101, 11, 2. */
  #numbersInOrder(): Uint32Array {
    const order = new Uint32Array(this.#numbers);
    let size = 0;
    const visit = (number: number): void => {
      if (number > this.#most) return;
      const known = this.#table[number]!;
      if (known > 0) order[size++] = known - 1;
      if (number > 0) for (let digit = 0; digit < 10; digit++) visit(10 * number + digit);
    };
    for (let digit = 0; digit < 10; digit++) visit(digit);
    return order;
  }
}

const encoder = new TextEncoder();
