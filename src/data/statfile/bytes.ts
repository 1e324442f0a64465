import { Fault } from '../../base/errors.js';
import { openNamed, unreadableText } from '../../base/input/named-file.js';
import { closeSync, readSync } from '../../base/platform/files.js';
import { malformed } from './malformed.js';

/** A file, read at any place, never past its end. */
export class Bytes {
  readonly path: string;
  readonly size: number;
  readonly #handle: number;
  #closed = false;

  constructor(path: string) {
    const { handle, size } = openNamed(
      path,
      (why) =>
        new Fault('DATA_NOT_FOUND', `The survey file ${unreadableText[why]}.`, 'Check its path.', { place: { file: path } }),
    );
    this.path = path;
    this.size = size;
    this.#handle = handle;
  }

  /** A copy of its own of these bytes. */
  at(position: number, length: number): Buffer {
    if (!(position >= 0 && length >= 0 && position + length <= this.size)) throw this.cutOff();
    const block = Buffer.allocUnsafe(length);
    for (let got = 0; got < length; ) {
      const more = this.#read(block, got, position + got);
      if (more === 0) throw this.cutOff();
      got += more;
    }
    return block;
  }

  #read(block: Buffer, from: number, position: number): number {
    try {
      return readSync(this.#handle, block, from, block.length - from, position);
    } catch {
      throw this.cutOff();
    }
  }

  cutOff(): Fault {
    return malformed(this.path, 'The survey file is cut off or broken.', 'Fetch or save it again.');
  }

  close(): void {
    if (!this.#closed) closeSync(this.#handle);
    this.#closed = true;
  }
}

const windowSize = 1 << 18;

/** Reads one thing after the other, in the byte order of the file. */
export class Cursor {
  little = true;
  readonly bytes: Bytes;
  #window: Buffer = Buffer.alloc(0);
  /** File offset at which the window begins. */
  #start = 0;
  position = 0;

  constructor(bytes: Bytes, position = 0) {
    this.bytes = bytes;
    this.position = position;
  }

  get left(): number {
    return this.bytes.size - this.position;
  }

  /** Bytes that stay what they are only until the next call. */
  take(length: number): Buffer {
    if (!(length >= 0 && length <= this.left)) throw this.bytes.cutOff();
    const from = this.position - this.#start;
    if (from < 0 || from + length > this.#window.length) {
      this.#window = this.bytes.at(this.position, Math.min(this.left, Math.max(length, windowSize)));
      this.#start = this.position;
    }
    const at = this.position - this.#start;
    this.position += length;
    return this.#window.subarray(at, at + length);
  }

  skip(length: number): void {
    if (!(length >= 0 && length <= this.left)) throw this.bytes.cutOff();
    this.position += length;
  }

  u8(): number {
    return this.take(1)[0]!;
  }
  u16(): number {
    const b = this.take(2);
    return this.little ? b.readUInt16LE() : b.readUInt16BE();
  }
  i32(): number {
    const b = this.take(4);
    return this.little ? b.readInt32LE() : b.readInt32BE();
  }
  u32(): number {
    return this.i32() >>> 0;
  }
  f64(): number {
    const b = this.take(8);
    return this.little ? b.readDoubleLE() : b.readDoubleBE();
  }
  /** Values beyond 2^53 are no valid offset or count: NaN. */
  u64(): number {
    const b = this.take(8);
    const x = Number(this.little ? b.readBigUInt64LE() : b.readBigUInt64BE());
    return Number.isSafeInteger(x) ? x : Number.NaN;
  }
}
