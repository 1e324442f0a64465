import { Fault } from '../../../base/errors.js';
import { createGunzip } from '../../../base/platform/compression.js';
import { createReadStream } from '../../../base/platform/files.js';
import { isUtf8 } from '../../../base/platform/values.js';
import { lastWhole } from '../../statfile/decode.js';

export const isPacked = (path: string): boolean => path.toLowerCase().endsWith('.gz');

/** The bytes of a file, unpacked. DuckDB takes a packed file that was cut off for a shorter one; half an answer is worse than none. */
export async function* unpacked(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 1 << 20 });
  if (!isPacked(path)) {
    yield* file as AsyncIterable<Buffer>;
    return;
  }
  try {
    yield* file.pipe(createGunzip({ chunkSize: 1 << 20 })) as AsyncIterable<Buffer>;
  } catch {
    throw new Fault('DATA_MALFORMED', 'The packed data file is cut off or broken.', 'Fetch or pack it again.', {
      place: { file: path },
    });
  } finally {
    file.destroy();
  }
}

/** Incremental check that all bytes so far can be part of UTF-8 text. */
export class TextCheck {
  #rest = Buffer.alloc(0);
  #text = true;

  write(block: Buffer): void {
    if (!this.#text) return;
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, block]) : block;
    const end = lastWhole(bytes);
    this.#text = isUtf8(bytes.subarray(0, end));
    this.#rest = Buffer.from(bytes.subarray(end));
  }

  end(): boolean {
    return this.#text && this.#rest.length === 0;
  }
}
