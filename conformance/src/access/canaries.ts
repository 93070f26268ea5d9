/** Texts that reveal what a caller may not see: generated ones inside every object, and their ids and secrets. */
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

  /** A new, unique text of lower-case letters and digits. @param what describes its place */
  make(what: string, maySee: MaySee): string {
    return this.watch(
      `zq${this.#all.length.toString(36).padStart(3, '0')}${randomBytes(4).toString('hex')}`,
      what,
      maySee,
    );
  }

  /** Watches a text that the cloud created. */
  watch(text: string, what: string, maySee: MaySee): string {
    if (text.length < 10) throw new Error(`canary of ${what}: expected at least 10 characters, found ${text.length}`);
    this.#all.push({ text, what, maySee });
    return text;
  }

  /** The canaries in an answer that the caller may not see. @param sent what the caller sent */
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
