import { describe } from 'vitest';
import { describeEqual } from '../engine-equal.js';
import { server, Town } from './town.js';
import { Twins } from './twin.js';

describe.skipIf(!server)('a server', () => {
  describeEqual('PostgreSQL', async () => new Twins(await Town.open('equal')));
});
