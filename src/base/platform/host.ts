export { availableParallelism, endianness, homedir, hostname, tmpdir, totalmem, userInfo } from 'node:os';
export { getHeapStatistics } from 'node:v8';
