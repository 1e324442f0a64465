import { crc32, deflateRawSync } from '../../base/platform/compression.js';

/** Files in one archive, in the order given; the same files make the same bytes. */
export function zip(files: readonly (readonly [name: string, text: string])[]): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, text] of files) {
    const path = Buffer.from(name);
    const whole = Buffer.from(text);
    const packed = deflateRawSync(whole);
    // Version 2.0, names in UTF-8, deflated, dated with the first moment of the format.
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(0x0800, 2);
    about.writeUInt16LE(8, 4);
    about.writeUInt16LE(0x0021, 8);
    about.writeUInt32LE(crc32(whole), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(whole.length, 18);
    about.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), about, path, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), Buffer.from([20, 0]), about, place, path]));
    parts.push(local);
    at += local.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listing, end]);
}
