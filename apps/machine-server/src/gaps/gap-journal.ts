/**
 * The gaps that the cloud does not know yet, in `<home>/gaps.jsonl`: a line each time that one began or grew; the last line of an id
 * counts. Torn or damaged lines are ignored. The file is rewritten once most of it is out of date.
 */
import { appendFile } from 'node:fs/promises';
import { type ClockAndLog, jsonIn } from '@platform/base';
import { type GapReason, GapReasonSchema } from '@platform/proto/platform/gaps/v1/gaps';
import { readState } from '../directories/read-state.ts';
import { writeDurably } from '../directories/write-durably.ts';

export interface Gap {
  readonly id: string;
  readonly api: string;
  readonly name: string;
  readonly method: string;
  readonly reason: GapReason;
  readonly startUs: number;
  readonly endUs: number;
  readonly readings: number;
}

/** A captured method of a resource. */
export type GapSeries = Pick<Gap, 'api' | 'name' | 'method'>;

/** The number of outdated lines at which the file is rewritten. */
const mostOutdated = 1_000;

export class GapJournal {
  readonly #path: string;
  readonly #deps: ClockAndLog;
  #lines = Number.POSITIVE_INFINITY;
  /** Whether the file contains a gap. */
  isUsed = false;

  constructor(path: string, deps: ClockAndLog) {
    this.#path = path;
    this.#deps = deps;
  }

  /** The gaps of earlier starts. Never throws. */
  async read(): Promise<Map<string, Gap>> {
    const gaps = new Map<string, Gap>();
    const text = (await readState(this.#path, this.#deps)) ?? '';
    const lines = text.split('\n').filter((line) => line !== '');
    for (const line of lines) {
      const gap = gapOf(line);
      if (gap !== undefined) gaps.set(gap.id, gap);
    }
    // The first change rewrites the file: a torn last line would swallow the next one.
    this.isUsed = lines.length > 0;
    return gaps;
  }

  /** Returns once `changed` would survive a power failure. @param current every gap that the cloud does not know yet */
  async write(changed: readonly Gap[], current: readonly Gap[]): Promise<void> {
    if (current.length === 0 || this.#lines + changed.length > current.length + mostOutdated) {
      await writeDurably(this.#path, current.map(lineOf).join(''));
      this.#lines = current.length;
      this.isUsed = current.length > 0;
      return;
    }
    const lines = this.#lines + changed.length;
    // After a failure, the end of the file is unknown: the next write replaces the file.
    this.#lines = Number.POSITIVE_INFINITY;
    await appendFile(this.#path, changed.map(lineOf).join(''), { mode: 0o600, flush: true });
    this.#lines = lines;
    this.isUsed = true;
  }
}

function lineOf(gap: Gap): string {
  return `${JSON.stringify(gap)}\n`;
}

function gapOf(line: string): Gap | undefined {
  const gap = jsonIn(line) as Gap | null | undefined;
  const texts = [gap?.id, gap?.api, gap?.name, gap?.method];
  const numbers = [gap?.startUs, gap?.endUs, gap?.readings];
  const isWhole =
    texts.every((each) => typeof each === 'string') && numbers.every((each) => Number.isSafeInteger(each));
  return isWhole && gap && GapReasonSchema.value[gap.reason] !== undefined ? gap : undefined;
}
