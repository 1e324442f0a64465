/**
 * Names of paradata columns, which tables of answers leave out by default. Names are only hints: a column requested by name is
 * used.
 */
const timing =
  /(^|[_.\s-])(timing|timer|duration|elapsed|latency|clicks?|keystrokes?|paradata)([_.\s-]|\d|$)|timing$|duration$|(^|_)(page|screen|first|last|response|completion)_?(time|click|submit)|_(secs?|seconds|msecs?|ms)$|^(start|end)_?(time|date)$|timestamp$|(^|_)(recorded|submitted|enroll?ment|interview|completion)_?(date|time)$/i;
const identifier =
  /^id$|[_.\s-]id$|^id[_.\s-]|uuid|guid|^case_?id$|^(resp|respondent|person|pers|household|hous|hh|fam|family)_?(id|nr|no)$/i;

/** Names of columns about the respondent's device and its location, as survey programs record them. */
const device =
  /(^|[_.\s-])(browser|user[_\s]?agent|os[_\s]?version|operating[_\s]?system|resolution|screen[_\s]?(size|width|height)|referr?er|cookie|fingerprint|ip)([_.\s-]|$)|^os$|browser$|user[_\s]?agent|ip[_\s]?address|metadata|meta[_\s]?info|location[_\s]?(lat|lon)/i;

/** Names of columns about the sample design and the interviewer. */
const design =
  /^v?psu(_?id)?$|^(v|sdmv|var_?)?(strat|strata|stratum|stra)(_?id)?$|^sdmvpsu$|^samp_?(code|unit)$|^(cluster|ea|segment)_?(id|nr|no)$|^fpc$|interviewer_?(id|nr|no|code)$|^intv(w)?r?_?id$/i;
export const isDesignName = (name: string): boolean => design.test(name);
/** Names of columns to leave out whatever they hold. */
export const isDeviceName = (name: string): boolean => device.test(name);
export const isTimingName = (name: string): boolean => timing.test(name);
export const isIdName = (name: string): boolean => identifier.test(name);

/** Names of columns with a person's identity or address. */
const personal =
  /^(name|nom|nombre|nome|imi[eę]|im[ię]|ad[ıi]?)$|(^|[_.\s-])(first|last|full|given|family|middle|maiden|nick|user|fore|sur)[_.\s-]?names?$|(^|[_.\s-])(vor|nach|familien|rufe?)name(n)?$|pr[eé]nom|apellidos?|cognome|sobrenome|achternaam|voornaam|f[öo]rnamn|(^|[_.\s-])e[-_]?mail|(^|[_.\s-])(phone|telephone|telefon|mobile|handy|tel|fax|cell(phone)?)([_.\s-]?(no|nr|number))?$|telefon|(^|[_.\s-])(street|stra(ss|ß)e|adresse?|address|hausnummer|rue|calle)([_.\s-]?(1|2|name|line|nr|no))?$|(^|[_.\s-])(zip|zip[_\s]?code|post(al)?[_\s]?code|postleitzahl|plz|code[_\s]?postal|cap|cep)([_.\s-]?\d)?$|(^|[_.\s-])(lat|latitude|lon|lng|long|longitude|breitengrad|l[äa]ngengrad|gps|geo(loc|code|hash|point)?|coord(inate)?s?|easting|northing)([_.\s-]?(lat|lon|lng|x|y|\d))?$|(^|[_.\s-])(iban|bic|konto(nummer)?|account[_\s]?(no|nr|number)|credit[_\s]?card|ssn|social[_\s]?security([_\s]?(no|number))?|passport|national[_\s]?id|tax[_\s]?id|nino|svnr|ahv)$|(^|[_.\s-])(dob|birth[_.\s-]?(date|day)|date[_\s]?of[_\s]?birth|geburts(datum|tag)|date[_\s]?(de[_\s]?)?naissance|fecha[_\s]?(de[_\s]?)?nacimiento)$/i;
export const isPersonalName = (name: string): boolean => personal.test(name);

