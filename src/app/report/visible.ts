/**
 * Control characters, bidirectional controls and invisible characters: a name, label or path must not manipulate a screen or a
 * page. The emoji selector U+FE0F is kept: it only changes how the character before it looks.
 */
const unseen =
  /(?!\ufe0f)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/gu;

const asCode = (character: string): string =>
  Array.from({ length: character.length }, (_, k) => `\\u${character.charCodeAt(k).toString(16).padStart(4, '0')}`).join('');

/** Text from elsewhere, on one line. */
export const visible = (text: string): string => text.replace(unseen, asCode);

/** Line breaks are excluded in the pattern, not one by one: a long document is mostly lines. */
const unseenInLines = new RegExp(unseen.source.replace('(?!', '(?!\\n|'), unseen.flags);

/** The same with its line breaks. */
export const visibleLines = (text: string): string => text.replace(unseenInLines, asCode);
