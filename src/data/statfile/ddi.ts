import { Fault } from '../../base/errors.js';
import { within } from '../../base/input/limits.js';
import { readNamedText, unreadableText } from '../../base/input/named-file.js';
import { malformed } from './malformed.js';
import type { StatVariable } from './variable.js';
import { XmlBroken, XmlReader } from './xml.js';

/** Elements that hold text; markup inside them belongs to that text. */
const holders: ReadonlySet<string> = new Set(['labl', 'qstnLit', 'catValu']);

/** Variables of a DDI 2 codebook: names, question texts, code labels. The codebook holds no data. */
export function readDdi(file: string): readonly StatVariable[] {
  const text = readNamedText(
    file,
    'codebookBytes',
    (why) => new Fault('DATA_NOT_FOUND', `The codebook ${unreadableText[why]}.`, 'Check its path.', { place: { file } }),
  );
  const variables: StatVariable[] = [];
  let draft: Draft | undefined;
  let category: Category | undefined;
  const path: string[] = [];
  let words = '';
  const inside = () => path.at(-2);
  const reader = new XmlReader({
    start: (name, attribute) => {
      if (!path.some((outer) => holders.has(outer))) words = '';
      path.push(name);
      if (name === 'var') {
        draft = { name: attribute('name') ?? '', kind: 'text', labels: new Map(), missing: [] };
        if (attribute('wgt') !== undefined && attribute('wgt') !== '') draft.weight = true;
      } else if (name === 'varFormat' && draft) draft.kind = attribute('type') === 'numeric' ? 'number' : 'text';
      else if (name === 'catgry') category = { value: '', label: '', missing: attribute('missing') === 'Y' };
      else if (name === 'item' && inside() === 'invalrng' && attribute('VALUE') !== undefined)
        draft?.missing.push(attribute('VALUE')!.trim());
    },
    text: (piece) => {
      words += piece;
    },
    end: (name) => {
      if (path.slice(0, -1).some((outer) => holders.has(outer))) {
        path.pop();
        return;
      }
      const content = words.replace(/\s+/g, ' ').trim();
      if (draft) describe({ draft, category }, name, inside(), content);
      if (draft && name === 'catgry') category = undefined;
      if (draft && name === 'var') {
        variables.push({ ...draft, missing: [...new Set(draft.missing)] });
        within('columns', variables.length, { file });
        within('categories', draft.labels.size, { file });
        draft = undefined;
      }
      words = '';
      path.pop();
    },
  });
  try {
    reader.write(text);
    reader.end();
  } catch (error) {
    throw error instanceof XmlBroken
      ? malformed(file, 'The codebook is not well-formed XML.', 'A DDI codebook is one XML document without a DOCTYPE.')
      : error;
  }
  if (variables.length === 0)
    throw malformed(file, 'The codebook describes no variables.', 'A DDI codebook describes them in dataDscr, one var each.');
  return variables;
}

interface Draft {
  name: string;
  kind: StatVariable['kind'];
  label?: string;
  question?: string;
  labels: Map<string, string>;
  missing: string[];
  weight?: boolean;
}

interface Category {
  value: string;
  label: string;
  readonly missing: boolean;
}

/** Enters the content of an element that ends into the variable, or the category, around it. */
function describe(
  { draft, category }: { readonly draft: Draft; readonly category: Category | undefined },
  name: string,
  outer: string | undefined,
  content: string,
): void {
  if (name === 'labl' && outer === 'var') draft.label ??= content;
  else if (name === 'qstnLit') draft.question = draft.question === undefined ? content : `${draft.question} ${content}`;
  else if (name === 'qstn' && outer === 'var' && draft.question === undefined && content !== '') draft.question = content;
  else if (category && name === 'catValu') category.value = content;
  else if (category && name === 'labl' && outer === 'catgry') category.label ||= content;
  else if (category && name === 'catgry' && category.value !== '') {
    draft.labels.set(category.value, category.label);
    if (category.missing) draft.missing.push(category.value);
  }
}
