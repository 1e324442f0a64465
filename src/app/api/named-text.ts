import { Fault } from '../../base/errors.js';
import { parseJson } from '../../base/input/json.js';
import { type LimitName, within } from '../../base/input/limits.js';
import { readNamedText, unreadableText } from '../../base/input/named-file.js';
import type { YamlKind } from '../../policy/yaml-file.js';

/** JSON from the command line, or from a file as @file.json. */
export function readJson(text: string): unknown {
  const source = text.startsWith('@') ? readText(text.slice(1), 'queryBytes') : text;
  within('queryBytes', source.length);
  try {
    return parseJson(source);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(
      'QUERY_INVALID',
      'The query is not valid JSON.',
      'Write it like {"kind": "count", "by": ["party"]}, or put it in a file and use @file.json.',
    );
  }
}

/** A workload as a file. */
export const workloadFile = {
  name: 'The workload',
  starts: 'A workload starts with tables:, and has lines such as "- { all: 2, of: [age, region] }".',
} as const;

/** YAML file (or JSON, which is YAML); numbers keep their text. */
export async function readYaml(file: string, kind: YamlKind): Promise<unknown> {
  const { parseYaml } = await import('../../policy/yaml-file.js');
  return parseYaml(readText(file, 'policyBytes'), file, kind).value;
}

export const readText = (file: string, limit: LimitName = 'releaseBytes'): string =>
  readNamedText(
    file,
    limit,
    (why) =>
      new Fault(
        'DATA_NOT_FOUND',
        `The file ${file} ${unreadableText[why]}.`,
        'Check the path; it is taken relative to where you run fugu.',
      ),
  );
