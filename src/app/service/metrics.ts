/** Counters and times in Prometheus' text format. Labels are names of this program, never text of users. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface Times {
  readonly within: number[];
  sum: number;
  count: number;
}

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #times = new Map<string, Times>();
  readonly #gauges = new Map<string, { readonly help: string; readonly read: () => number }>();

  answered(action: string, status: number, seconds: number): void {
    const key = `action="${action}",status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const times = this.#times.get(action) ?? { within: buckets.map(() => 0), sum: 0, count: 0 };
    this.#times.set(action, times);
    for (const [k, most] of buckets.entries()) if (seconds <= most) times.within[k]!++;
    times.sum += seconds;
    times.count++;
  }

  gauge(name: string, help: string, read: () => number): void {
    this.#gauges.set(name, { help, read });
  }

  text(): string {
    const lines = [
      '# HELP fugu_requests_total Requests that were answered.',
      '# TYPE fugu_requests_total counter',
      ...[...this.#requests].map(([key, n]) => `fugu_requests_total{${key}} ${n}`),
      '# HELP fugu_request_seconds How long they took.',
      '# TYPE fugu_request_seconds histogram',
      ...[...this.#times].flatMap(([action, { within, sum, count }]) => [
        ...buckets.map((most, k) => `fugu_request_seconds_bucket{action="${action}",le="${most}"} ${within[k]}`),
        `fugu_request_seconds_bucket{action="${action}",le="+Inf"} ${count}`,
        `fugu_request_seconds_sum{action="${action}"} ${sum}`,
        `fugu_request_seconds_count{action="${action}"} ${count}`,
      ]),
      ...[...this.#gauges].flatMap(([name, { help, read }]) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} gauge`,
        `${name} ${read()}`,
      ]),
    ];
    return `${lines.join('\n')}\n`;
  }
}
