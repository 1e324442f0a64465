import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { makeFolder } from '../../base/files/folder.js';
import { receive } from '../../base/files/receive.js';
import { writeNew, writeWhole } from '../../base/files/write-file.js';
import { parseJson } from '../../base/input/json.js';
import { readNamedText } from '../../base/input/named-file.js';
import { existsSync, readdirSync, rmSync, statSync } from '../../base/platform/files.js';
import { join } from '../../base/platform/paths.js';
import { readPolicy } from '../../data/terms/read.js';
import { secretBytes } from '../../privacy/noise/bits.js';
import { budgetElsewhere } from '../../release/session/data-claims.js';
import { confirmPolicy, type UnconfirmedColumn, unconfirmedColumns } from '../api/confirm.js';
import { type DraftedPolicy, draftPolicy, type Found } from '../api/draft.js';
import { draftAnswersFrom, type InterviewAnswers, type InterviewQuestion, interviewQuestions } from './interview.js';
import { notFound, Refusal } from './problem.js';
import type { SentFile } from './route.js';

const words = z.array(z.string().max(500)).max(5000);
export const answersForm = z.strictObject({
  columns: words.optional(),
  person: z.string().max(500).optional(),
  maxRows: z.string().max(10).optional(),
  dependence: z.string().max(500).optional(),
  oddsRatio: z.string().max(40).optional(),
  missing: words.optional(),
  weights: words.optional(),
  budget: z.string().max(60).optional(),
});
const stored = z.strictObject({ id: z.string(), file: z.string(), made: z.string(), answers: answersForm });
type Stored = z.output<typeof stored>;
/** Received file that has not been examined yet. */
export type NewDraft = Stored;

export interface DraftView {
  readonly id: string;
  readonly file: string;
  readonly made: string;
  readonly questions: readonly InterviewQuestion[];
  /** Columns as read from the data, for review. */
  readonly columns: readonly UnconfirmedColumn[];
  readonly leftOut: DraftedPolicy['leftOut'];
  readonly doubts: readonly string[];
  readonly undecided: boolean;
  /** True if its data has the budget of another policy: a second one needs a reason. */
  readonly hasBudget?: true;
  readonly policy: string;
}

/** Largest number of files kept without a policy. */
const mostDrafts = 50;

/**
 * Files sent by stewards, each in a folder that only the service reads, and the answers about them. A confirmed draft becomes a
 * policy next to the first one; its file stays in place.
 */
