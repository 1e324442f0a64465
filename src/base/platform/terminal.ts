export { createInterface } from 'node:readline/promises';
