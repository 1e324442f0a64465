export { spawn, spawnSync } from 'node:child_process';