/** Names of columns with the number of a person in a study. */
const person =
  /(^|[_.\s-])(person|pers|resp(ondent)?|user|u|subject|subj|patient|pat|participant|member|customer|client|student|pupil|proband|panel(ist)?|individual|worker|employee)[_.\s-]?(id|nr|no|num(ber)?|key|code)$|^(uid|pidp|mergeid|idpers|hhidpn|persnr|respondent|subject|patient|participant|proband|panelist)$/i;
export const isPersonIdName = (name: string): boolean => person.test(name);

/** Names of columns with the time of a row, for people with several rows. */
const time =
  /(^|[_.\s-])(wave|welle|vague|ola|onda|year|jahr|ann[ée]e|a[ñn]o|anno|syear|month|monat|mois|mes|week|woche|semaine|semana|day|tag|jour|d[ií]a|date|datum|time|zeit|temps|tiempo|period|periode|quarter|quartal|trimestre|round|runde|visit|visite|occasion|session|step|trial|seq|sequence|epoch|hour|stunde|t)([_.\s-]?(nr|no|id|number|index))?\d*$|^(wave|year|jahr|month|week|day|period|round|visit|time)/i;
export const isTimeName = (name: string): boolean => time.test(name);

const group =
  /^home$|home_?id|^h(id|nr)$|^id_?h|hous|^hh|_hh|hhid|^fam|famil|serialno|pedigree|ward$|ward_|school|class_?(id|nr|no)$|couple|dwelling|compound|kinship|^haushalt|(^|[_.\s-])(m(e\u0301?|é)nage|foyer)([_.\s-]|id|n[ro]|$)|^(schul)?klasse([_.\s-]?(id|nr|no|code))?$/i;
/** Names of columns about a household, such as its size or income: answers, not keys of a group. */
const groupAttribute =
  /size|inc|income|type|status|rent|number|num_|_num|count|members|persons|adults|children|kids|share|weight|wt|gr(ö|o\u0308|oe)(ß|ss)e|einkommen|netto|brutto|typ|anzahl|zahl|mitglieder|kinder|miete|taille|revenu|nombre|loyer|enfants|gewicht|poids/i;

/** People who share a value of such a column are likely to live or learn together. */
export const isGroupName = (name: string): boolean => group.test(name) && !groupAttribute.test(name);

/** Names of groups, and of other things: a class of pupils, and of society. How its values repeat decides. */
const perhapsGroup =
  /(^|[_.\s-])(class(room)?|classe|clase|klasse|team|squad|crew|[ée]quipe|equipo|mannschaft|village|aldea|pueblo|dorf|hamlet|parish|commune|gemeinde|neighbou?rhood|community|course|kurs|lab(or)?|clinic|practice|praxis|station|unit|litter|herd|farm|nest|gruppe|group|groupe|grupo)([_.\s-]?(id|nr|no|num(ber)?|code))?\d?$/i;
export const isPerhapsGroupName = (name: string): boolean => perhapsGroup.test(name) && !groupAttribute.test(name);

/** Labels have words where names have letters. A weight in kilograms is an answer. */
const key = String.raw`[\s_-]*(id|key|code|nr\.?|no\.?|num(ber)?|nummer|identif\w+( number| code)?)$`;
const groupLabel = new RegExp(
  String.raw`(^|\s)(household|family|dwelling|couple|class|classroom|school|haushalts?|familien?|klassen?|schul|m[ée]nage|foyer|hogar)${key}`,
  'i',
);
export const isGroupLabel = (label: string): boolean => groupLabel.test(label.trim());
const designLabel = new RegExp(
  String.raw`(^|\s)(interviewer|primary sampling unit|psu|sampling point|strat(um|a))(${key}|$)`,
  'i',
);
export const isDesignLabel = (label: string): boolean => designLabel.test(label.trim());
const weightLabel =
  /(^|[\s(-])(design|sampl(e|ing)|survey|probability|population|person|individual|household|student|analy(sis|tic(al)?)|final|expansion|calibrat(ed|ion)|stratification|cross-sectional|longitudinal)\s+weights?\b|(design|hochrechnungs|stichproben|personen|haushalts)-?gewicht|gewichtung|hochrechnungsfaktor|pond[ée]ration|ponderaci[óo]n/i;
export const isWeightLabel = (label: string): boolean => weightLabel.test(label);
