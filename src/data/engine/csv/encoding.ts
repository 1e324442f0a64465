import { bytesFrom, textStream } from '../../statfile/decode.js';
import { writeText } from './copy.js';
import { unpacked } from './text.js';

/** Encoding assumed for files that declare none: nearly all of them were written on Windows in western Europe. */
const assumedEncoding = 'windows-1252';

/**
 * Most likely encoding of a CSV; undefined for UTF-8. It reads every byte, so one record may decide
 * it: it is used only to draft a policy, and a release uses the encoding that the policy states.
 */
export async function guessEncoding(path: string): Promise<string | undefined> {
  const counts = new LetterCount();
  for await (const block of unpacked(path)) {
    const marked = counts.write(block);
    if (marked !== undefined) return marked;
  }
  // One damaged byte among valid UTF-8 letters is no evidence of another encoding.
  return counts.strange > counts.letters ? assumedEncoding : undefined;
}

/** Counts non-ASCII letters in valid UTF-8, and invalid bytes. */
class LetterCount {
  letters = 0;
  strange = 0;
  #first = true;
  /** Bytes that must follow, and how many followed. */
  #open = 0;
  #held = 0;

  write(block: Buffer): string | undefined {
    if (this.#first && block.length > 1) {
      if (block[0] === 0xff && block[1] === 0xfe) return 'utf-16le';
      if (block[0] === 0xfe && block[1] === 0xff) return 'utf-16be';
    }
    this.#first = false;
    for (const byte of block) {
      if (byte < 0x80 && this.#open === 0) continue;
      this.#step(byte);
    }
    return undefined;
  }

  #step(byte: number): void {
    if (this.#open > 0 && byte >= 0x80 && byte < 0xc0) {
      this.#held++;
      if (--this.#open === 0) this.letters++;
      return;
    }
    if (this.#open > 0) this.strange += 1 + this.#held;
    this.#open = this.#held = 0;
    if (byte < 0x80) return;
    this.#open = byte >= 0xc2 && byte < 0xf5 ? bytesFrom(byte) - 1 : 0;
    if (this.#open === 0) this.strange++;
  }
}

/** Writes a file as UTF-8 to a private file of at most `most` bytes. */
export async function copyDecoded(path: string, to: string, encoding: string, most: number): Promise<void> {
  const decoder = textStream(encoding)!;
  async function* decoded() {
    for await (const block of unpacked(path)) yield decoder.write(block);
    yield decoder.end();
  }
  await writeText(decoded(), to, most);
}
