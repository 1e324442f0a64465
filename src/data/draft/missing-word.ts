const word =
  /^(_*na_*|n\/a|n\.a\.|nan|null|\?|\.|-|--|missing|inapplicable|not applicable|refused|refusal|prefer not to (say|answer)|don'?t know|no answer|not asked|skipped|k\.?\s?a\.?|nsp|ns\/nr)$/i;

/** Codebook labels of codes that are no answer. "Don't know" is an answer to many questions, and stays one. */
const labelWord =
  /^(missing|system missing|n\.?\/?a\.?|inap(plicable)?|not applicable|refused|refusal|no answer|no response|not asked|not shown|skipped|web skip)(\s*[:;,(].*)?$/i;
export const labelsMissing = (label: string): boolean => labelWord.test(label.trim());

/** Words that stand where somebody did not answer. */
export const isMissingWord = (text: string): boolean => word.test(text.trim());
