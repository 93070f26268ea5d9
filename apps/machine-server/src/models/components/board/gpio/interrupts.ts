/** Digital interrupts of a GPIO board: the kernel keeps the edges with their times, and they are fetched every 5 ms. */
import { type Clock, errorText, type Log, notFound } from '@platform/base';
import type { GpioChip, GpioLines } from '../../../../hardware/gpio/chip.ts';
import { flags } from '../../../../hardware/gpio/structs.ts';
import type { Ticks } from '../ticks.ts';

export interface Interrupt {
  readonly name: string;
  readonly pin: string;
  readonly debounceUs: number;
  /** Flags of the line: bias and polarity. */
  readonly extraFlags: number;
}

export interface InterruptsOptions {
  readonly chip: GpioChip;
  readonly interrupts: readonly Interrupt[];
  readonly ticks: Ticks;
  readonly clock: Clock;
  readonly log: Log;
}

const fetchEveryMs = 5;
/** Edges that the kernel keeps for each interrupt; further ones within 5 ms are counted, but not reported individually. */
const keptEdges = 1_024;

/** @throws the error of taking a line. Disposing frees the lines. */
export async function followInterrupts({
  chip,
  interrupts,
  ticks,
  clock,
  log,
}: InterruptsOptions): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const followed: { readonly name: string; readonly lines: GpioLines; sequence: number; isFetching: boolean }[] = [];
  for (const { name, pin, debounceUs, extraFlags } of interrupts) {
    const edges = flags.input | flags.rising | flags.falling | extraFlags;
    const lines = await chip.request([chip.offsetOf(pin)], { flags: edges, debounceUs }, keptEdges);
    starting.use(lines);
    followed.push({ name, lines, sequence: 0, isFetching: false });
  }
  const fetchEdges = async (each: (typeof followed)[number]): Promise<void> => {
    if (each.isFetching) return;
    each.isFetching = true;
    try {
      for (let events = await each.lines.events(); events.length > 0; events = await each.lines.events())
        for (const { isRising, timeNs, sequence } of events) {
          ticks.miss(each.name, sequence - each.sequence - 1);
          each.sequence = sequence;
          ticks.add(each.name, isRising, timeNs);
        }
    } catch (caught) {
      log.error(`digital interrupt ${each.name}: ${errorText(caught)}`);
    } finally {
      each.isFetching = false;
    }
  };
  const timer =
    followed.length === 0
      ? undefined
      : clock.every(fetchEveryMs, () => {
          for (const each of followed) fetches.add(track(fetchEdges(each)));
        });
  const fetches = new Set<Promise<void>>();
  const track = (fetching: Promise<void>): Promise<void> => {
    const tracked = fetching.finally(() => fetches.delete(tracked));
    return tracked;
  };
  const owned = starting.move();
  return {
    async [Symbol.asyncDispose]() {
      timer?.[Symbol.dispose]();
      await Promise.all(fetches);
      await owned.disposeAsync();
    },
  };
}

/** @throws not_found with the existing interrupts */
export function interruptOf(interrupts: readonly Interrupt[], name: string): Interrupt {
  const found = interrupts.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = interrupts.map((each) => each.name).join(', ') || 'none';
  throw notFound(`this board has no digital interrupt ${JSON.stringify(name)}; it has: ${known}`);
}
