/** Events of a document in order. Names come without their prefix. */
export interface XmlHandler {
  start?(name: string, attribute: (name: string) => string | undefined): void;
  end?(name: string): void;
  text?(text: string): void;
}

/** Malformed XML; the caller converts it to a Fault. */
export class XmlBroken extends Error {}

const longestToken = 4 << 20;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const plain = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{1,8}));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
        if (name !== undefined) return entities[name] ?? whole;
        const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
        return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
      })
    : text;

const bare = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Reads XML piece by piece. It knows no entities but the five and refuses a document that declares any. */
export class XmlReader {
  readonly #handler: XmlHandler;
  #rest = '';
  #depth = 0;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  write(piece: string): void {
    const text = this.#rest + piece;
    let at = 0;
    for (;;) {
      const open = text.indexOf('<', at);
      if (open < 0) break;
      if (open > at) this.#text(plain(text.slice(at, open)));
      at = open;
      const end = this.#endOf(text, open);
      if (end < 0) break;
      this.#token(text, open, end);
      at = end;
    }
    // Text is emitted only when complete: characters after the last tag wait for the next tag.
    this.#rest = text.slice(at);
    if (this.#rest.length > longestToken) throw new XmlBroken();
  }

  end(): void {
    if (this.#depth !== 0 || this.#rest.trim() !== '') throw new XmlBroken();
  }

  #text(text: string): void {
    if (this.#depth > 0) this.#handler.text?.(text);
  }

  /** End of the token that starts at `open`; -1 while it is incomplete. */
  #endOf(text: string, open: number): number {
    const behind = (mark: string) => {
      const at = text.indexOf(mark, open);
      return at < 0 ? -1 : at + mark.length;
    };
    if (text.startsWith('<!--', open)) return behind('-->');
    if (text.startsWith('<![CDATA[', open)) return behind(']]>');
    if (text.startsWith('<?', open)) return behind('?>');
    if (text.length - open < 9 && '<![CDATA['.startsWith(text.slice(open))) return -1;
    if (text.startsWith('<!', open)) throw new XmlBroken();
    for (let at = open + 1; at < text.length; at++) {
      const letter = text.charCodeAt(at);
      if (letter === 0x3e) return at + 1;
      if (letter === 0x22 || letter === 0x27) {
        at = text.indexOf(text[at]!, at + 1);
        if (at < 0) return -1;
      }
    }
    return -1;
  }

  #token(text: string, open: number, end: number): void {
    const next = text.charCodeAt(open + 1);
    if (next === 0x21) {
      if (text.startsWith('<![CDATA[', open)) this.#text(text.slice(open + 9, end - 3));
      return;
    }
    if (next === 0x3f) return;
    if (next === 0x2f) {
      if (--this.#depth < 0) throw new XmlBroken();
      this.#handler.end?.(bare(text.slice(open + 2, end - 1).trim()));
      return;
    }
    const empty = text.charCodeAt(end - 2) === 0x2f;
    const inside = text.slice(open + 1, end - (empty ? 2 : 1));
    const space = inside.search(/\s/);
    const name = bare(space < 0 ? inside : inside.slice(0, space));
    if (name === '') throw new XmlBroken();
    this.#depth++;
    if (this.#depth > 256) throw new XmlBroken();
    this.#handler.start?.(name, (wanted) => attributeOf(space < 0 ? '' : inside.slice(space), wanted));
    if (!empty) return;
    this.#depth--;
    this.#handler.end?.(name);
  }
}

/** A name begins after a blank only: otherwise a name without an end would take quadratic time. */
const attribute = /(?<!\S)([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

function attributeOf(text: string, wanted: string): string | undefined {
  for (const [, name = '', double, single] of text.matchAll(attribute))
    if (bare(name) === wanted || name === wanted) return plain(double ?? single ?? '');
  return undefined;
}
