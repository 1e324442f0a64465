export { Readable, Transform } from 'node:stream';
export { pipeline } from 'node:stream/promises';
