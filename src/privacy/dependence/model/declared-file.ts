import { Fault } from '../../../base/errors.js';
import { parseJson } from '../../../base/input/json.js';
import { readNamedText, unreadableText } from '../../../base/input/named-file.js';

/** Content of a file that the policy names with its ties: a network, transitions, a precision matrix, a model. */
export const readDeclared = (file: string): string =>
  readNamedText(
    file,
    'modelBytes',
    (why) =>
      new Fault(
        'DATA_NOT_FOUND',
        `A model file named in the policy ${unreadableText[why]}.`,
        'Paths are taken relative to the policy file.',
        { place: { file } },
      ),
  );

export function readDeclaredJson(file: string): unknown {
  try {
    return parseJson(readDeclared(file), { file });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('MODEL_INVALID', 'A model file named in the policy is not valid JSON.', 'Check it with any JSON tool.', {
      place: { file },
    });
  }
}
