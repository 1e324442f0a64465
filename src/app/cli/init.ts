import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { basename } from '../../base/platform/paths.js';
import type { DraftAnswers, DraftedPolicy, Found } from '../api/draft.js';
import { readJson } from '../api/named-text.js';
import { splitNames } from '../api/names.js';
import { bold, warn } from '../report/terminal-text.js';
import { isInteractive, withDialogue } from './dialogue.js';
import { interview } from './interview.js';
import { emit, progressBar, waitingClock } from './output.js';
import { inShell, typed } from './typed.js';

interface InitWords {
  readonly codebook?: string;
  readonly table?: string;
  readonly encoding?: string;
  readonly order?: string;
  readonly columns?: string;
  readonly except?: string;
  readonly dependence?: string;
  readonly groups?: string;
  readonly oddsRatio?: string;
  readonly unit?: string;
  readonly maxRows?: string;
  readonly secret?: string;
  readonly missing?: string;
  readonly out: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function registerInitCommand(program: Command): void {
  program
    .command('init')
    .description(
      'draft a policy for a csv, parquet, duckdb or survey file (.sav, .dta, .xpt, .xlsx); on a terminal it asks what only you know',
    )
    .argument('<data>', 'the data file: who there is')
    .argument('[tables...]', 'files beside it (visits, clinics): drafted as comments, for you to say whose their rows are')
    .option(
      '--codebook <file>',
      'a CSV with the columns name,value,label[,missing], a survey file or a DDI codebook; a survey file is its own',
    )
    .option('--table <name>', 'the table of a duckdb file or of a database, the sheet of a workbook')
    .option('--encoding <name>', 'what a csv file is written in: windows-1252, iso-8859-15, utf-16 … (found out when not said)')
    .option('--order <json>', 'the order of answers, {"column": ["code", …]} or @file: that of a factor or a categorical')
    .option('--columns <names>', 'the columns to ask about: names and patterns (q*), separated by commas')
    .option('--except <names>', 'columns to leave out, in the same form')
    .option(
      '--dependence <none|undecided>',
      '"none": no row says anything about another. Not said, it stays undecided and nothing is released',
    )
    .option('--groups <column>', 'rows with one value of this column know each other (a household)')
    .option(
      '--odds-ratio <ratio>',
      'with --groups, how alike they are: 1 strangers, 81 agree nine times in ten, inf copies (when not said)',
    )
    .option('--unit <column>', 'one person may have several rows: the column that names the person')
    .option('--max-rows <n>', 'with --unit, how many rows of one person are used (as many as one has, when not said)')
    .option(
      '--secret <row>',
      'each row is a secret of its own, also where a column names somebody in several rows (otherwise those are protected together)',
    )
    .option('--missing <codes>', 'the codes that mean "no answer", separated by commas (guessed otherwise)')
    .option('--out <file>', 'where to write the policy', 'policy.yaml')
    .option('--yes', 'ask nothing, also on a terminal')
    .option('--json', 'print one JSON document')
    .action(async (data: string, tables: string[], words: InitWords) => {
      const { draftPolicy } = await import('../api/draft.js');
      const { codebook, table, encoding, order, out } = words;
      const files = {
        out,
        ...(tables.length > 0 && { tables }),
        ...(codebook !== undefined && { codebook }),
        ...(table !== undefined && { table }),
        ...(encoding !== undefined && { encoding }),
        ...(order !== undefined && { order: readJson(order) as Record<string, string[]> }),
      };
      const stop = waitingClock(`reading ${basename(data)}`);
      const given = { ...files, ...answersFrom(words), progress: progressBar('looking at columns') };
      const runInterview = (found: Found, answers: DraftAnswers) => {
        stop();
        return withDialogue((ask) => interview(ask)(found, answers));
      };
      const draft = await draftPolicy(data, {
        ...given,
        ...(isInteractive(words.json) && !words.yes && { interview: runInterview }),
      }).finally(stop);
      emit(words.json, { ...draft, text: undefined }, () => initText(draft, out));
    });
}

function answersFrom({
  columns,
  except,
  dependence,
  groups,
  oddsRatio,
  unit,
  maxRows,
  secret,
  missing,
}: InitWords): DraftAnswers {
  if (dependence !== undefined && dependence !== 'none' && dependence !== 'undecided')
    throw new Fault('USAGE', '--dependence is none or undecided.', 'For households write --groups COLUMN.');
  if (dependence === 'none' && groups !== undefined)
    throw new Fault('USAGE', '--dependence none and --groups contradict each other.', 'Say one of them.');
  if (oddsRatio !== undefined && groups === undefined)
    throw new Fault('USAGE', '--odds-ratio goes with --groups.', 'Write --groups household_id --odds-ratio 52.');
  if (maxRows !== undefined && !/^[1-9]\d{0,5}$/.test(maxRows))
    throw new Fault('USAGE', '--max-rows is a whole number.', 'Write for example --max-rows 5.');
  if (maxRows !== undefined && unit === undefined)
    throw new Fault('USAGE', '--max-rows goes with --unit.', 'Write --unit person_id --max-rows 5.');
  if (secret !== undefined && (secret !== 'row' || unit !== undefined))
    throw new Fault('USAGE', '--secret is row, and goes without --unit.', 'For persons with several rows write --unit COLUMN.');
  return {
    ...(columns !== undefined && { columns: [...splitNames(columns)] }),
    ...(except !== undefined && { except: [...splitNames(except)] }),
    ...(dependence !== undefined && { dependence }),
    ...(groups !== undefined && { dependence: { by: groups, ...(oddsRatio !== undefined && { oddsRatio }) } }),
    ...(unit !== undefined && { person: { unit, ...(maxRows !== undefined && { maxRows: Number(maxRows) }) } }),
    ...(secret !== undefined && { secret: 'row' as const }),
    ...(missing !== undefined && { missing: [...splitNames(missing)] }),
  };
}

function initText(draft: DraftedPolicy, out: string): string {
  const name = inShell(out);
  const wide = Math.max(...['confirm', 'check'].map((word) => `${word} ${name}`.length)) + 3;
  const next = (words: string, what: string) => `  ${typed()} ${words.padEnd(wide)}${what}`.trimEnd();
  return [
    `${bold(out)} declares ${draft.declared} column${draft.declared === 1 ? '' : 's'} and leaves out ${draft.leftOut.length} (ids, groups, timings, free text).`,
    ...draft.doubts.map((doubt) => warn(doubt)),
    ...protectWords(draft),
    ...tableWords(draft, name),
    ...(draft.undecided
      ? [
          warn(
            `Whether records know each other is undecided${foundWords(draft)}: nothing is planned or released before it is said.`,
          ),
          `Say it in ${out} (dependence:), or: ${typed()} confirm ${name} --groups ${inShell(draft.groups[0]?.name ?? 'COLUMN')} (--odds-ratio says how alike they are, copies otherwise), or --dependence none.`,
        ]
      : []),
    'Read it: what is protected, the budget, and whether records know each other are for you to decide.',
    '',
    'Next:',
    ...(draft.declared === 0
      ? [
          `  declare the columns that may be used under columns: in ${out}, or write their values as Fugu reads them: 1234.5, 2024-12-31`,
        ]
      : []),
    ...(draft.unconfirmed.length > 0
      ? [next(`confirm ${name}`, `look at what was read from the data (${draft.unconfirmed.length} columns) and accept it`)]
      : []),
    next(`check ${name}`, 'what is protected from whom, in plain words'),
    next(`check ${name} --private`, ''),
    ...(draft.declared === 0 ? [] : [next(`release ${name} --survey`, '')]),
  ].join('\n');
}

/** Drafted privacy unit of the rows, if the user did not state it. */
function protectWords({ protect: { secret, said: answers, unit, order, maxRows } }: DraftedPolicy): string[] {
  if (secret === 'row' && answers) return ['Each row is a secret of its own, as you said.'];
  if (secret === 'row' || answers) return [];
  const rows = order === undefined ? 'Several rows share one' : `There is a row for each ${order} of one`;
  return [
    warn(`${rows} ${unit}: they are protected together (secret: person), and at most ${maxRows} of them count.`),
    `If each row is a secret of its own, say init --secret row; --unit ${inShell(unit!)} --max-rows N for another number of rows.`,
  ];
}

/** Roles of further files are guessed, and the guesses have no effect. */
function tableWords({ tables = [] }: DraftedPolicy, name: string): string[] {
  if (tables.length === 0) return [];
  const each = tables.map(({ name: table, unit, key }) =>
    unit !== undefined
      ? `${table} (rows of persons that ${unit} names?)`
      : `${table} (known to everybody${key === undefined ? '' : `, found by ${key}`}?)`,
  );
  return [warn(`Beside the data: ${each.join(', ')}. They stand in ${name} as comments: say whose their rows are and how many of one person count, then take the # away.`)]; // biome-ignore format: one line
}

const foundWords = ({ groups }: DraftedPolicy): string =>
  groups.length === 0
    ? ''
    : ` (${groups
        .map(({ name }) => name)
        .slice(0, 3)
        .join(', ')} ${groups.length === 1 ? 'looks' : 'look'} like groups)`;
