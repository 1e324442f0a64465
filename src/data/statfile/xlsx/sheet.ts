import { isoDate, isoDateTime, isoTime } from '../iso-dates.js';
import type { StatCell } from '../variable.js';
import type { XmlHandler } from '../xml.js';
import { filled, type Workbook } from './workbook.js';

/** The last column Excel has. */
const mostColumns = 16_384;
const day = 86_400;
const first1900 = Date.UTC(1899, 11, 31) / 1000;
const first1904 = Date.UTC(1904, 0, 1) / 1000;

/** Handler that emits every sheet row with any content, as cells by column. Rows of only errors and blanks are records too. */
export function sheetHandler(book: Workbook, row: (cells: readonly StatCell[]) => void, broken: () => Error): XmlHandler {
  let cells: StatCell[] = [];
  let column = -1;
  let type = '';
  let style = 0;
  let value = '';
  let taking = false;
  let written = false;
  return {
    start: (name, attribute) => {
      if (name === 'row') {
        cells = [];
        column = -1;
        written = false;
      } else if (name === 'c') {
        const place = attribute('r');
        column = place === undefined ? column + 1 : columnOf(place);
        if (!(column >= 0 && column < mostColumns)) throw broken();
        type = attribute('t') ?? 'n';
        style = Number(attribute('s') ?? 0);
        value = '';
      } else {
        taking = name === 'v' || name === 't';
        written ||= taking;
      }
    },
    text: (piece) => {
      if (taking) value += piece;
    },
    end: (name) => {
      taking = false;
      if (name === 'c') {
        const cell = cellOf(type, style, value, book);
        if (cell === null) return;
        while (cells.length < column) cells.push(null);
        cells[column] = cell;
      } else if (name === 'row' && written) {
        row(cells);
        cells = [];
      }
    },
  };
}

/** B3 is column 1. */
function columnOf(place: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(place)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

const truths: ReadonlyMap<string, StatCell> = new Map([['1', 'TRUE'], ['0', 'FALSE']]); // biome-ignore format: one line

function cellOf(type: string, style: number, value: string, { strings, styles, from1904 }: Workbook): StatCell {
  if (type === 's') return strings[Number(value.trim() || Number.NaN)] ?? null;
  if (type === 'str' || type === 'inlineStr' || type === 'd') return filled(value);
  if (type === 'b') return truths.get(value.trim()) ?? null;
  if (type === 'e' || value.trim() === '') return null;
  const x = Number(value);
  if (!Number.isFinite(x)) return null;
  const shown = styles[style] ?? 'number';
  if (shown === 'number') return x;
  // 1900 had no 29 February, but in a sheet it has.
  const origin1900 = x < 60 ? first1900 : first1900 - day;
  const origin = from1904 ? first1904 : origin1900;
  // To the millisecond: a day is kept as a fraction, which rarely comes out even.
  const moment = Math.round(x * day * 1000) / 1000;
  if (shown === 'time' && x >= 0 && x < 1) return isoTime(moment);
  return Number.isInteger(x) ? isoDate(origin + moment) : isoDateTime(origin + moment);
}
