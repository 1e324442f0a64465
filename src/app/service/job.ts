import type { Fault, Outcome } from '../../base/errors.js';
import { jsonText } from '../report/json-text.js';
import { type Problem, problemOf, Refusal } from './problem.js';

export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
export interface JobProgress {
  readonly done: number;
  readonly of: number;
  readonly what: string;
}
export interface JobView {
  readonly job: string;
  readonly policy: string;
  readonly state: JobState;
  readonly progress?: JobProgress;
  /** Budget outcome, as far as it is known. */
  readonly outcome?: Outcome;
  readonly answer?: object;
  readonly problem?: Problem;
}
interface JobEnd {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly answer?: object;
  readonly fault?: Fault;
  readonly outcome?: Outcome;
}

/** Most listeners: each holds a connection while the job runs. */
const mostListeners = 8;

/** One job: its state and its listeners. */
export class Job {
  readonly id: string;
  /** Id of the token that started it. */
  readonly owner: string;
  readonly policy: string;
  #state: JobState = 'waiting';
  #cancelled = false;
  #progress: JobProgress | undefined;
  #outcome: Outcome | undefined;
  #end: JobEnd | undefined;
  #endedAt: number | undefined;
  /** Listeners, each with a check that it is still permitted. */
  readonly #listeners = new Map<ReadableStreamDefaultController<Uint8Array>, () => boolean>();

  constructor(id: string, owner: string, policy: string) {
    this.id = id;
    this.owner = owner;
    this.policy = policy;
  }

  get state(): JobState {
    return this.#state;
  }
  get isOver(): boolean {
    return this.#end !== undefined;
  }
  get isCancelled(): boolean {
    return this.#cancelled;
  }
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  view(): JobView {
    const { answer, fault } = this.#end ?? {};
    const released = answer as { readonly receipt?: { readonly ledger: { readonly entry: number } } } | undefined;
    const recorded: Outcome | undefined = released?.receipt && { state: 'recorded', entry: released.receipt.ledger.entry };
    const outcome = fault?.outcome ?? this.#outcome ?? recorded;
    return {
      job: this.id,
      policy: this.policy,
      state: this.#state,
      ...(this.#progress && { progress: this.#progress }),
      ...(outcome && { outcome }),
      ...(answer && !this.#cancelled && { answer }),
      ...(fault && this.#state === 'failed' && { problem: problemOf(fault, this.id) }),
    };
  }

  begin(): void {
    this.#state = 'running';
    this.progress({ done: 0, of: 1, what: 'planning' });
  }

  progress(progress: JobProgress): void {
    if (this.#end) return;
    this.#progress = progress;
    this.#tell('progress');
  }

  noteOutcome(outcome: Outcome): void {
    this.#outcome = outcome;
    if (outcome.state === 'spent') this.progress({ done: 0, of: 1, what: 'paid for, reading the data' });
  }

  /** A reserved cost stays reserved. */
  cancel(): void {
    if (this.#end) return;
    this.#cancelled = true;
    this.#state = 'cancelled';
    this.#tell('cancelled');
  }

  end(end: JobEnd): void {
    this.#state = end.state;
    this.#end = end;
    this.#endedAt = Date.now();
    if (end.outcome) this.#outcome = end.outcome;
    this.#tell(end.state);
    this.closeListeners();
  }

  /** Server-sent events: the current state, then every change, until the job ends or the listener's permission does. */
  events(mayListen: () => boolean, heartbeat: number): ReadableStream<Uint8Array> {
    if (this.#listeners.size >= mostListeners)
      throw new Refusal({
        status: 429,
        code: 'BUSY',
        title: 'Too many listen to this job already.',
        hint: 'End one of the others, or ask GET /v1/jobs/{job}.',
        wait: 5,
      });
    let beat: NodeJS.Timeout | undefined;
    let own: ReadableStreamDefaultController<Uint8Array>;
    return new ReadableStream<Uint8Array>({
      start: (listener) => {
        own = listener;
        listener.enqueue(this.#event(this.#end ? this.#state : 'progress'));
        if (this.#end) {
          listener.close();
          return;
        }
        this.#listeners.set(listener, mayListen);
        beat = setInterval(() => {
          this.#send(listener, encode(': still here\n\n'));
          if (!this.#listeners.has(listener)) clearInterval(beat);
        }, heartbeat);
        beat.unref();
      },
      cancel: () => {
        clearInterval(beat);
        this.#listeners.delete(own);
      },
    });
  }

  closeListeners(): void {
    for (const listener of this.#listeners.keys()) listener.close();
    this.#listeners.clear();
  }

  #tell(name: string): void {
    for (const listener of [...this.#listeners.keys()]) this.#send(listener, this.#event(name));
  }

  /** A listener without permission receives nothing more. */
  #send(listener: ReadableStreamDefaultController<Uint8Array>, bytes: Uint8Array): void {
    const mayListen = this.#listeners.get(listener);
    if (!mayListen) return;
    if (mayListen()) listener.enqueue(bytes);
    else {
      this.#listeners.delete(listener);
      listener.close();
    }
  }

  /** The answer is left out, since it may be long; it is fetched separately. */
  #event(name: string): Uint8Array {
    const { answer: _answer, ...view } = this.view();
    return encode(`event: ${name}\ndata: ${jsonText(view)}\n\n`);
  }
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
