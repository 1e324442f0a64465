/** What a name says a column is, where that alone keeps it out of a table of answers. Names are hints: whoever asks for such a column by name gets it. */
const timing =
  /(^|[_.\s-])(timing|timer|duration|elapsed|latency|clicks?|keystrokes?|paradata)([_.\s-]|\d|$)|timing$|duration$|(^|_)(page|screen|first|last|response|completion)_?(time|click|submit)|_(secs?|seconds|msecs?|ms)$|^(start|end)_?(time|date)$|timestamp$|(^|_)(recorded|submitted|enroll?ment|interview|completion)_?(date|time)$/i;
const identifier =
  /^id$|[_.\s-]id$|^id[_.\s-]|uuid|guid|^case_?id$|^(resp|respondent|person|pers|household|hous|hh|fam|family)_?(id|nr|no)$/i;

/** What a survey program notes about the machine somebody answered on, and where that machine was. */
const device =
  /(^|[_.\s-])(browser|user[_\s]?agent|os[_\s]?version|operating[_\s]?system|resolution|screen[_\s]?(size|width|height)|referr?er|cookie|fingerprint|ip)([_.\s-]|$)|^os$|browser$|user[_\s]?agent|ip[_\s]?address|metadata|meta[_\s]?info|location[_\s]?(lat|lon)/i;

/** How the sample was drawn and who asked. */
const design =
  /^v?psu(_?id)?$|^(v|sdmv|var_?)?(strat|strata|stratum|stra)(_?id)?$|^sdmvpsu$|^samp_?(code|unit)$|^(cluster|ea|segment)_?(id|nr|no)$|^fpc$|interviewer_?(id|nr|no|code)$|^intv(w)?r?_?id$/i;
export const isDesignName = (name: string): boolean => design.test(name);
/** Left out by name, whatever they hold. */
export const isDeviceName = (name: string): boolean => device.test(name);
export const isTimingName = (name: string): boolean => timing.test(name);
export const isIdName = (name: string): boolean => identifier.test(name);

const group =
  /^home$|home_?id|hous|^hh|_hh|hhid|^fam|famil|serialno|pedigree|ward$|ward_|school|class_?(id|nr|no)$|couple|dwelling|compound|kinship|^haushalt|(^|[_.\s-])(m(e\u0301?|é)nage|foyer)([_.\s-]|id|n[ro]|$)|^(schul)?klasse([_.\s-]?(id|nr|no|code))?$/i;
/** How large a household is, or what it earns, is an answer and no key. */
const aboutGroup =
  /size|inc|income|type|status|rent|number|num_|_num|count|members|persons|adults|children|kids|share|weight|wt|gr(ö|o\u0308|oe)(ß|ss)e|einkommen|netto|brutto|typ|anzahl|zahl|mitglieder|kinder|miete|taille|revenu|nombre|loyer|enfants|gewicht|poids/i;

/** People who share a value of such a column are likely to live or learn together. */
export const isGroupName = (name: string): boolean => group.test(name) && !aboutGroup.test(name);
