const word =
  /^(_*na_*|n\/a|n\.a\.|nan|null|\?|\.|-|--|missing|inapplicable|not applicable|refused|refusal|prefer not to (say|answer)|don'?t know|no answer|not asked|skipped|k\.?\s?a\.?|nsp|ns\/nr)$/i;

/** Words that stand where somebody did not answer. */
export const isMissingWord = (text: string): boolean => word.test(text.trim());
