/** What a name says a column is, where that alone keeps it out of a table of answers. Names are hints: whoever asks for such a column by name gets it. */
const timing =
  /(^|[_.\s-])(timing|timer|duration|elapsed|latency|clicks?|keystrokes?|paradata)([_.\s-]|\d|$)|timing$|duration$|(^|_)(page|screen|first|last|response|completion)_?(time|click|submit)|_(secs?|seconds|msecs?|ms)$|^(start|end)_?(time|date)$/i;
const identifier =
  /^id$|[_.\s-]id$|^id[_.\s-]|uuid|guid|^case_?id$|^(resp|respondent|person|pers|household|hous|hh|fam|family)_?(id|nr|no)$/i;

export const isTimingName = (name: string): boolean => timing.test(name);
export const isIdName = (name: string): boolean => identifier.test(name);

const group =
  /^home$|home_?id|hous|^hh|_hh|hhid|^fam|famil|serialno|pedigree|ward$|ward_|school|class_?(id|nr|no)$|couple|dwelling|compound|kinship/i;
/** How large a household is, or what it earns, is an answer and no key. */
const aboutGroup =
  /size|inc|income|type|status|rent|number|num_|_num|count|members|persons|adults|children|kids|share|weight|wt/i;

/** People who share a value of such a column are likely to live or learn together. */
export const isGroupName = (name: string): boolean => group.test(name) && !aboutGroup.test(name);
