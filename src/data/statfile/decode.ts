/** Decoder for the encoding of a file. Invalid bytes become U+FFFD: no cell decides if a file can be read. */
export type Decode = (bytes: Buffer) => string;

/** A field that is full may end within a character: that one is left out. */
export const utf8: Decode = (bytes) => {
  const text = bytes.toString('utf8');
  return text.endsWith('\ufffd') ? bytes.toString('utf8', 0, lastWhole(bytes)) : text;
};

/** Bytes of a character that begins with this one, which is no character by itself. */
export function bytesFrom(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}

/** Offset of a last character that may be incomplete; otherwise the length. */
export function lastWhole(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return back < bytesFrom(byte) ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

const latin1: Decode = (bytes) => bytes.toString('latin1');

/** Characters of Windows-1252 where ISO-8859-1 has control characters. Node 20 decodes the former as the latter. */
const upper =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';
/** Default encoding of files that declare none: nearly all of them were written on Windows. */
export const windows: Decode = (bytes) => latin1(bytes).replace(/[\x80-\x9f]/g, (letter) => upper[letter.charCodeAt(0) - 0x80]!);

const plainLabel = (label: string): string => label.trim().toLowerCase().replaceAll('_', '-');
/** As the standard for web pages calls it. */
const encodingName = (label: string): string =>
  plainLabel(label)
    .replace(/^(cp|ms|ibm-?)?(125\d|874)$/, 'windows-$2')
    .replace(/^latin-?([1-9]|10)$/, 'latin$1')
    .replace(/^mac-?roman$/, 'macintosh')
    .replace(/^(cp)932$/, 'shift_jis')
    .replace(/^shift-jis$/, 'shift_jis')
    .replace(/^cp(936)$/, 'gbk');

/** Decoder for the encoding of this name; undefined for an unknown name. */
export function decoderOf(label: string): Decode | undefined {
  const name = plainLabel(label);
  if (/^utf-?8$/.test(name)) return utf8;
  if (/^(iso-?8859-?1|latin-?1)$/.test(name)) return latin1;
  if (/^(windows-?|cp|ms)?1252$/.test(name)) return windows;
  try {
    const decoder = new TextDecoder(encodingName(label), { ignoreBOM: true });
    return (bytes) => decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

export const isUtf8Name = (label: string): boolean => decoderOf(label) === utf8;

/** Reads text piece by piece, where a letter may lie in two pieces. */
export interface TextStream {
  readonly write: (bytes: Buffer) => string;
  readonly end: () => string;
}

/** Stream decoder for the encoding of this name. A byte order mark is not part of the text. */
export function textStream(label: string): TextStream | undefined {
  const whole = decoderOf(label);
  if (whole === latin1 || whole === windows) return { write: whole, end: () => '' };
  if (whole === undefined) return undefined;
  const decoder = new TextDecoder(whole === utf8 ? 'utf-8' : encodingName(label));
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

/** Ends at the first NUL. */
export function untilNul(bytes: Buffer, decode: Decode): string {
  const nul = bytes.indexOf(0);
  return decode(nul < 0 ? bytes : bytes.subarray(0, nul));
}

/** Ends at the first NUL and has no blanks at its end: SPSS and SAS fill their fields with either. */
export function fieldText(bytes: Buffer, decode: Decode): string {
  const nul = bytes.indexOf(0);
  let end = nul < 0 ? bytes.length : nul;
  while (end > 0 && bytes[end - 1] === 0x20) end--;
  return decode(bytes.subarray(0, end));
}
