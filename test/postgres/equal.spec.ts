import { describe } from 'vitest';
import { describeEqual } from '../engine-equal.js';
import { server, Town } from './town.js';
import { twinsIn } from './twin.js';

describe.skipIf(!server)('a server', () => {
  describeEqual('PostgreSQL', async () => twinsIn(await Town.open('equal')));
});
