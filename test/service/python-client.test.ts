import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/app/service/token.js';
import { serveTown } from './served.js';

const python = process.env.FUGU_PYTHON ?? 'python3';
const there = spawnSync(python, ['-c', 'import sys; assert sys.version_info >= (3, 9)']).status === 0;

let place: Awaited<ReturnType<typeof serveTown>>;
beforeAll(async () => {
  place = await serveTown();
});
afterAll(() => place.close());

const script = `
import sys, fugu
url, ann = sys.argv[1:]
server = fugu.connect(url + "/", ann)
assert [p["name"] for p in server.policies()] == ["town", "village"], server.policies()
town = server.policy("town", frames="rows")
assert [c["name"] for c in town.describe()["columns"]] == ["party", "age"]
assert town.plan({"kind": "count", "by": ["party"]}, epsilon="1/4")["fits"]
rows = town.release({"kind": "count", "by": ["party"]}, epsilon="1/4", once="a")
assert rows == town.release({"kind": "count", "by": ["party"]}, epsilon="1/4"), rows
assert abs(town.budget()["budget"]["spent"] - 0.25) < 1e-9
assert len(town.ledger()) == 1
assert len(town.ask(sql="SELECT party, COUNT(*) FROM data GROUP BY party", epsilon=0.1).tables) == 1
def refused(code, work):
    try:
        work()
    except fugu.FuguError as error:
        assert error.code == code, error
        return error
    raise AssertionError(code)
assert refused("BUDGET_EXCEEDED", lambda: town.ask({"kind": "count"}, epsilon=9)).outcome == {"state": "not spent"}
refused("COLUMN_UNKNOWN", lambda: town.plan({"kind": "count", "by": ["nothing"]}))
refused("NOT_FOUND", lambda: server.policy("a/../b").describe())
refused("USAGE", lambda: town.plan({"kind": "count"}, nonsense=1))
refused("ACCESS_DENIED", lambda: fugu.connect(url, "fugu_x").policies())
refused("SERVER_UNREACHABLE", lambda: fugu.connect("http://127.0.0.1:1", ann).policies())
print("told")
`;

describe('the Python package', () => {
  it.skipIf(!there)(
    `the Python package speaks to a service${there ? '' : ' (skipped: there is no Python 3.9 or later)'}`,
    async () => {
      const ann = new TokenStore(join(place.folder, 'tokens')).make({ name: 'ann', role: 'analyst', days: 1 }).text;
      const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, '../../python/src'), PYTHONDONTWRITEBYTECODE: '1' };
      const output = await new Promise<string>((done) =>
        execFile(python, ['-c', script, place.serving.url, ann], { env }, (_error, out, err) => done(out + err)),
      );
      expect(output).toBe('told\n');
    },
  );
});
