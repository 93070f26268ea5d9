/** Arrow keys and Enter in the input of a list from which one chooses: the input keeps the focus. */
import { tick } from 'svelte';

export interface KeyedList {
  /** Of its options. */
  readonly count: number;
  /** Position of the marked option. */
  readonly at: number;
  /** Of the element of an option. */
  idOf(at: number): string;
  move(at: number): void;
  choose(at: number): void;
}

export function listKeys(event: KeyboardEvent, list: KeyedList): void {
  if (event.key === 'Enter') {
    event.preventDefault();
    if (list.at < list.count) list.choose(list.at);
    return;
  }
  const at = movedBy(event.key, list);
  if (at === undefined) return;
  event.preventDefault();
  list.move(at);
  void tick().then(() => document.getElementById(list.idOf(at))?.scrollIntoView({ block: 'nearest' }));
}

/** The next option to mark; after the last comes the first. Undefined: the key does not move. */
export function movedBy(key: string, { at, count }: Pick<KeyedList, 'at' | 'count'>): number | undefined {
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  return step === 0 || count === 0 ? undefined : (at + step + count) % count;
}
