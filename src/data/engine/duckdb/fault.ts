import { Fault } from '../../../base/errors.js';
import { malformedLines } from '../csv/form.js';

/**
 * Fault for a driver error. The driver's text is inspected and discarded, because it quotes
 * rows. `file` is set while a file is opened or loaded: input errors then concern that file.
 */
export function duckdbFault(error: unknown, more: { file?: string; late?: boolean } = {}): Fault {
  if (error instanceof Fault) return error;
  const text = error instanceof Error ? error.message : '';
  if (more.late)
    return new Fault('ENGINE_DEADLINE', 'The database did not answer in time.', 'Ask for less at once, or raise the deadline.');
  if (/No space left|max_temp_directory_size|not enough disk space/i.test(text))
    return new Fault(
      'DISK_FULL',
      'The database ran out of space for temporary data.',
      'Free disk space, or raise the memory or spill limit.',
    );
  if (/^Out of Memory/i.test(text) || /bad_alloc|could not allocate|^Failed to append:.* pin block/i.test(text))
    return new Fault(
      'ENGINE_MEMORY',
      'The database ran out of memory.',
      'Raise the memory limit (FUGU_MEMORY), or ask for less at once.',
    );
  if (/Could not set lock|Conflicting lock/i.test(text))
    return new Fault(
      'ENGINE_FAILED',
      'Another program is writing to the database file.',
      'Close it there and try again.',
      place(more.file),
    );
  if (more.file !== undefined) return malformed(text, more.file);
  return new Fault(
    'ENGINE_FAILED',
    'The database could not answer.',
    'Check that the data is still there and readable, then try again.',
  );
}

const place = (file: string | undefined) => (file === undefined ? {} : { place: { file } });

/** Format faults by error pattern. Neither the line nor its content is reported: both would be data of a record. */
const reasons: readonly [RegExp, string, string][] = [
  [/UTF-?8/i, 'A text in the data is not written in UTF-8.', 'Write it again, with text in UTF-8.'],
  [/magic bytes|parquet/i, 'The data is not a Parquet file, or a broken one.', 'Write it again.'],
  [
    /not a valid DuckDB database|Serialization|storage version/i,
    'The data is not a DuckDB database this version can read.',
    'Write it again.',
  ],
];

function malformed(text: string, file: string): Fault {
  if (/CSV/.test(text)) return malformedLines(file);
  const [, message, hint] = reasons.find(([sign]) => sign.test(text)) ?? [
    undefined,
    'The data cannot be read.',
    'Check that the file is whole and of the kind its name says.',
  ];
  return new Fault('DATA_MALFORMED', message, hint, place(file));
}

/** DuckDB reads a CSV by several threads and gives up on some files; one thread can read them. */
export const cannotSplit = (error: unknown): boolean => error instanceof Error && error.message.includes('Parallel CSV Reader');
