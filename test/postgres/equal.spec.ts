import { describe } from 'vitest';
import { describeEqual } from '../engine-equal.js';
import { describeViews } from '../engine-views.js';
import { server, Town } from './town.js';
import { twinsIn } from './twin.js';

describe.skipIf(!server)('a server', () => {
  describeEqual('PostgreSQL', async () => twinsIn(await Town.open('equal')));
  describeViews('PostgreSQL', async () => twinsIn(await Town.open('views')));
});
