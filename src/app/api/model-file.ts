import { Fault } from '../../base/errors.js';
import { parseJson } from '../../base/input/json.js';
import { readPackedText, unreadableText } from '../../base/input/named-file.js';
import { dirname, resolve } from '../../base/platform/paths.js';
import type { ReadTable } from '../../evaluate/audit/record-query.js';
import type { GaussianRecords } from '../../evaluate/papers/bayesian-dp/gaussian-file.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { readModel } from '../../privacy/dependence/model/model-file.js';
import { networkFormat, networkModel } from '../../privacy/dependence/model/network.js';

/** Distribution of jointly Gaussian records, if the file has one. */
export async function readGaussianFile(file: string): Promise<GaussianRecords | undefined> {
  const text = textOf(file, 'model');
  if (!/"gaussian"\s*:/.test(text)) return undefined;
  const { readGaussian } = await import('../../evaluate/papers/bayesian-dp/gaussian-file.js');
  try {
    return readGaussian(parseJson(text, { file }), file);
  } catch (error) {
    if (error instanceof Fault) throw error;
    return undefined;
  }
}

/** Model of records and factors or a chain (JSON), or a Bayesian network (.bif, also .gz, or a learned one). */
export async function readModelFile(file: string): Promise<Model> {
  const text = textOf(file, 'model');
  if (/\.bif(\.gz)?$/i.test(file)) {
    const { readBif } = await import('../../privacy/dependence/model/bif.js');
    return networkModel(readBif(text, file));
  }
  if (!text.includes(networkFormat)) return readModel(text, file);
  const { readNetworkJson } = await import('../../privacy/dependence/model/network-json.js');
  return networkModel(readNetworkJson(text, file));
}

/** Any JSON that describes a model. */
export function readModelJson(file: string): unknown {
  const text = textOf(file, 'model');
  try {
    return parseJson(text, { file });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('MODEL_INVALID', 'The model file is not valid JSON.', 'Check it with any JSON tool.', { place: { file } });
  }
}

const textOf = (file: string, what: string): string =>
  readPackedText(
    file,
    'modelBytes',
    (why) =>
      new Fault('DATA_NOT_FOUND', `The ${what} file ${unreadableText[why]}.`, 'Check the path and its permissions.', {
        place: { file },
      }),
  );

/** Reader of tables named in a query, relative to the model file. */
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
