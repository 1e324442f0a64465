export { basename, delimiter, dirname, extname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
export { fileURLToPath } from 'node:url';
