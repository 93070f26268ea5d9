/** The range of a page: chosen, or kept from the part that its charts show, which can be undone. */
import { getContext, setContext } from 'svelte';
import type { Span } from './span.ts';
import { rangeOf, rangeText, type TimeRange } from './time-range.ts';

const key = Symbol('range');

export interface PageRange {
  readonly value: TimeRange;
  /** The range before a part was kept; undefined: none was, or another was chosen in the meantime. */
  readonly before: TimeRange | undefined;
  choose(range: TimeRange): void;
  /** A part that charts show becomes the range. */
  keep(part: Span): void;
  /** Back to the range before a part was kept. */
  undo(): void;
}

interface Given {
  /** Of the address; undefined: none. */
  readonly asked: TimeRange | undefined;
  /** If the address has none; may change until another is chosen. */
  readonly byDefault: () => TimeRange;
  /** Is told each range that is chosen, kept or restored. */
  readonly onchange: (range: TimeRange, how: 'chosen' | 'kept') => void;
}

/** Call it while the page is being created; charts in it find the range. */
export function createPageRange({ asked, byDefault, onchange }: Given): PageRange {
  let chosen = $state.raw(asked);
  let before = $state.raw<TimeRange>();
  // As text, so that equal ranges compare as equal.
  const text = $derived(rangeText(chosen ?? byDefault()));
  const value = $derived(rangeOf(text) ?? Number(text));
  const range: PageRange = {
    get value() {
      return value;
    },
    get before() {
      return before;
    },
    choose(next) {
      [chosen, before] = [next, undefined];
      onchange(next, 'chosen');
    },
    keep(part) {
      // Parts of parts: the whole range comes back at once.
      [chosen, before] = [part, before ?? value];
      onchange(part, 'kept');
    },
    undo() {
      if (before === undefined) return;
      [chosen, before] = [before, undefined];
      onchange(value, 'kept');
    },
  };
  setContext(key, range);
  return range;
}

/** The range of the page around a chart; undefined: it has none. Call it while the chart is being created. */
export function usePageRange(): PageRange | undefined {
  return getContext<PageRange | undefined>(key);
}
