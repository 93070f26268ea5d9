/** Texts that give away what a caller may not see: made up ones inside every object, and the ids and secrets of them. */
import { randomBytes } from 'node:crypto';
import type { Caller } from './rules.ts';

interface Canary {
  readonly text: string;
  readonly what: string;
  readonly maySee: (caller: Caller) => boolean;
}

export class Canaries {
  readonly #all: Canary[] = [];
  readonly #hidden = new Map<Caller, readonly Canary[]>();

  get count(): number {
    return this.#all.length;
  }

  /** A new text, in lower-case letters and digits, that stands nowhere else. @param what where it is put */
  make(what: string, maySee: (caller: Caller) => boolean): string {
    return this.watch(
      `zq${this.#all.length.toString(36).padStart(3, '0')}${randomBytes(4).toString('hex')}`,
      what,
      maySee,
    );
  }

  /** Watches a text that the cloud made. */
  watch(text: string, what: string, maySee: (caller: Caller) => boolean): string {
    if (text.length < 10) throw new Error(`canary of ${what}: expected at least 10 characters, found ${text.length}`);
    this.#all.push({ text, what, maySee });
    return text;
  }

  /** What in an answer the caller may not see. @param sent what the caller said herself */
  found(caller: Caller, answer: string, sent: string): string[] {
    let hidden = this.#hidden.get(caller);
    if (hidden === undefined) {
      hidden = this.#all.filter(({ maySee }) => !maySee(caller));
      this.#hidden.set(caller, hidden);
    }
    return hidden.filter(({ text }) => answer.includes(text) && !sent.includes(text)).map(({ what }) => what);
  }
}
