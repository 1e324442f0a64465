export { parentPort, Worker } from 'node:worker_threads';
