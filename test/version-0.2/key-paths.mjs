/** The names of all fields of a JSON document, those in lists once: tables[].rows[].value. */
export function keyPaths(value, path = '') {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return [...new Set(value.flatMap((v) => keyPaths(v, `${path}[]`)))];
  return Object.entries(value).flatMap(([key, v]) => {
    // Classes of records are named by the data: one name for all of them.
    const name = /^\w+$/.test(key) ? key : '*';
    const own = path === '' ? name : `${path}.${name}`;
    return [own, ...keyPaths(v, own)];
  });
}

/** The kind of a question: its field, or the kind of its query. */
export function kindOf(question) {
  if ('kind' in question) return question.kind;
  return Object.keys(question).find((k) => ['queries', 'sql', 'survey', 'workload', 'synth', 'pattern', 'kmeans', 'classify', 'network', 'spread', 'odds', 'transitions', 'keys', 'stream'].includes(k));
}
