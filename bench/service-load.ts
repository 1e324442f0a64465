import { Agent, request } from 'node:http';

/**
 * Analysts in a process of their own, so that they take nothing from the server but processor time.
 * Input is JSON on the command line; the measurements are printed as one JSON document.
 */
interface Asked {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly seconds: number;
  /** Milliseconds between two requests of an analyst; 0 for none. */
  readonly thinks: number;
  /** Of every so many requests one is a release, the others are plans. */
  readonly releaseEvery: number;
  /** Number of the first request; requests are numbered from here so that none is repeated. */
  readonly from?: number;
}
export interface Loaded {
  readonly plans: Times;
  readonly releases: Times;
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses with status 503 and a Retry-After header. */
  readonly turnedAway: number;
  readonly entries: readonly number[];
  readonly seconds: number;
}
export interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

const asked = JSON.parse(process.argv[2]!) as Asked;
const agent = new Agent({ keepAlive: true, maxSockets: 400 });
const pause = (ms: number) => new Promise<void>((go) => setTimeout(go, ms));

interface Answer {
  readonly status: number;
  readonly retryAfter: boolean;
  readonly text: string;
}
const post = (path: string, token: string, body: object): Promise<Answer> =>
  new Promise((done, failed) => {
    const text = JSON.stringify(body);
    const sent = request(
      `${asked.url}${path}`,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        },
      },
      (got) => {
        let all = '';
        got.setEncoding('utf8');
        got.on('data', (piece: string) => {
          all += piece;
        });
        got.on('end', () => done({ status: got.statusCode!, retryAfter: got.headers['retry-after'] !== undefined, text: all }));
      },
    );
    sent.on('error', failed);
    sent.end(text);
  });

const times = { plan: [] as number[], release: [] as number[] };
const statuses = new Map<string, number>();
const entries: number[] = [];
let turnedAway = 0;
let number = asked.from ?? 0;

async function analyst(token: string, k: number, until: number): Promise<void> {
  if (asked.thinks > 0) await pause((k * asked.thinks) / asked.tokens.length);
  for (let n = 1; performance.now() < until; n++) {
    const kind = n % asked.releaseEvery === 0 ? 'release' : 'plan';
    const own = number++;
    const body = {
      question: { kind: 'count', by: ['party'], where: [{ column: 'age', op: '>', value: own % 60 }] },
      epsilon: `1/${20_000 + own}`,
    };
    const began = performance.now();
    const { status, retryAfter, text } = await post(`/v1/policies/policy/${kind}`, token, body);
    times[kind].push(performance.now() - began);
    statuses.set(`${kind} ${status}`, (statuses.get(`${kind} ${status}`) ?? 0) + 1);
    if (status === 503 && retryAfter) turnedAway++;
    if (kind === 'release' && status === 200) entries.push(JSON.parse(text).receipt.ledger.entry);
    if (asked.thinks > 0) await pause(asked.thinks);
    else if (status === 503) await pause(20);
  }
}

const summed = (all: readonly number[]): Times => {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { count: all.length, p50: at(0.5), p99: at(0.99), most: sorted.at(-1) ?? 0 };
};

const began = performance.now();
await Promise.all(asked.tokens.map((token, k) => analyst(token, k, began + 1000 * asked.seconds)));
const loaded: Loaded = {
  plans: summed(times.plan),
  releases: summed(times.release),
  statuses: Object.fromEntries(statuses),
  turnedAway,
  entries,
  seconds: (performance.now() - began) / 1000,
};
process.stdout.write(`${JSON.stringify(loaded)}\n`);
