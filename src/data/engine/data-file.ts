import { Fault } from '../../base/errors.js';
import { accessSync, type BigIntStats, constants, createReadStream, statSync } from '../../base/platform/files.js';
import { sha256Stream } from '../../base/platform/hash.js';
import { extname } from '../../base/platform/paths.js';
import { isStatFile } from '../statfile/statfile.js';
import { isPacked, unpacked } from './csv/text.js';

/** `statfile`: written by a statistics program or a spreadsheet, and read by ourselves. */
export type FileKind = 'csv' | 'parquet' | 'duckdb' | 'statfile';

/** State of a file as known without reading it. */
export interface FileState {
  readonly path: string;
  readonly kind: FileKind;
  readonly bytes: number;
  /** Same mark, same content, unless someone works against us. */
  readonly mark: string;
  readonly modified: number;
}

const csv = /\.(csv|tsv|txt)(\.gz)?$/i;
export const isCsv = (path: string): boolean => csv.test(path);
const kinds: readonly [RegExp, FileKind][] = [
  [csv, 'csv'],
  [/\.(parquet|pq)$/i, 'parquet'],
  [/\.(duckdb|ddb|db)$/i, 'duckdb'],
];

/** Formats that cannot be read soundly (docs/explanation/decisions/0022-survey-files.md), with advice for conversion. */
const others: readonly [RegExp, string][] = [
  [
    /\.sas7bdat$/i,
    'In SAS write a transport file (PROC COPY with LIBNAME out XPORT "survey.xpt"), or save it as .sav or .dta in a program that opens it.',
  ],
  [/\.(rds|rdata|rda)$/i, 'In R: haven::write_sav(data, "survey.sav"), or write.csv(data, "survey.csv", row.names = FALSE).'],
  [/\.por$/i, 'In SPSS save it as .sav.'],
  [/\.(xls|xlsb|ods)$/i, 'Save it as .xlsx or as CSV.'],
];

const missing = (path: string, message: string, hint: string) =>
  new Fault('DATA_NOT_FOUND', message, hint, { place: { file: path } });

/** Synchronous, because it runs twice per release: without the thread pool it takes microseconds. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

export async function fileState(path: string): Promise<FileState> {
  const kind = isStatFile(path) ? 'statfile' : kinds.find(([ending]) => ending.test(path))?.[1];
  const foreign = others.find(([ending]) => ending.test(path));
  if (foreign) throw missing(path, `Files of this kind (${extname(path)}) are not read.`, foreign[1]);
  if (!kind)
    throw missing(
      path,
      'The kind of the data file is not known.',
      'Its name must end in .csv, .tsv, .txt (each also .gz), .parquet, .duckdb, .sav, .zsav, .dta, .xpt or .xlsx.',
    );
  // The engine would read these as patterns and open several files, or other ones.
  if (/[*?[\]{}]/.test(path)) throw missing(path, 'The path of the data holds one of * ? [ ] { }.', 'Rename the file or folder.');
  const found = statOf(path);
  if (!found)
    throw missing(path, 'The data file does not exist.', 'Check the path; in a policy it is relative to the policy file.');
  if (!found.isFile())
    throw missing(path, 'The data is not a file.', 'Name one csv, parquet, duckdb, sav, dta, xpt or xlsx file.');
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw missing(path, 'The data file cannot be read.', 'Check its permissions.');
  }
  if (found.size === 0n)
    throw new Fault('DATA_MALFORMED', 'The data file is empty.', 'Its first line must name the columns.', {
      place: { file: path },
    });
  const log = kind === 'duckdb' ? statOf(logOf(path)) : undefined;
  return {
    path,
    kind,
    bytes: Number(found.size),
    mark: [path, ...stamp(found), ...(log ? ['log', ...stamp(log)] : [])].join(':'),
    modified: Math.max(Number(found.mtimeMs), Number(log?.mtimeMs ?? 0)),
  };
}
const stamp = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats) => [dev, ino, size, mtimeNs, ctimeNs];
/** Write-ahead log of a DuckDB database: changes not yet merged into its file are part of the data. */
export const logOf = (path: string): string => `${path}.wal`;

export const changedMeanwhile = (): Fault =>
  new Fault('ENGINE_FAILED', 'The data changed while it was being read.', 'Try again when nobody is writing to it.');

const digests = new Map<string, string>();
/** Two writes within one clock tick of the file system can leave the same mark; a file that young is read again. */
const youngest = 2000;

/** SHA-256 of the content; remembered while the file stays untouched. */
export const contentDigest = (file: FileState): Promise<string> => fileDigest(file, false);

/** Digest of the unpacked content: packed twice, the same content has different bytes. */
export const unpackedDigest = (file: FileState): Promise<string> => fileDigest(file, isPacked(file.path));

async function fileDigest(file: FileState, isUnpacked: boolean): Promise<string> {
  const name = `${isUnpacked ? 'unpacked ' : ''}${file.mark}`;
  const known = digests.get(name);
  if (known !== undefined) return known;
  const started = Date.now();
  const hash = sha256Stream();
  try {
    const blocks = isUnpacked ? unpacked(file.path) : createReadStream(file.path, { highWaterMark: 1 << 20 });
    for await (const block of blocks) hash.update(block as Buffer);
    if (file.kind === 'duckdb' && statOf(logOf(file.path))) {
      hash.update('log');
      for await (const block of createReadStream(logOf(file.path))) hash.update(block as Buffer);
    }
  } catch (error) {
    throw error instanceof Fault ? error : missing(file.path, 'The data file cannot be read.', 'Check its permissions.');
  }
  if ((await fileState(file.path)).mark !== file.mark) throw changedMeanwhile();
  const digest = hash.digest('hex');
  if (started - file.modified > youngest) digests.set(name, digest);
  return digest;
}
