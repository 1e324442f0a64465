import { inflateRawSync } from 'node:zlib';
import { expect } from 'vitest';

/** The files of an archive, read from its directory at the end. */
export function unzippedFiles(bytes: Uint8Array): Map<string, string> {
  const all = Buffer.from(bytes);
  const end = all.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const files = new Map<string, string>();
  let at = all.readUInt32LE(end + 16);
  for (let k = 0; k < all.readUInt16LE(end + 10); k++) {
    expect(all.toString('latin1', at, at + 4)).toBe('PK\x01\x02');
    const name = all.toString('utf8', at + 46, at + 46 + all.readUInt16LE(at + 28));
    const local = all.readUInt32LE(at + 42);
    const from = local + 30 + all.readUInt16LE(local + 26) + all.readUInt16LE(local + 28);
    files.set(name, inflateRawSync(all.subarray(from, from + all.readUInt32LE(at + 20))).toString('utf8'));
    at += 46 + all.readUInt16LE(at + 28);
  }
  return files;
}
