import type { PublishedTable } from './published-table.js';
import { escapeText } from './svg.js';
import { visible } from './visible.js';
import { zip } from './zip.js';

/** Excel workbook: a first sheet with the promise, then one sheet per table. Text is always text: no cell is a formula. */
export function workbook(promise: readonly string[], tables: readonly PublishedTable[]): Uint8Array {
  const sheets = [
    { name: 'Promise', rows: promise.map((line) => [line]), head: 0 },
    ...tables.map((table, k) => {
      const head = [table.question, table.warning].flatMap((line) => (line === undefined ? [] : [[line]]));
      return {
        name: `${k + 1} ${table.name}`,
        rows: [...head, table.fields.map(({ name }) => name), ...table.rows],
        head: head.length + 1,
      };
    }),
  ];
  const numbered = sheets.map((sheet, k) => ({ ...sheet, id: k + 1 }));
  return zip([
    [
      '[Content_Types].xml',
      `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>${numbered
        .map(
          ({ id }) =>
            `<Override PartName="/xl/worksheets/sheet${id}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`,
        )
        .join('')}</Types>`,
    ],
    ['_rels/.rels', relationships([['officeDocument', 'xl/workbook.xml']])],
    [
      'xl/workbook.xml',
      `${declaration}<workbook xmlns="${main}" xmlns:r="${office}/relationships"><sheets>${numbered
        .map(({ id, name }) => `<sheet name="${escapeText(sheetName(name))}" sheetId="${id}" r:id="rId${id}"/>`)
        .join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      relationships([...numbered.map(({ id }) => ['worksheet', `worksheets/sheet${id}.xml`] as const), ['styles', 'styles.xml']]),
    ],
    [
      'xl/styles.xml',
      `${declaration}<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf fontId="1" applyFont="1"/></cellXfs></styleSheet>`,
    ],
    ...numbered.map(({ id, rows, head }) => [`xl/worksheets/sheet${id}.xml`, sheet(rows, head)] as const),
  ]);
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

const relationships = (list: readonly (readonly [kind: string, target: string])[]): string =>
  `${declaration}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list
    .map(([kind, target], k) => `<Relationship Id="rId${k + 1}" Type="${office}/relationships/${kind}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** Sheet name that Excel accepts; the number in front keeps names distinct. */
const sheetName = (name: string): string =>
  visible(name)
    .replace(/[[\]:*?/\\']/g, ' ')
    .slice(0, 31)
    .trim();

function sheet(rows: readonly (readonly (string | number | null)[])[], head: number): string {
  const lines = rows.map(
    (cells, r) => `<row r="${r + 1}">${cells.map((cell, c) => cellOf(cell, `${letters(c)}${r + 1}`, r < head)).join('')}</row>`,
  );
  return `${declaration}<worksheet xmlns="${main}"><sheetData>${lines.join('')}</sheetData></worksheet>`;
}

function cellOf(cell: string | number | null, at: string, bold: boolean): string {
  const style = bold ? ' s="1"' : '';
  if (typeof cell === 'number' && Number.isFinite(cell)) return `<c r="${at}"${style}><v>${cell}</v></c>`;
  if (cell === null || typeof cell === 'number') return '';
  return `<c r="${at}" t="inlineStr"${style}><is><t xml:space="preserve">${escapeText(visible(cell))}</t></is></c>`;
}

const letters = (column: number): string =>
  column < 26 ? String.fromCharCode(65 + column) : letters(Math.floor(column / 26) - 1) + letters(column % 26);
