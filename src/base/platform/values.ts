export { isUtf8 } from 'node:buffer';
export { isDeepStrictEqual } from 'node:util';
