import { dirname, resolve } from 'node:path';
import type { ReadTable } from '../audit/workload.js';
import { readBif } from '../dependence/model/bif.js';
import type { Model } from '../dependence/model/model.js';
import { readModel } from '../dependence/model/model-file.js';
import { networkFormat, networkModel } from '../dependence/model/network.js';
import { readNetworkJson } from '../dependence/model/network-json.js';
import { Fault } from '../errors.js';
import { parseJson } from '../input/json.js';
import { readPackedText, whyNot } from '../input/named-file.js';

/** What a model argument may be, for the help of a command. */
export const modelArgument =
  'a model: records and factors or a chain (JSON), or a Bayesian network (.bif, also .gz, or from fugu learn)';

/** Records and factors or a chain (JSON), or a Bayesian network (.bif, also .gz, or one that was learned). */
export function readModelFile(file: string): Model {
  const text = textOf(file, 'model');
  if (/\.bif(\.gz)?$/i.test(file)) return networkModel(readBif(text, file));
  return text.includes(networkFormat) ? networkModel(readNetworkJson(text, file)) : readModel(text, file);
}

const textOf = (file: string, what: string): string =>
  readPackedText(
    file,
    'modelBytes',
    (why) =>
      new Fault('DATA_NOT_FOUND', `The ${what} file ${whyNot[why]}.`, 'Check the path and its permissions.', { place: { file } }),
  );

/** Tables named in a query are looked up beside the model file. */
export const tableReader =
  (modelFile: string): ReadTable =>
  (file) => {
    const path = resolve(dirname(modelFile), file);
    const text = textOf(path, 'table');
    try {
      return parseJson(text, { file: path });
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault(
        'QUERY_INVALID',
        'The table file is not JSON.',
        'Give a list with one answer per joint state, in C order.',
        { place: { file: path } },
      );
    }
  };
