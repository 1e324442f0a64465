import { describe, expect, it } from 'vitest';
import { brushFor, jsonLines } from './terminal-text.js';
import { visible } from './visible.js';

// Contents of a hostile name: a colour, a cleared screen, a window title, a C1 control, a delete, a bidirectional control,
// invisible characters, an unpaired surrogate.
const tricks = [
  '\u001b[32m',
  '\u001b[2J',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\u007f',
  '\r',
  '\b',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u00ad',
  '\u2028',
  '\u{e0041}',
  '\ud800',
  '\u061c',
  '\uffff',
];
const plain = /^[\x20-\x7e\n]*$/;

describe('text from elsewhere', () => {
  it('text from elsewhere is shown with hostile characters escaped, and has no effect', () => {
    for (const trick of tricks) {
      const shown = visible(`a${trick}b`);
      expect(shown, JSON.stringify(trick)).toMatch(plain);
      expect(shown).toContain('\\u');
    }
    expect(visible('a\nb')).toBe('a\\u000ab');
  });

  it('text in foreign scripts stays unchanged', () => {
    for (const text of ['Zufriedenheit mit der Straße', '満足度', 'الرضا', '± 3 … 5 % ≤', '❤️', '👍🏽', '\u00a0'])
      expect(visible(text)).toBe(text);
  });

  it('escaped JSON is the same document, whatever shows it', () => {
    const document = { name: tricks.join('x'), lines: 'a\nb', nested: [{ 'k\u202e': '\u{e0041}\u009b' }] };
    const text = jsonLines(JSON.stringify(document, null, 2));
    expect(text).toMatch(plain);
    expect(JSON.parse(text)).toEqual(document);
  });
});

describe('our own colours', () => {
  const { paint, shown, width, cell } = brushFor(true);

  it('colours reach the terminal, nested ones too', () => {
    expect(shown(paint('bold', `a ${paint('warn', 'b')}`))).toBe('\u001b[1ma \u001b[33mb\u001b[0m\u001b[0m');
    expect(width(paint('good', 'abc'))).toBe(3);
  });

  it('colour codes from elsewhere are not passed to the terminal', () => {
    for (const trick of tricks)
      for (const text of [paint('good', trick), cell(trick), trick])
        expect(shown(text).replaceAll('\u001b[32m', '').replaceAll('\u001b[0m', ''), JSON.stringify(trick)).toMatch(plain);
    expect(shown('\u001b[32mcertified\u001b[0m')).toBe('\\u001b[32mcertified\\u001b[0m');
    // Marks of another run of this program have no effect in this one.
    expect(shown(brushFor(true).paint('good', 'certified'))).not.toContain('\u001b');
  });

  it('coloured text stays on its line', () => {
    expect(shown(paint('bold', 'name\ncertified: nothing leaks'))).toBe('\u001b[1mname\\u000acertified: nothing leaks\u001b[0m');
    expect(brushFor(false).paint('bold', 'name\ncertified')).toBe('name\\u000acertified');
  });
});