export class Drafts {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #registry: string;
  constructor(folder: string, mostBytes: number, registry: string) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    this.#registry = registry;
  }

  /** Receives a file only, as slowly as its sender likes; examining it is a separate step. */
  async receive({ name, bytes }: SentFile): Promise<NewDraft> {
    if (this.list().length >= mostDrafts)
      throw new Refusal({
        status: 409,
        code: 'LIMIT_EXCEEDED',
        title: 'There are too many drafts.',
        hint: 'Delete one first: DELETE /v1/drafts/{draft}.',
      });
    if (!bytes) throw new Fault('USAGE', 'No file was sent.', 'Send its bytes as the body.');
    const draft: Stored = { id: secretBytes(12).toString('hex'), file: name, made: new Date().toISOString(), answers: {} };
    const folder = join(this.#folder, draft.id);
    makeFolder(this.#folder, 0o700);
    makeFolder(folder, 0o700);
    try {
      await receive(bytes, join(folder, name), this.#mostBytes);
      return draft;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Removes a received file that has not been examined yet. */
  forget({ id }: NewDraft): void {
    rmSync(join(this.#folder, id), { recursive: true, force: true });
  }

  /** Begins the interview about it. */
  async begin(draft: NewDraft): Promise<DraftView> {
    const view = await this.#view(draft);
    this.#keep(draft);
    return view;
  }

  /** Only one caller at a time changes or confirms a draft, in any process; a claim left by a crash expires. */
  async alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    const claim = join(this.#folder, this.#read(id).id, claimed);
    if (existsSync(claim) && Date.now() - statSync(claim).mtimeMs > claimFor) rmSync(claim, { force: true });
    if (!writeNew(claim, '', { hint: 'The folder of drafts must be writable.', mode: 0o600 }))
      throw new Refusal({
        status: 409,
        code: 'BUSY',
        title: 'Somebody else is at this draft.',
        hint: 'Look at it, or at GET /v1/policies, in a moment.',
      });
    try {
      return await work();
    } finally {
      rmSync(claim, { force: true });
    }
  }

  list(): readonly Omit<Stored, 'answers'>[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder)
      .flatMap((id) => (idForm.test(id) && existsSync(join(this.#folder, id, kept)) ? [this.#read(id)] : []))
      .map(({ answers: _answers, ...draft }) => draft)
      .sort((a, b) => (a.made < b.made ? -1 : 1));
  }

  find(id: string): Promise<DraftView> {
    return this.#view(this.#read(id));
  }

  /** Adds new answers to earlier ones, which they replace. */
  async answer(id: string, answers: InterviewAnswers): Promise<DraftView> {
    const draft = this.#read(id);
    const next = { ...draft, answers: answersForm.parse({ ...draft.answers, ...answers }) };
    const view = await this.#view(next);
    // Examination takes time: a file that meanwhile became a policy, or was removed, is no draft any more.
    return this.alone(id, async () => {
      this.#read(id);
      this.#keep(next);
      return view;
    });
  }

  /** Writes the policy; the caller removes it again if it cannot be served. */
  async confirm(id: string, file: string, columns: 'all' | readonly string[]): Promise<void> {
    const draft = this.#read(id);
    const { undecided } = await this.#draft(draft, file);
    try {
      if (undecided)
        throw new Refusal({
          status: 409,
          code: 'POLICY_UNCONFIRMED',
          title: 'It is not said whether records know each other.',
          hint: 'Answer the question "dependence" first: nothing is released before.',
        });
      await confirmPolicy(file, { columns: columns === 'all' ? 'all' : [...columns] });
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
  }

  /** Removes all records of a draft; the data file of a policy stays. */
  end(id: string, keepFile = false): void {
    const folder = join(this.#folder, this.#read(id).id);
    if (keepFile) for (const name of [kept, looked]) rmSync(join(folder, name), { force: true });
    else rmSync(folder, { recursive: true, force: true });
  }

  async #view(draft: Stored): Promise<DraftView> {
    const file = join(this.#folder, draft.id, looked);
    rmSync(file, { force: true });
    const { found, text, leftOut, doubts, undecided } = await this.#draft(draft, file);
    const { id, file: name, made, answers } = draft;
    const columns = await unconfirmedColumns(file);
    const known = await budgetElsewhere(await readPolicy(file), this.#registry);
    return {
      id,
      file: name,
      made,
      questions: interviewQuestions(found, answers),
      columns,
      leftOut,
      doubts: [...new Set([...doubts, ...known])],
      undecided,
      ...(known.length > 0 && { hasBudget: true as const }),
      policy: text,
    };
  }

  async #draft({ id, file, answers }: Stored, out: string): Promise<DraftedPolicy & { readonly found: Found }> {
    let found: Found | undefined;
    const drafted = await draftPolicy(join(this.#folder, id, file), {
      out,
      interview: (seen) => {
        found = seen;
        return draftAnswersFrom(seen, answers);
      },
    });
    return { ...drafted, found: found! };
  }

  #read(id: string): Stored {
    const file = join(this.#folder, id, kept);
    const none = () => notFound('There is no such draft.', 'GET /v1/drafts lists those there are.');
    if (!idForm.test(id) || !existsSync(file)) throw none();
    const read = stored.safeParse(
      parseJson(
        readNamedText(file, 'policyBytes', () => new Fault('DATA_MALFORMED', 'A draft cannot be read.', 'Send the file again.')),
        {
          file,
        },
      ),
    );
    if (!read.success) throw none();
    return read.data;
  }

  #keep(draft: Stored): void {
    writeWhole(join(this.#folder, draft.id, kept), `${JSON.stringify(draft)}\n`, {
      hint: 'The folder of drafts must be writable.',
      mode: 0o600,
    });
  }
}

const idForm = /^[0-9a-f]{24}$/;
const [kept, looked, claimed] = ['draft.json', 'draft.yaml', 'confirming'];
const claimFor = 600_000;
