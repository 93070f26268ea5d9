/**
 * The readings that a crash may have lost: for each captured method, those that were due within a second (longer if the disk was slow)
 * after the last time at which everything had reached the disk, except the recovered ones. For an open file with an unreadable header, all
 * readings since it was opened, or one if it can only contain one.
 */
import { basename, dirname, relative } from 'node:path';
import type { CaptureFileContents } from '@platform/capture-file';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { seriesPath, timeOf } from '../directories/paths.ts';
import type { Crash } from './alive.ts';
import type { GapSeries } from './gap-journal.ts';
import type { Gaps } from './gaps.ts';
import { microsOf, receivedUs } from './lost-readings.ts';

/** The maximum delay of late ticks, if there is more than one (`ticker.ts`). */
const mostLateUs = 20_000;
/** The longest time that a reading may take (`capture.ts`). */
const longestReadingUs = 60_000_000;

/** The most readings that can arrive between two times: those that were due, and those that were late or in progress at the first time. */
function mostReadings(hz: number, us: number): number {
  return Math.ceil((hz * us) / 1e6 + Math.max((hz * mostLateUs) / 1e6, Math.min(1, (hz * longestReadingUs) / 1e6)));
}

export class CrashGaps {
  readonly #crash: Crash | undefined;
  readonly #recovered = new Map<string, number>();
  readonly #unreadable: { readonly series: Crash['series'][number]; readonly openedUs: number }[] = [];

  constructor(crash: Crash | undefined) {
    this.#crash = crash;
  }

  /**
   * Counts the readings of a file that the crash left open.
   *
   * @returns how many are missing that had reached the disk: the file was damaged
   */
  recovered(contents: CaptureFileContents): number {
    const { header, readings, missing } = contents;
    if (this.#crash === undefined) return missing;
    const { safeUs, series } = this.#crash;
    let first = readings.length;
    for (; first > 0; first--) {
      const us = receivedUs(readings[first - 1] ?? new Uint8Array());
      if (us === undefined || us < safeUs) break;
    }
    const { componentType = '', componentName = '', methodName = '' } = header.metadata ?? {};
    const key = keyOf({ api: componentType, name: componentName, method: methodName });
    this.#recovered.set(key, (this.#recovered.get(key) ?? 0) + readings.length - first);
    return missing === 0 ? 0 : missingBefore(contents, first, safeUs, series.find((each) => keyOf(each) === key)?.hz);
  }

  /** Records a file that the crash left open with an unreadable header. @param directory the capture directory that contains it */
  unreadable(path: string, directory: string): void {
    const openedMs = timeOf(basename(path));
    const folder = relative(directory, dirname(path));
    const series = this.#crash?.series.find(({ api, name, method }) => seriesPath(api, name, method) === folder);
    if (series !== undefined && openedMs !== undefined)
      this.#unreadable.push({ series, openedUs: Math.floor(openedMs * 1_000) });
  }

  tell(gaps: Pick<Gaps, 'add'>, nowUs: number): void {
    if (this.#crash === undefined) return;
    for (const { series, openedUs } of this.#unreadable.splice(0)) {
      const { safeUs } = this.#crash;
      // Later readings are in the gap of the crash.
      if (openedUs >= safeUs) continue;
      const most = series.ownFiles === true ? 1 : mostReadings(series.hz, safeUs - openedUs);
      gaps.add(series, GapReason.DAMAGED, most, openedUs, safeUs);
    }
    const { safeUs, untilUs, series } = this.#crash;
    // After a step of the clock into the past, the current time is useless.
    const endUs = nowUs > safeUs ? Math.min(nowUs, untilUs) : untilUs;
    for (const each of series) {
      const readings = Math.max(0, mostReadings(each.hz, endUs - safeUs) - (this.#recovered.get(keyOf(each)) ?? 0));
      this.#recovered.delete(keyOf(each));
      if (readings > 0) gaps.add(each, GapReason.CRASH, readings, safeUs, endUs);
    }
  }
}

/**
 * How many readings are missing from before `safeUs`. Of those between the last reading from before it and the next one, as many as were due.
 *
 * @param first index of the first reading from after it
 */
function missingBefore(
  { header, readings, missing, places = [] }: CaptureFileContents,
  first: number,
  safeUs: number,
  hz: number | undefined,
): number {
  const before = first === 0 ? 0 : (places[first - 1] ?? first) - first;
  const between = (places[first] ?? readings.length + missing + 1) - 1 - first - before;
  const openedUs = microsOf(header.created) ?? safeUs;
  const lastUs = first === 0 ? openedUs : (receivedUs(readings[first - 1] ?? new Uint8Array()) ?? openedUs);
  if (hz === undefined) return before + between;
  const due = Math.ceil(((safeUs - lastUs) * hz) / 1e6) - (first === 0 ? 0 : 1);
  return before + Math.min(between, Math.max(0, due));
}

function keyOf({ api, name, method }: GapSeries): string {
  return `${api}/${name} ${method}`;
}
