import { describe } from 'vitest';
import { describeEqual } from '../engine-equal.js';
import { describeKeys } from '../engine-keys.js';
import { describeViews } from '../engine-views.js';
import { server, Town } from './town.js';
import { twinsIn } from './twin.js';

describe.skipIf(!server)('a server', () => {
  describeEqual('PostgreSQL', async () => twinsIn(await Town.open('equal')));
  describeKeys('PostgreSQL', async () => twinsIn(await Town.open('keys')));
  describeViews('PostgreSQL', async () => twinsIn(await Town.open('views')));
});
