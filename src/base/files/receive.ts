import { Fault } from '../errors.js';
import { createWriteStream } from '../platform/files.js';
import { pipeline, Readable, Transform } from '../platform/streams.js';

/**
 * Writes a stream to a new file that only its owner can read, up to `most` bytes. The caller removes a partial file after a
 * failure.
 */
export async function receive(bytes: ReadableStream<Uint8Array>, file: string, most: number): Promise<void> {
  let size = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > most)
        done(
          new Fault(
            'LIMIT_EXCEEDED',
            'The file is too large.',
            'Put it on the machine of the service, and use "fugu init" there.',
          ),
        );
      else done(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(bytes as never), counted, createWriteStream(file, { mode: 0o600, flags: 'wx' }));
  if (size === 0) throw new Fault('USAGE', 'The file is empty.', 'Send its bytes as the body.');
}
