import { exceeded, type LimitName, limits } from '../../../base/input/limits.js';
import { createInflateRaw } from '../../../base/platform/compression.js';
import { Readable } from '../../../base/platform/streams.js';
import type { Bytes } from '../bytes.js';
import { malformed } from '../malformed.js';

/** One file in a zip archive: where its bytes lie and how they are packed. */
export interface ZipEntry {
  readonly name: string;
  readonly packed: boolean;
  readonly headerAt: number;
  readonly size: number;
}

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const localMark = 0x04034b50;
const mostEntries = 10_000;

export const broken = (bytes: Bytes) =>
  malformed(bytes.path, 'The workbook is not a whole .xlsx file.', 'Save it again as .xlsx, or as CSV.');

/** The files in an archive, by name. */
export function readZip(bytes: Bytes): ReadonlyMap<string, ZipEntry> {
  if (bytes.size >= 4 && bytes.at(0, 4).readUInt32BE() === 0xd0cf11e0)
    throw malformed(
      bytes.path,
      'The workbook is locked with a password, or an old .xls file.',
      'Save it as .xlsx without a password.',
    );
  const tail = bytes.at(Math.max(0, bytes.size - 65_557), Math.min(bytes.size, 65_557));
  let end = tail.length - 22;
  while (end >= 0 && tail.readUInt32LE(end) !== endMark) end--;
  if (end < 0) throw broken(bytes);
  const count = tail.readUInt16LE(end + 10);
  const [length, from] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (count > mostEntries || length > 16 << 20) throw broken(bytes);
  const list = bytes.at(from, length);
  const entries = new Map<string, ZipEntry>();
  for (let at = 0, i = 0; i < count; i++) {
    if (at + 46 > list.length || list.readUInt32LE(at) !== entryMark) throw broken(bytes);
    const [flags, method] = [list.readUInt16LE(at + 8), list.readUInt16LE(at + 10)];
    const size = list.readUInt32LE(at + 20);
    const nameLength = list.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + list.readUInt16LE(at + 30) + list.readUInt16LE(at + 32);
    const name = list.subarray(at + 46, at + 46 + nameLength).toString('utf8');
    if ((flags & 1) !== 0 || (method !== 0 && method !== 8)) throw broken(bytes);
    entries.set(name.replaceAll('\\', '/').replace(/^\//, ''), {
      name,
      packed: method === 8,
      headerAt: list.readUInt32LE(at + 42),
      size,
    });
    at = next;
  }
  return entries;
}

const chunk = 1 << 16;

/** The text of a file in the archive, piece by piece; a piece never ends within a character. No more than the limit is ever unpacked. */
export async function* unzipped(bytes: Bytes, entry: ZipEntry, limit: LimitName): AsyncGenerator<string> {
  const head = bytes.at(entry.headerAt, 30);
  if (head.readUInt32LE() !== localMark) throw broken(bytes);
  const from = entry.headerAt + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  if (from + entry.size > bytes.size) throw broken(bytes);
  const decoder = new TextDecoder('utf-8');
  let total = 0;
  for await (const block of entry.packed ? inflated(bytes, from, entry.size) : pieces(bytes, from, entry.size)) {
    total += block.length;
    if (total > limits[limit].most) throw exceeded(limit, total, { file: bytes.path });
    yield decoder.decode(block, { stream: true });
  }
  yield decoder.decode();
}

function* pieces(bytes: Bytes, from: number, size: number): Generator<Buffer> {
  for (let at = 0; at < size; at += chunk) yield bytes.at(from + at, Math.min(chunk, size - at));
}

async function* inflated(bytes: Bytes, from: number, size: number): AsyncGenerator<Buffer> {
  const source = Readable.from(pieces(bytes, from, size));
  const inflate = createInflateRaw({ chunkSize: chunk });
  source.on('error', (error) => inflate.destroy(error));
  const blocks = source.pipe(inflate)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const next = await blocks.next().catch(() => {
        throw broken(bytes);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    source.destroy();
    inflate.destroy();
  }
}
