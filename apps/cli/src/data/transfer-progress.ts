/** The progress of a long transfer: an overwritten line on a terminal, otherwise a line of JSON every 5 s. */
import { systemClock } from '@platform/sdk/cloud';
import type { Context } from '../invocation/context.ts';
import { amount, bytesText } from '../query/amounts.ts';
import { cut } from '../results/text-width.ts';

export interface TransferProgress extends Disposable {
  /** Counts one more received row. */
  add(bytes: number): void;
  /** Such as `1,200 rows, 3.4 MB in 2.1 s`. */
  summary(): string;
}

export interface Done {
  /** Rows received before this run. */
  readonly before: number;
  readonly rows: number;
  readonly bytes: number;
  readonly elapsedMs: number;
  /** The total as counted at the start; more rows may arrive. */
  readonly total: number;
}

const terminalMs = 250;
const linesMs = 5_000;

/** @param shown false if the terminal is used for something else, such as the rows themselves */
export function createTransferProgress(
  { out, progress, invocation: { stderr } }: Pick<Context, 'out' | 'progress' | 'invocation'>,
  { before, total, shown }: { readonly before: number; readonly total: number; readonly shown: boolean },
): TransferProgress {
  const since = systemClock.monotonic();
  let rows = 0;
  let bytes = 0;
  const done = (): Done => ({ before, rows, bytes, elapsedMs: systemClock.monotonic() - since, total });
  const isTerminal = Boolean(stderr.isTTY);
  const say = (): void => {
    if (isTerminal) stderr.write(`\r\u001b[K${cut(`… ${progressText(done())}`, (stderr.columns || 80) - 1)}`);
    else stderr.write(`${JSON.stringify({ progress: progressJson(done()) })}\n`);
  };
  const timer =
    shown && !out.style.quiet ? systemClock.every(isTerminal ? terminalMs : linesMs, say) : { [Symbol.dispose]() {} };
  progress.pause();
  return {
    add(more) {
      rows++;
      bytes += more;
    },
    summary: () => `${amount(rows, 'row')}, ${bytesText(bytes)} in ${seconds(systemClock.monotonic() - since)}`,
    [Symbol.dispose]() {
      timer[Symbol.dispose]();
      if (isTerminal && shown && !out.style.quiet) stderr.write('\r\u001b[K');
      progress.resume();
    },
  };
}

export function progressText(done: Done): string {
  const { before, rows, bytes, total } = done;
  const all = before + rows;
  const perSecond = rateOf(done);
  const share = total > all ? ` of ${total.toLocaleString('en')} (${Math.floor((all / total) * 100)} %)` : '';
  const left = total > all && perSecond > 0 ? ` · ${seconds(((total - all) / perSecond) * 1_000)} left` : '';
  return `${all.toLocaleString('en')}${share} rows · ${bytesText(bytes)} · ${Math.round(perSecond).toLocaleString('en')} rows/s${left}`;
}

function progressJson(done: Done): Record<string, number> {
  return {
    rows: done.before + done.rows,
    total_rows: done.total,
    bytes: done.bytes,
    rows_per_second: Math.round(rateOf(done)),
  };
}

function rateOf({ rows, elapsedMs }: Done): number {
  return elapsedMs <= 0 ? 0 : (rows / elapsedMs) * 1_000;
}

function seconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
