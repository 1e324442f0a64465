/** Answers that questionnaires offer everywhere: not free text, however few rows hold one. */
const degree =
  '(?:very|rather|somewhat|strongly|slightly|mostly|fairly|quite|extremely|completely|totally|partly|more|less|much|a little|not|not at all|not very|not too|neither|sehr|eher|stimme|voll|gar nicht|nicht|teils|très|plutôt|pas|pas du tout|muy|algo|poco|nada|molto|abbastanza|per niente)';
const answer =
  "(?:yes|no|y|n|true|false|maybe|perhaps|both|neither|ja|nein|oui|non|s[iíì]|tal vez|да|нет|evet|hayır|tak|nie|ano|ne|igen|nem|male|female|man|woman|men|women|boy|girl|m[äa]nnlich|weiblich|divers|non-?binary|transgender|homme|femme|hombre|mujer|uomo|donna|others?|none|nothing|something else|same|all|any|some|other party|andere[rs]?|keine?[rs]?|sonstige[rs]?|autres?|aucun|otr[oa]s?|ninguno|altr[oi]|nessuno|unknown|unbekannt|inconnu|unsure|not sure|don'?t know|dk|wei(?:ß|ss) nicht|never|rarely|seldom|sometimes|often|usually|always|once|twice|daily|weekly|monthly|yearly|nie|selten|manchmal|oft|immer|jamais|rarement|parfois|souvent|toujours|nunca|a veces|siempre|agree|disagree|approve|disapprove|favou?r|oppose|support|neutral|zu|lehne ab|d'accord|de acuerdo|good|bad|fair|poor|excellent|satisfied|dissatisfied|important|unimportant|likely|unlikely|interested|happy|unhappy|better|worse|low|lower|medium|middle|moderate|high|higher|small|large|short|long|few|many|gut|schlecht|mittel|niedrig|hoch|zufrieden|unzufrieden|wichtig|bon|mauvais|bueno|malo|married|never married|single|divorced|widow(?:ed)?|separated|partnered|cohabiting|ledig|verheiratet|geschieden|verwitwet|getrennt|employed|unemployed|self-?employed|retired|student|homemaker|disabled|full[- ]?time|part[- ]?time|north|south|east|west|northeast|northwest|southeast|southwest|midwest|central|urban|suburban|rural|primary|secondary|tertiary|elementary|middle school|high school|college|university|bachelor'?s?|master'?s?|doctorate|left|right|centre|center|liberal|conservative|white|black|asian|hispanic|latino|native american|first|second|third|fourth|fifth|mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const stock = new RegExp(`^(?:${degree} )*(?:${answer}|${degree})(?: ${answer})?$`, 'iu');

/** "18-24", "65+", "under 5", "10 to 20 years": a bin of numbers. */
const amount = String.raw`[€$£]?\s?\d{1,3}(?:[.,' ]?\d{3})*(?:[.,]\d{1,2})?\s?%?`;
const unit =
  '(?:years?|yrs?|months?|weeks?|days?|hours?|minutes?|times?|children|persons?|people|jahre?n?|ans|años|anni|km|kg|cm|€|\\$|euros?|dollars?)';
const bin = new RegExp(
  `^(?:under|over|below|above|less than|more than|up to|at least|unter|über|bis|ab|moins de|plus de|menos de|más de|[<>≤≥]=?)?\\s?${amount}(?:\\s?(?:-|–|to|bis|à|a|and|und)\\s?${amount})?\\s?(?:\\+|(?:and|or) (?:over|more|older|above|less|younger|under)|und mehr|et plus|y más)?\\s?${unit}?(?: (?:and|or) (?:over|more|older))?$`,
  'iu',
);

/** One or two characters are a code, not free text. */
export const isStockAnswer = (text: string): boolean => /^[\x21-\x7e]{1,2}$/.test(text) || stock.test(text) || isBin(text);
const isBin = (text: string): boolean => bin.test(text) && !/\d{7}/.test(text) && !/^0\d{2}/.test(text);
