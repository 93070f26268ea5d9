/** Texts that give away what a caller may not see: made up ones inside every object, and the ids and secrets of them. */
import { randomBytes } from 'node:crypto';
import type { Caller } from './rules.ts';

interface Canary {
  readonly text: string;
  readonly what: string;
  readonly maySee: MaySee;
}

/** @param operation `Service.Method`, or the path of a route */
export type MaySee = (caller: Caller, operation: string) => boolean;

export class Canaries {
  readonly #all: Canary[] = [];
  readonly #hidden = new Map<Caller, Map<string, readonly Canary[]>>();

  get count(): number {
    return this.#all.length;
  }

  /** A new text, in lower-case letters and digits, that stands nowhere else. @param what where it is put */
  make(what: string, maySee: MaySee): string {
    return this.watch(
      `zq${this.#all.length.toString(36).padStart(3, '0')}${randomBytes(4).toString('hex')}`,
      what,
      maySee,
    );
  }

  /** Watches a text that the cloud made. */
  watch(text: string, what: string, maySee: MaySee): string {
    if (text.length < 10) throw new Error(`canary of ${what}: expected at least 10 characters, found ${text.length}`);
    this.#all.push({ text, what, maySee });
    return text;
  }

  /** What in an answer the caller may not see. @param sent what the caller said themselves */
  found(caller: Caller, operation: string, answer: string, sent: string): string[] {
    return this.#hiddenFrom(caller, operation)
      .filter(({ text }) => answer.includes(text) && !sent.includes(text))
      .map(({ what }) => what);
  }

  #hiddenFrom(caller: Caller, operation: string): readonly Canary[] {
    const ofCaller = this.#hidden.get(caller) ?? new Map<string, readonly Canary[]>();
    this.#hidden.set(caller, ofCaller);
    const hidden = ofCaller.get(operation) ?? this.#all.filter(({ maySee }) => !maySee(caller, operation));
    ofCaller.set(operation, hidden);
    return hidden;
  }
}
