/**
 * Checks whether a document can be stored and loaded, without decoding it. Runs once for each reading before the acknowledgement (I1, D14).
 */
import { describeFault, maxReadingLevels, type StructSink, walkStruct } from '@platform/base';

/** Why the Struct in bytes[start..end) cannot be stored; null: it can. */
export function structProblem(bytes: Uint8Array, start: number, end: number): string | null {
  const fault = walkStruct(bytes, start, end, null, maxReadingLevels);
  if (fault === null) return null;
  return fault === 'broken' ? describeFault(fault, maxReadingLevels) : depthProblem(bytes, start, end);
}

/** Maximum levels counted; unlimited nesting would overflow the stack. */
const countedLevels = 300;
/** Maximum length of the path in the error. */
const pathLength = 100;

function depthProblem(bytes: Uint8Array, start: number, end: number): string {
  const deep = new Deepest();
  const isCounted = walkStruct(bytes, start, end, deep, countedLevels) !== 'too deep';
  const path = deep.path.length <= pathLength ? deep.path : `${deep.path.slice(0, pathLength - 1)}…`;
  // Replaces characters from the sender that some log or table cannot hold.
  const field = `struct${path}`.replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
  const found = isCounted ? `${deep.levels}` : `more than ${countedLevels}`;
  return `${field}: expected documents and lists nested at most ${maxReadingLevels} levels deep, found ${found}`;
}

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });

/** Finds how deeply a document is nested, and where it first exceeds the limit. */
class Deepest implements StructSink {
  levels = 0;
  path = '';
  readonly #steps: string[] = [];
  #step = '';

  key(bytes: Uint8Array, start: number, end: number): boolean {
    this.#step = `.${utf8.decode(bytes.subarray(start, end))}`;
    return true;
  }

  item(index: number): void {
    this.#step = `[${index}]`;
  }

  beginDocument(): void {
    this.#steps.push(this.#step);
    this.levels = Math.max(this.levels, this.#steps.length);
    if (this.path === '' && this.#steps.length > maxReadingLevels) this.path = this.#steps.join('');
  }

  endDocument(): void {
    this.#steps.pop();
  }

  beginList(): void {
    this.beginDocument();
  }

  endList(): void {
    this.#steps.pop();
  }

  nothing(): void {}
  number(): void {}
  boolean(): void {}
  text(): void {}
}
