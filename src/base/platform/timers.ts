export { setTimeout } from 'node:timers/promises';
